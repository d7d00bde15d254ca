"""A translator that learns actions recorded later: as if the recordings had them earlier, and within an episode."""

from dataclasses import replace

import jax
import numpy as np
import pytest
from learning_cases import SMALL, assert_same_weights, untrained, walk, with_translator

from vmg.learn import fit, streaming
from vmg.learn.models import AgentModel, batch_of, led, on_device
from vmg.networks.actions import recorded_actions
from vmg.networks.lowlevel import Flow
from vmg.runs.sweeping import action_error

LED = with_translator(SMALL, lead=3, steps=40)


def earlier(episodes, lead):
    """The episodes with each action recorded `lead` steps too early, and the last one repeated."""
    ends = np.repeat(np.cumsum(episodes.lengths) - 1, episodes.lengths)
    return replace(episodes, actions=episodes.actions[np.minimum(np.arange(episodes.n_steps) + lead, ends)])


@pytest.mark.parametrize("lead", [0, 1, 3, 50])
def test_a_batch_has_the_later_action_of_the_same_episode_for_the_low_level_policy_alone(lead):
    episodes = walk(0, length=5)
    model, weights = AgentModel(with_translator(SMALL, lead=lead, batch_size=200)), untrained(episodes, SMALL)
    steps = on_device(episodes)
    sample = model.sample(jax.random.key(0), steps, model.numbers())
    batch = batch_of(weights, steps, sample)
    assert np.array_equal(batch.a_t, episodes.actions[sample.step])
    assert np.array_equal(led(batch, weights, steps, sample).a_t, earlier(episodes, lead).actions[sample.step])


def test_it_learns_from_batches_that_are_sent_what_a_translator_of_earlier_actions_learns(monkeypatch):
    (expected,) = fit(earlier(walk(0), 3), replace(LED, low_level=SMALL.low_level))
    monkeypatch.setenv(streaming.LIMIT, "0")
    (found,) = fit(walk(0), LED)
    assert_same_weights([found], [expected], parts=("translator", "translator_input"))
    assert not np.allclose(found["action_decoder"]["w0"], expected["action_decoder"]["w0"])


@pytest.mark.parametrize("kind", [SMALL.low_level, Flow(start="zero")])
@pytest.mark.parametrize("actions", ["raw", "normalised"])
def test_a_sweep_judges_it_by_the_actions_it_learns_in_the_units_of_the_recordings(kind, actions):
    episodes = replace(walk(0), actions=100 * walk(0).actions)
    weights = untrained(episodes, replace(SMALL, low_level=kind, actions=actions))
    act, rows, left = kind.actor(weights), episodes.step_observation, episodes.steps_left
    errors = []
    for ahead in (1, 3, 5, 10):
        here = rows[left >= ahead]
        given = recorded_actions(weights, act(episodes.observations[here], episodes.observations[here + ahead]))
        errors.append(np.square(given - earlier(episodes, 3).actions[left >= ahead]).sum(1).mean())
    found = action_error(replace(kind, lead=3), weights, episodes)
    assert found == pytest.approx(np.mean(errors) / episodes.actions.var(0).sum(), rel=1e-4)
    assert 0.5 < found < 3
    assert found != action_error(kind, weights, episodes)
