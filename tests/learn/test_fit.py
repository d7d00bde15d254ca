import re
from contextlib import contextmanager
from dataclasses import replace

import jax
import numpy as np
import pytest
from learning_cases import SMALL, assert_same_weights, rows_of, untrained, walk, with_translator
from test_metric_losses import slow_metric_loss

from vmg.base.errors import VMGError
from vmg.learn import LearnConfig, fit, load_checkpoint, loop, training
from vmg.learn.models import AgentModel, on_device
from vmg.networks import Translator, encode, load_weights, save_weights, translate
from vmg.networks.weights import flat


def test_same_seed_same_weights_and_other_seed_other_weights():
    first, again, other = (fit(walk(0), SMALL, [seed])[0] for seed in (1, 1, 2))
    assert_same_weights([first], [again])
    assert not np.allclose(first["translator"]["w0"], other["translator"]["w0"])


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
    low_level = Translator(goal_horizon=1, inputs="relative")
    config = replace(SMALL, low_level=low_level, steps=1200, batch_size=32, learning_rate=3e-3)
    fit(walk(0, n_episodes=30), config, validation=walk(1), folder=tmp_path)
    first, last = rows_of(tmp_path)[0], rows_of(tmp_path)[-1]
    for name in ("translator", "validation_translator", "action"):
        assert float(last[name]) < 0.2 * float(first[name]), name
    assert float(last["contrastive"]) < float(first["contrastive"])


def test_validation_losses_equal_a_slow_recomputation(tmp_path):
    held_out = walk(1)
    weights = fit(walk(0), SMALL, [2, 9], validation=held_out, folder=tmp_path)[1]
    keys = jax.random.split(jax.random.key(loop.VALIDATION_SEED), loop.VALIDATION_BATCHES)
    expected, model = [], AgentModel(SMALL)
    for key in keys:
        sample = jax.device_get(model.sample(key, on_device(held_out), model.numbers()))
        o_t, a_t = held_out.observations[sample.row_t], held_out.actions[sample.step]
        losses = slow_metric_loss(weights, o_t, a_t, held_out.observations[sample.row_t + 1], SMALL)
        difference = translate(weights, o_t, held_out.observations[sample.row_goal]) - a_t
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
    losses = ["contrastive", "action", "translator", "attraction", "length", "reconstruction", "repulsion"]
    assert list(rows[0]) == ["step", "seed", *losses, *(f"validation_{name}" for name in losses)]
    assert all(row["validation_action"] == "" != row["action"] for row in rows)
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
    assert ("contrastive" in rows_of(tmp_path)[0]) == config.contrastive
    assert ("reconstruction" in rows_of(tmp_path)[0]) == config.action_decoder


def test_networks_are_the_same_on_numpy_and_jax():
    config = with_translator(SMALL, inputs="relative", encoder_inputs="normalised")
    weights, o = fit(walk(0), config)[0], walk(1).observations
    np.testing.assert_allclose(encode(weights, o), jax.jit(encode)(weights, o), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(
        translate(weights, o, o[::-1].copy()), jax.jit(translate)(weights, o, o[::-1]), rtol=1e-4, atol=1e-5
    )


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
        ("batch_size", 1, r"in \[2, 65536\]"),
        ("steps", 0, "at least 1"),
        ("hidden_units", 2.5, "whole number"),
        ("margin", 0.0, "above 0"),
        ("learning_rate", float("nan"), "above 0"),
        ("contrastive", "yes", "true or false"),
    ],
)
def test_bad_options(option, value, words):
    with pytest.raises(VMGError, match=f"{option} must be .*{words}"):
        LearnConfig(**{option: value})
