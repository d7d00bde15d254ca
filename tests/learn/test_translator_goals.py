from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from learning_cases import SMALL, untrained, walk

from vmg.data.episodes import Episodes
from vmg.learn.models import AgentModel, on_device
from vmg.networks import translate
from vmg.networks.lowlevel import Batch
from vmg.networks.lowlevel.translator import sample_goals


@pytest.fixture
def uneven():
    """Episodes of 1, 3 and 30 steps."""
    parts = [(np.zeros((n + 1, 3)), np.zeros((n, 2)), np.zeros(n), False, True) for n in (1, 3, 30)]
    return Episodes.from_list(parts)


def test_goals_stay_in_the_episode_and_ahead(uneven):
    rows, left = uneven.step_observation, uneven.steps_left
    for seed in range(50):
        goals = np.asarray(sample_goals(jax.random.key(seed), jnp.asarray(rows), jnp.asarray(left), horizon=10))
        assert (goals >= rows + 1).all()
        assert (goals <= np.minimum(rows + 10, rows + left)).all()


def test_goals_are_uniform_and_fall_back_to_the_next_observation():
    n, horizon = 50_000, 5
    for left, expected in ((9, [0.2] * 5), (2, [0.8, 0.2, 0, 0, 0]), (1, [1, 0, 0, 0, 0])):
        k = sample_goals(jax.random.key(left), jnp.zeros(n, jnp.int32), jnp.full(n, left), horizon=horizon)
        share = np.bincount(np.asarray(k), minlength=horizon + 1)[1:] / n
        np.testing.assert_allclose(share, expected, atol=0.01)


def test_goals_past_the_end_go_around_as_in_the_published_program():
    n, horizon = 50_000, 5
    for left, expected in ((9, [0.2] * 5), (2, [0.6, 0.4, 0, 0, 0]), (4, [0.4, 0.2, 0.2, 0.2, 0])):
        rows = jnp.zeros(n, jnp.int32), jnp.full(n, left)
        k = sample_goals(jax.random.key(left), *rows, horizon=horizon, around=True)
        np.testing.assert_allclose(np.bincount(np.asarray(k), minlength=horizon + 1)[1:] / n, expected, atol=0.01)


def test_a_batch_draws_every_step_and_its_own_rows(uneven):
    keys = jax.random.split(jax.random.key(0), 300)
    model = AgentModel(SMALL)
    samples = jax.vmap(lambda key: model.sample(key, on_device(uneven), model.numbers()))(keys)
    assert samples.key is None
    step, row_t, row_goal = (np.asarray(part).ravel() for part in samples[:3])
    assert set(step) == set(range(uneven.n_steps))
    np.testing.assert_array_equal(row_t, uneven.step_observation[step])
    ends = uneven.first_observation[1:][uneven.step_episode[step]]
    assert ((row_t < row_goal) & (row_goal < ends)).all()


def test_translator_loss_is_a_mean_of_summed_squares():
    episodes = walk(0)
    weights = untrained(episodes, SMALL)
    o_t, goal, a_t = episodes.observations[:6], episodes.observations[6:12], episodes.actions[:6]
    expected = np.mean([sum((translate(weights, o, g) - a) ** 2) for o, g, a in zip(o_t, goal, a_t, strict=True)])
    batch = Batch(*map(jnp.asarray, (o_t, a_t)), None, None, jnp.asarray(goal), None, None)
    loss, info = SMALL.low_level.loss(weights, batch, SMALL.low_level.numbers())
    np.testing.assert_allclose([float(loss), float(info["translator"])], expected, rtol=1e-5)


def test_squashed_actions_are_the_tanh_of_plain_ones():
    episodes = walk(0)
    squashed = replace(SMALL, low_level=replace(SMALL.low_level, squashed=True))
    o, goals = episodes.observations[:6], episodes.observations[6:12]
    plain, weights = untrained(episodes, SMALL), untrained(episodes, squashed)
    np.testing.assert_array_equal(translate(weights, o, goals), np.tanh(translate(plain, o, goals)))
    acted = [squashed.low_level.actor(weights)(o[:n], goals[:n]) for n in (1, 6)]
    np.testing.assert_allclose(acted[1], translate(weights, o, goals), rtol=1e-6)
    np.testing.assert_allclose(acted[0], acted[1][:1], rtol=1e-5)
