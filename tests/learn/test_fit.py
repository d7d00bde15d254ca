import csv
import re
from contextlib import contextmanager
from dataclasses import replace

import jax
import numpy as np
import pytest
from learning_cases import SMALL, assert_same_weights, untrained, walk
from test_metric_losses import slow_metric_loss

from vmg.errors import VMGError
from vmg.learn import LearnConfig, Training, fit, fit_cloning, fit_together, load_checkpoint, loop, training
from vmg.learn.objectives import Cloning, MetricAndTranslator, on_device, typical_differences
from vmg.learn.store import Store
from vmg.networks import clone, encode, flat, load_weights, mlp, save_weights, translate


def rows_of(folder):
    with open(folder / "metrics.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_same_seed_same_weights_and_other_seed_other_weights():
    first, again, other = (fit(walk(0), SMALL, [seed])[0] for seed in (1, 1, 2))
    assert_same_weights([first], [again])
    assert not np.allclose(first["translator"]["w0"], other["translator"]["w0"])


def test_models_side_by_side_equal_the_models_alone():
    together = fit(walk(0), SMALL, [4, 0, 7])
    alone = [fit(walk(0), SMALL, [seed])[0] for seed in (4, 0, 7)]
    assert_same_weights(together, alone, rtol=1e-3, atol=1e-5)


def test_batched_models_as_on_a_gpu_equal_the_models_alone(monkeypatch):
    config = replace(SMALL, learning_rate=0.9e-3)  # its own, so that nothing compiled before is used
    monkeypatch.setattr(loop, "batched", lambda: True)
    together = fit(walk(0), config, [4, 0, 7], validation=walk(1))
    monkeypatch.undo()
    assert_same_weights(together, [fit(walk(0), config, [seed])[0] for seed in (4, 0, 7)], rtol=1e-3, atol=1e-5)


def test_data_sets_side_by_side_end_as_each_alone(tmp_path, monkeypatch):
    config = replace(SMALL, encoder_inputs="normalised", translator_inputs="relative", learning_rate=0.8e-3)
    sets = [walk(0), walk(1, n_episodes=3), walk(2, length=30)]
    seeds = [(0, 1), (0,), (5,)]
    trainings = [
        Training(episodes, mine, validation=walk(9) if i else None, folder=tmp_path / str(i))
        for i, (episodes, mine) in enumerate(zip(sets, seeds, strict=True))
    ]
    alone = [
        fit(each.episodes, config, each.seeds, validation=each.validation, folder=tmp_path / f"alone_{i}")
        for i, each in enumerate(trainings)
    ]
    for batched in (False, True):
        if batched:
            monkeypatch.setattr(loop, "batched", lambda: True)
            jax.clear_caches()
        for models, expected in zip(fit_together(trainings, config, resume=False), alone, strict=True):
            assert_same_weights(models, expected, **{"rtol": 1e-3, "atol": 1e-5} if batched else {})
    jax.clear_caches()
    for i in range(3):
        rows, expected_rows = rows_of(tmp_path / str(i)), rows_of(tmp_path / f"alone_{i}")
        assert [row["step"] for row in rows] == [row["step"] for row in expected_rows]
        assert set(load_checkpoint(tmp_path / str(i) / "checkpoints" / "step_0000000120.safetensors")) == set(seeds[i])


def test_data_sets_at_different_steps_go_on_side_by_side(tmp_path, monkeypatch):
    alone = [fit(walk(seed), SMALL, [seed]) for seed in (0, 1, 2)]
    trainings = [Training(walk(seed), [seed], folder=tmp_path / str(seed)) for seed in (0, 1, 2)]
    fit_together(trainings[:1], SMALL)
    write = Store.write_checkpoint

    def killed(store, step, *rest):
        write(store, step, *rest)
        if step == 80:
            raise KeyboardInterrupt

    monkeypatch.setattr(Store, "write_checkpoint", killed)
    with pytest.raises(KeyboardInterrupt):
        fit_together(trainings[1:2], SMALL)
    monkeypatch.undo()
    for models, expected in zip(fit_together(trainings, SMALL), alone, strict=True):
        assert_same_weights(models, expected)


VARIED = (
    {},
    {"margin": 0.5, "goal_horizon": 3, "translator_decay": 0.5},
    {"margin": 2.0, "goal_horizon": 20, "encoder_inputs": "normalised"},
    {"contrastive": False, "translator_inputs": "normalised"},
    # A margin wider than all distances makes the gradient of L_c 0 but for rounding, and here nothing else pulls.
    {"action_decoder": False, "translator_inputs": "relative", "margin": 0.05},
    {"metric_dimension": 2},
    {"metric_dimension": 7, "margin": 0.7},
)


def test_decay_takes_its_share_off_the_translator_alone():
    one = replace(SMALL, steps=1, checkpoint_every=1, learning_rate=0.6e-3)
    (plain,), (decayed,) = fit(walk(0), one), fit(walk(0), replace(one, translator_decay=2.0))
    initial = untrained(walk(0), one)
    for part in ("state_encoder", "action_encoder", "action_decoder"):
        for name, array in plain[part].items():
            assert (decayed[part][name] == array).all()
    for name, array in plain["translator"].items():
        expected = array - 0.6e-3 * 2.0 * initial["translator"][name]
        np.testing.assert_allclose(decayed["translator"][name], expected, rtol=1e-5, atol=1e-7)


def test_a_translator_with_a_memory_is_the_average_of_the_translators_on_the_way(tmp_path):
    """The plain mean of the first updates, then a mean that forgets; nothing else changes."""
    config = replace(SMALL, steps=12, checkpoint_every=1, learning_rate=0.55e-3)
    (plain,) = fit(walk(0), config, folder=tmp_path)
    (averaged,) = fit(walk(0), replace(config, translator_memory=5))
    steps = [load_checkpoint(path)[0]["translator"] for path in sorted((tmp_path / "checkpoints").glob("step_*"))]
    for name, expected in steps[0].items():
        for count, later in enumerate(steps[1:], start=2):
            expected = expected + max(1 / 5, 1 / count) * (later[name] - expected)
        np.testing.assert_allclose(averaged["translator"][name], expected, rtol=1e-4, atol=1e-6)
    assert_same_weights([plain], [averaged], parts=("state_encoder", "action_encoder", "action_decoder"))


def test_settings_side_by_side_end_as_each_alone(tmp_path, monkeypatch):
    """Margins, horizons, inputs, ablations, dimensions, and data of other sizes: all in one loop where that pays."""
    narrow = replace(walk(1), observations=walk(1).observations[:, :2], actions=walk(1).actions[:, :1])
    sets = [walk(2, length=30), walk(0), narrow]
    configs = [replace(SMALL, learning_rate=0.7e-3, **change) for change in VARIED]
    trainings = [
        Training(sets[i % 3], (i, 9), validation=sets[i % 3] if i > 3 else None, folder=tmp_path / str(i))
        for i in range(len(configs))
    ]
    alone = [
        fit(each.episodes, config, each.seeds, validation=each.validation, folder=tmp_path / f"alone_{i}")
        for i, (each, config) in enumerate(zip(trainings, configs, strict=True))
    ]
    groups, title = [], training._title
    monkeypatch.setattr(training, "_title", lambda group: groups.append(len(group.runs)) or title(group))
    for batched in (False, True):
        if batched:
            monkeypatch.setattr(loop, "batched", lambda: True)
            jax.clear_caches()
        for models, expected in zip(fit_together(trainings, configs, resume=False), alone, strict=True):
            assert_same_weights(models, expected, **{"rtol": 1e-3, "atol": 1e-5} if batched else {})
    jax.clear_caches()
    assert groups[-1] == len(VARIED)
    for i in range(len(configs)):
        rows, expected_rows = rows_of(tmp_path / str(i)), rows_of(tmp_path / f"alone_{i}")
        assert [{name for name in row if row[name]} for row in rows] == [
            {name for name in row if row[name]} for row in expected_rows
        ]
        losses, expected = (
            [float(value) for row in each for value in row.values() if value] for each in (rows, expected_rows)
        )
        np.testing.assert_allclose(losses, expected, rtol=1e-3, atol=1e-5)


def test_a_translator_does_not_depend_on_the_metric_beside_it_nor_the_metric_on_the_translator():
    both = fit(walk(0), replace(SMALL, margin=0.5, goal_horizon=3))[0]
    assert_same_weights(fit(walk(0), replace(SMALL, margin=0.5))[:1], [both], parts=("state_encoder", "encoder_input"))
    assert_same_weights(
        fit(walk(0), replace(SMALL, goal_horizon=3))[:1], [both], parts=("translator", "translator_input")
    )


def test_weights_are_complete_numpy_float32_of_their_own(tmp_path):
    weights = fit(walk(0), SMALL)[0]
    assert set(weights) == {
        "state_encoder", "action_encoder", "action_decoder", "translator", "encoder_input", "translator_input"
    }  # fmt: skip
    for name, array in flat(weights).items():
        assert isinstance(array, np.ndarray)
        assert array.dtype == (np.int32 if name == "translator_input.columns" else np.float32)
    save_weights(tmp_path / "weights.safetensors", weights)
    assert_same_weights([weights], [load_weights(tmp_path / "weights.safetensors")])


def test_losses_fall_where_there_is_something_to_learn(tmp_path):
    config = replace(SMALL, goal_horizon=1, translator_inputs="relative", steps=1200, batch_size=32, learning_rate=3e-3)
    fit(walk(0, n_episodes=30), config, validation=walk(1), folder=tmp_path)
    first, last = rows_of(tmp_path)[0], rows_of(tmp_path)[-1]
    for name in ("translator", "validation_translator", "action"):
        assert float(last[name]) < 0.2 * float(first[name]), name
    assert float(last["contrastive"]) < float(first["contrastive"])


def test_validation_losses_equal_a_slow_recomputation(tmp_path):
    held_out = walk(1)
    weights = fit(walk(0), SMALL, [2, 9], validation=held_out, folder=tmp_path)[1]
    keys = jax.random.split(jax.random.key(loop.VALIDATION_SEED), loop.VALIDATION_BATCHES)
    expected = []
    for key in keys:
        draw = jax.device_get(MetricAndTranslator(SMALL).draw(key, on_device(held_out)))
        o_t, a_t = held_out.observations[draw.row_t], held_out.actions[draw.step]
        losses = slow_metric_loss(weights, o_t, a_t, held_out.observations[draw.row_t + 1], SMALL)
        difference = translate(weights, o_t, held_out.observations[draw.row_tpk]) - a_t
        expected.append([losses["contrastive"], losses["action"], (difference**2).sum(1).mean()])
    last = rows_of(tmp_path)[-1]
    assert last["seed"] == "9"
    written = [float(last[f"validation_{name}"]) for name in ("contrastive", "action", "translator")]
    np.testing.assert_allclose(written, np.mean(expected, axis=0), rtol=1e-4)


def test_metrics_and_checkpoints(tmp_path):
    config = replace(SMALL, steps=100)
    weights = fit(walk(0), config, [5, 1], folder=tmp_path)
    rows = rows_of(tmp_path)
    assert [(row["step"], row["seed"]) for row in rows] == [(s, m) for s in ("40", "80", "100") for m in ("5", "1")]
    assert all(row["validation_action"] == "" for row in rows)
    names = sorted(path.name for path in (tmp_path / "checkpoints").iterdir())
    assert names == [f"step_{step:010d}.safetensors" for step in (40, 80, 100)]
    last = load_checkpoint(tmp_path / "checkpoints" / names[-1])
    assert_same_weights([last[5], last[1]], weights)


def test_tensorboard_holds_what_the_csv_holds(tmp_path):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    fit(walk(0), SMALL, [5], validation=walk(1), folder=tmp_path)
    board = accumulator.EventAccumulator(str(tmp_path / "tensorboard" / "seed_5")).Reload()
    for tag, column in (("training/action", "action"), ("validation/action", "validation_action")):
        drawn = [(event.step, event.value) for event in board.Scalars(tag)]
        np.testing.assert_allclose(drawn, [(int(r["step"]), float(r[column])) for r in rows_of(tmp_path)], rtol=1e-6)


@pytest.mark.parametrize("ablation", [{"contrastive": False}, {"action_decoder": False}, {"margins": "program"}])
def test_options_change_what_is_learned(ablation, tmp_path):
    config = replace(SMALL, steps=20, **ablation)
    initial = untrained(walk(0), config)
    weights = fit(walk(0), config, folder=tmp_path)[0]
    assert not np.allclose(weights["state_encoder"]["w0"], initial["state_encoder"]["w0"])
    decoder_learned = not np.array_equal(weights["action_decoder"]["w0"], initial["action_decoder"]["w0"])
    assert decoder_learned == config.action_decoder
    assert (rows_of(tmp_path)[0]["contrastive"] != "") == config.contrastive
    assert (rows_of(tmp_path)[0]["reconstruction"] != "") == config.action_decoder


def test_networks_are_the_same_on_numpy_and_jax():
    config = replace(SMALL, encoder_inputs="normalised", translator_inputs="relative")
    weights, o = fit(walk(0), config)[0], walk(1).observations
    np.testing.assert_allclose(encode(weights, o), jax.jit(encode)(weights, o), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(
        translate(weights, o, o[::-1].copy()), jax.jit(translate)(weights, o, o[::-1]), rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("inputs", ["raw", "normalised", "relative", "raw relative"])
def test_translator_inputs(inputs):
    episodes = walk(0)
    config = replace(SMALL, translator_inputs=inputs)
    weights = untrained(episodes, config)
    here, there = episodes.observations[:-1], episodes.observations[1:]
    away = (there - here) / np.append(slow_differences(episodes, SMALL.goal_horizon)[:2], 1)
    if "raw" not in inputs:
        spread = np.append(episodes.observations[:, :2].std(0), 1)  # the third reading never changes
        here, there = ((x - episodes.observations.mean(0)) / spread for x in (here, there))
    if "relative" in inputs:
        there = away
    expected = mlp(weights["translator"], np.concatenate([here, there], axis=1))
    actual = translate(weights, episodes.observations[:-1], episodes.observations[1:])
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)


def slow_differences(episodes, horizon):
    """The root mean square of o_{t+k} − o_t over all t and k up to the horizon."""
    found = [
        each.observations[t + k] - each.observations[t]
        for each in episodes
        for t in range(len(each.actions))
        for k in range(1, min(horizon, len(each.actions) - t) + 1)
    ]
    return np.sqrt(np.mean(np.square(np.array(found, np.float64)), axis=0))


@pytest.mark.parametrize("horizon", [1, 3, 50])
def test_typical_differences_equal_a_slow_twin(horizon):
    episodes = walk(3)
    np.testing.assert_allclose(typical_differences(episodes, horizon), slow_differences(episodes, horizon), rtol=1e-5)


def test_normalised_encoder_inputs():
    episodes = walk(0)
    scaling = untrained(episodes, replace(SMALL, encoder_inputs="normalised"))["encoder_input"]
    scaled = (episodes.observations - scaling["mean"]) / scaling["std"]
    np.testing.assert_allclose(scaled.mean(0), 0, atol=1e-5)
    np.testing.assert_allclose(scaled.std(0), [1, 1, 0], atol=1e-5)


def test_progress_says_speed_and_losses(monkeypatch):
    shown = []

    @contextmanager
    def recording(description, total, *, show):
        assert (total, show) == (SMALL.steps, True)
        yield lambda completed, note: shown.append((completed, note))

    monkeypatch.setattr(training, "progress_bar", recording)
    fit(walk(0), SMALL, validation=walk(1), show_progress=True)
    assert [completed for completed, _ in shown] == [40, 80, 120]
    assert re.match(r"[\d,]+ steps/s · contrastive \S+ \(\S+ held out\) · action .* · translator ", shown[-1][1])


@pytest.mark.parametrize("seeds", [[], [1, 1], [-1], [2**32]])
def test_bad_seeds(seeds):
    with pytest.raises(VMGError, match="seed"):
        fit(walk(0), SMALL, seeds)


def test_validation_episodes_of_another_size():
    other = replace(walk(1), actions=walk(1).actions[:, :1])
    with pytest.raises(VMGError, match="action_size is 2 in the one and 1 in the other"):
        fit(walk(0), SMALL, validation=other)


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("margins", "ours", "one of 'paper', 'program', not 'ours'"),
        ("batch_size", 1, "at least 2"),
        ("steps", 0, "at least 1"),
        ("hidden_units", 2.5, "whole number"),
        ("margin", 0.0, "above 0"),
        ("learning_rate", float("nan"), "above 0"),
        ("contrastive", "yes", "True or False"),
    ],
)
def test_bad_options(option, value, words):
    with pytest.raises(VMGError, match=f"{option} must be .*{words}"):
        LearnConfig(**{option: value})


def test_cloning_learns_the_action_and_uses_its_goal():
    episodes = walk(0, n_episodes=40)
    config = replace(SMALL, steps=1500, translator_inputs="relative", hidden_units=32)
    ((plain,),) = fit_cloning([Training(episodes)], config)
    ((aimed,),) = fit_cloning([Training(episodes)], config, goal_columns=(0, 1))
    o_t, a_t = episodes.observations[episodes.step_observation], episodes.actions
    goals = episodes.observations[episodes.step_observation + 1][:, :2]
    blind = np.mean((clone(plain, o_t) - a_t) ** 2)
    informed = np.mean((clone(aimed, o_t, goals) - a_t) ** 2)
    assert informed < 0.8 * blind  # the walk's actions are random: only the goal tells them


def test_cloning_goals_lie_in_the_rest_of_the_episode():
    episodes = walk(0)
    steps = on_device(episodes)
    keys = jax.random.split(jax.random.key(0), 50)
    draws = jax.vmap(lambda key: Cloning(SMALL, (0,)).draw(key, steps))(keys)
    ahead, left = np.asarray(draws.row_tpk - draws.row_t), episodes.steps_left[np.asarray(draws.step)]
    assert ahead.min() == 1
    assert (ahead <= left).all()
    assert (ahead == left).any()


def test_a_translator_that_sees_some_columns_ignores_the_others():
    episodes = walk(0)
    weights = untrained(episodes, replace(SMALL, translator_inputs="relative", translator_columns=(1,)))
    o_t, goals = episodes.observations[:5], episodes.observations[5:10]
    other = o_t + np.array([3.0, 0.0, -2.0], np.float32)
    assert np.array_equal(translate(weights, o_t, goals), translate(weights, other, goals))
    assert not np.allclose(translate(weights, o_t, goals), translate(weights, o_t + np.float32(1), goals))
    with pytest.raises(VMGError, match=r"has the columns 0 to 2, but \[1, 3\] are asked for"):
        fit(episodes, replace(SMALL, translator_columns=(1, 3)))


def test_cloning_sees_the_whole_state_whatever_the_translator_sees():
    episodes = walk(0)
    config = replace(SMALL, translator_columns=(1,))
    ((weights,),) = fit_cloning([Training(episodes)], config, goal_columns=(0,))
    o_t, goals = episodes.observations[:5], episodes.observations[5:10, :1]
    for column in range(3):
        assert not np.allclose(
            clone(weights, o_t, goals), clone(weights, o_t + np.eye(3, dtype=np.float32)[column], goals)
        )
    assert not np.allclose(clone(weights, o_t, goals), clone(weights, o_t, goals + 1))
