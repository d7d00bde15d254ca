"""A translator that learns with noise on what it sees: the loss says so, and nothing else changes."""

import jax
import numpy as np
import pytest
from learning_cases import SMALL, assert_same_weights, untrained, walk, with_translator

import vmg
from vmg.learn import Training, fit, fit_together
from vmg.networks import translate
from vmg.networks.lowlevel import Batch


@pytest.mark.parametrize("noise_on", ["both", "state"])
@pytest.mark.parametrize("inputs", ["raw", "raw relative"])
def test_the_loss_equals_a_twin_in_numpy(noise_on, inputs):
    episodes, n = walk(0), 20
    config = with_translator(SMALL, inputs=inputs, noise=2.0, noise_on=noise_on)
    weights, low_level = untrained(episodes, config), config.low_level
    o_t, goal, a_t = episodes.observations[:n], episodes.observations[3 : n + 3], episodes.actions[:n]
    key = jax.random.key(4)
    loss, _ = low_level.loss(weights, Batch(o_t, a_t, None, None, goal, None, key), low_level.numbers())
    changes = np.concatenate([np.diff(each.observations, axis=0) for each in episodes])
    moved = 2.0 * np.sqrt(np.mean(np.square(changes), axis=0)) * np.asarray(jax.random.normal(key, o_t.shape))
    given = translate(
        weights, (o_t + moved).astype(np.float32), (goal + moved * (noise_on == "both")).astype(np.float32)
    )
    assert float(loss) == pytest.approx(np.mean(np.sum((given - a_t) ** 2, axis=1)), rel=1e-4)


def test_noise_changes_the_translator_alone_and_models_that_differ_in_it_learn_together_as_alone():
    configs = [with_translator(SMALL, noise=noise, steps=40) for noise in (0.0, 0.5, 2.0)]
    (plain,), (less,), (more,) = fit_together([Training(walk(0)) for _ in configs], configs)
    assert_same_weights(fit(walk(0), configs[2]), [more])
    for noisy in (less, more):
        own = {"translator": plain["translator"], "translator_input": plain["translator_input"]}
        assert_same_weights([plain], [noisy | own])
        assert not np.allclose(noisy["translator"]["w0"], plain["translator"]["w0"])
        assert noisy["translator_input"].keys() - plain["translator_input"].keys() == {"step"}
    assert not np.allclose(less["translator"]["w0"], more["translator"]["w0"])


def test_it_is_saved_and_acts_the_same(tmp_path):
    episodes = walk(0)
    config = vmg.AgentConfig(
        learn=with_translator(SMALL, noise=1.5, noise_on="state"), graph=vmg.GraphConfig(radius=0.5)
    )
    (agent,) = vmg.Agent.fit(episodes, config)
    agent = agent.build(episodes).solve()
    agent.save(tmp_path)
    again = vmg.Agent.load(tmp_path)
    assert again.config.learn.low_level == config.learn.low_level
    states = episodes.observations[::5]
    assert np.array_equal(again.policy().act(states), agent.policy().act(states))
