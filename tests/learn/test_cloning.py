import jax
import numpy as np
from learning_cases import SMALL, walk, with_translator

from vmg.learn import Training, fit_cloning
from vmg.learn.models import CloningModel, on_device
from vmg.networks import clone


def test_cloning_learns_the_action_and_uses_its_goal():
    episodes = walk(0, n_episodes=40)
    config = with_translator(SMALL, inputs="relative", steps=1500, hidden_units=32)
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
    samples = jax.vmap(lambda key: CloningModel(SMALL, (0,)).sample(key, steps, {}))(keys)
    ahead, left = np.asarray(samples.row_goal - samples.row_t), episodes.steps_left[np.asarray(samples.step)]
    assert ahead.min() == 1
    assert (ahead <= left).all()
    assert (ahead == left).any()


def test_cloning_sees_the_whole_state_whatever_the_translator_sees():
    episodes = walk(0)
    config = with_translator(SMALL, columns=(1,))
    ((weights,),) = fit_cloning([Training(episodes)], config, goal_columns=(0,))
    o_t, goals = episodes.observations[:5], episodes.observations[5:10, :1]
    for column in range(3):
        assert not np.allclose(
            clone(weights, o_t, goals), clone(weights, o_t + np.eye(3, dtype=np.float32)[column], goals)
        )
    assert not np.allclose(clone(weights, o_t, goals), clone(weights, o_t, goals + 1))
