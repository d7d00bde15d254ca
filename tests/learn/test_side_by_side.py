"""Models, data sets and settings side by side end as each alone."""

from contextlib import contextmanager
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from learning_cases import SMALL, assert_same_weights, rows_of, walk, with_translator

from vmg.learn import Training, fit, fit_together, load_checkpoint, loop, training
from vmg.learn.store import Store
from vmg.networks import Translator


@cache
def alone(data, seed):
    return fit(walk(data), SMALL, [seed])[0]


@contextmanager
def at_once():
    """Models computed at once, as on a GPU, whatever was compiled before; nothing of it is left behind."""
    compiled = (loop.run_chunk, loop.validation_losses)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "batched", lambda: True)
        for each in compiled:
            each.clear_cache()
        try:
            yield
        finally:
            for each in compiled:
                each.clear_cache()


def test_models_side_by_side_equal_the_models_alone():
    together = fit(walk(0), SMALL, [4, 0, 7])
    assert_same_weights(together, [alone(0, seed) for seed in (4, 0, 7)], rtol=1e-3, atol=1e-5)


def test_data_sets_at_different_steps_go_on_side_by_side(tmp_path, monkeypatch):
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
    for seed, models in enumerate(fit_together(trainings, SMALL)):
        assert_same_weights(models, [alone(seed, seed)])


def test_batched_models_as_on_a_gpu_equal_the_models_alone():
    with at_once():
        together = fit(walk(0), SMALL, [4, 0, 7], validation=walk(1))
    assert_same_weights(together, [alone(0, seed) for seed in (4, 0, 7)], rtol=1e-3, atol=1e-5)


def test_data_sets_side_by_side_end_as_each_alone(tmp_path):
    config = with_translator(SMALL, inputs="relative", encoder_inputs="normalised")
    sets = [walk(0), walk(1, n_episodes=3), walk(2, length=30)]
    seeds = [(0, 1), (0,), (5,)]
    trainings = [
        Training(episodes, mine, validation=walk(9) if i else None, folder=tmp_path / str(i))
        for i, (episodes, mine) in enumerate(zip(sets, seeds, strict=True))
    ]
    each_alone = [
        fit(each.episodes, config, each.seeds, validation=each.validation, folder=tmp_path / f"alone_{i}")
        for i, each in enumerate(trainings)
    ]
    for models, expected in zip(fit_together(trainings, config, resume=False), each_alone, strict=True):
        assert_same_weights(models, expected)
    for i in range(3):
        rows, expected_rows = rows_of(tmp_path / str(i)), rows_of(tmp_path / f"alone_{i}")
        assert [row["step"] for row in rows] == [row["step"] for row in expected_rows]
        assert set(load_checkpoint(tmp_path / str(i) / "checkpoints" / "step_0000000120.safetensors")) == set(seeds[i])


VARIED = (
    {},
    {"margin": 0.5, "low_level": Translator(goal_horizon=3, decay_rate=0.5), "metric_dimension": 7},
    {"margin": 2.0, "low_level": Translator(goal_horizon=20), "encoder_inputs": "normalised"},
    {"contrastive": False, "low_level": Translator(inputs="normalised"), "metric_dimension": 2},
    # A margin wider than all distances makes the gradient of L_c 0 but for rounding, and here nothing else pulls.
    {"action_decoder": False, "low_level": Translator(inputs="relative"), "margin": 0.05},
)


def test_settings_side_by_side_end_as_each_alone(tmp_path, monkeypatch):
    """Margins, horizons, inputs, ablations, dimensions, and data of other sizes: all in one loop where that pays."""
    narrow = replace(walk(1), observations=walk(1).observations[:, :2], actions=walk(1).actions[:, :1])
    sets = [walk(2, length=30), walk(0), narrow]
    configs = [replace(SMALL, **change) for change in VARIED]
    seeds = [(0, 9), (1,), (2, 9), (3,), (4, 9)]
    trainings = [
        Training(sets[i % 3], seeds[i], validation=sets[i % 3] if i > 2 else None, folder=tmp_path / str(i))
        for i in range(len(configs))
    ]
    each_alone = [
        fit(each.episodes, config, each.seeds, validation=each.validation, folder=tmp_path / f"alone_{i}")
        for i, (each, config) in enumerate(zip(trainings, configs, strict=True))
    ]
    groups, title = [], training._title
    monkeypatch.setattr(training, "_title", lambda group: groups.append(len(group.learners)) or title(group))
    for models, expected in zip(fit_together(trainings, configs, resume=False), each_alone, strict=True):
        assert_same_weights(models, expected)
    with at_once():
        together = fit_together(trainings, configs, resume=False)
    for models, expected in zip(together, each_alone, strict=True):
        assert_same_weights(models, expected, rtol=1e-3, atol=1e-5)
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
    configs = [program, program, program, replace(program, metric_dimension=3)]
    trainings = [Training(walk(0), (1,)), Training(narrow, (1,)), Training(walk(2), (3,)), Training(walk(2), (4,))]
    each_alone = [fit(each.episodes, config, each.seeds) for each, config in zip(trainings, configs, strict=True)]
    groups, title = [], training._title
    monkeypatch.setattr(training, "_title", lambda group: groups.append(len(group.learners)) or title(group))
    with at_once():
        together = fit_together(trainings, configs)
    for models, expected in zip(together, each_alone, strict=True):
        assert_same_weights(models, expected, rtol=1e-3, atol=1e-5)
    assert sorted(groups) == [1, 3]
