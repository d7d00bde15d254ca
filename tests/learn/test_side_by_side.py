"""Models, data sets and settings side by side end as each alone."""

from dataclasses import replace

import jax
import numpy as np
import pytest
from learning_cases import SMALL, assert_same_weights, rows_of, walk, with_translator

from vmg.learn import Training, fit, fit_together, load_checkpoint, loop, training
from vmg.learn.store import Store
from vmg.networks import Translator


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
    config = with_translator(SMALL, inputs="relative", encoder_inputs="normalised", learning_rate=0.8e-3)
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
    {"margin": 0.5, "low_level": Translator(goal_horizon=3, decay_rate=0.5)},
    {"margin": 2.0, "low_level": Translator(goal_horizon=20), "encoder_inputs": "normalised"},
    {"contrastive": False, "low_level": Translator(inputs="normalised")},
    # A margin wider than all distances makes the gradient of L_c 0 but for rounding, and here nothing else pulls.
    {"action_decoder": False, "low_level": Translator(inputs="relative"), "margin": 0.05},
    {"metric_dimension": 2},
    {"metric_dimension": 7, "margin": 0.7},
)


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
    monkeypatch.setattr(training, "_title", lambda group: groups.append(len(group.learners)) or title(group))
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


def test_losses_that_know_how_many_numbers_an_action_has_learn_beside_their_own_size_alone(monkeypatch):
    narrow = replace(walk(1), actions=walk(1).actions[:, :1])
    program = replace(SMALL, decoder_output="sampled", action_errors="averaged", low_level=Translator(squashed=True))
    trainings = [Training(walk(0), (1,)), Training(narrow, (1,)), Training(walk(2, length=30), (3,))]
    alone = [fit(each.episodes, program, each.seeds) for each in trainings]
    groups, title = [], training._title
    monkeypatch.setattr(training, "_title", lambda group: groups.append(len(group.learners)) or title(group))
    monkeypatch.setattr(loop, "batched", lambda: True)
    jax.clear_caches()
    for models, expected in zip(fit_together(trainings, program), alone, strict=True):
        assert_same_weights(models, expected, rtol=1e-3, atol=1e-5)
    jax.clear_caches()
    assert sorted(groups) == [1, 2]
