from dataclasses import replace

import numpy as np
import pytest
from learning_cases import SMALL, assert_same_weights, untrained, walk, with_translator

from vmg.base.errors import VMGError
from vmg.learn import fit, load_checkpoint
from vmg.networks import translate
from vmg.networks.lowlevel.translator import typical_differences
from vmg.networks.mlp import mlp


def test_decay_takes_its_share_off_the_translator_alone():
    one = replace(SMALL, steps=1, checkpoint_every=1, learning_rate=0.6e-3)
    (plain,), (decayed,) = fit(walk(0), one), fit(walk(0), with_translator(one, decay_rate=2.0))
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
    (averaged,) = fit(walk(0), with_translator(config, memory=5))
    steps = [load_checkpoint(path)[0]["translator"] for path in sorted((tmp_path / "checkpoints").glob("step_*"))]
    for name, expected in steps[0].items():
        for count, later in enumerate(steps[1:], start=2):
            expected = expected + max(1 / 5, 1 / count) * (later[name] - expected)
        np.testing.assert_allclose(averaged["translator"][name], expected, rtol=1e-4, atol=1e-6)
    assert_same_weights([plain], [averaged], parts=("state_encoder", "action_encoder", "action_decoder"))


@pytest.mark.parametrize("inputs", ["raw", "normalised", "relative", "raw relative"])
def test_translator_inputs(inputs):
    episodes = walk(0)
    config = with_translator(SMALL, inputs=inputs)
    weights = untrained(episodes, config)
    here, there = episodes.observations[:-1], episodes.observations[1:]
    away = (there - here) / np.append(slow_differences(episodes, SMALL.low_level.goal_horizon)[:2], 1)
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


def test_a_translator_that_sees_some_columns_ignores_the_others():
    episodes = walk(0)
    weights = untrained(episodes, with_translator(SMALL, inputs="relative", columns=(1,)))
    o_t, goals = episodes.observations[:5], episodes.observations[5:10]
    other = o_t + np.array([3.0, 0.0, -2.0], np.float32)
    assert np.array_equal(translate(weights, o_t, goals), translate(weights, other, goals))
    assert not np.allclose(translate(weights, o_t, goals), translate(weights, o_t + np.float32(1), goals))
    with pytest.raises(VMGError, match=r"has the columns 0 to 2, but \[1, 3\] are asked for"):
        fit(episodes, with_translator(SMALL, columns=(1, 3)))


def test_a_translator_does_not_depend_on_the_metric_beside_it_nor_the_metric_on_the_translator():
    both = fit(walk(0), with_translator(SMALL, goal_horizon=3, margin=0.5))[0]
    assert_same_weights(fit(walk(0), replace(SMALL, margin=0.5))[:1], [both], parts=("state_encoder", "encoder_input"))
    assert_same_weights(
        fit(walk(0), with_translator(SMALL, goal_horizon=3))[:1], [both], parts=("translator", "translator_input")
    )
