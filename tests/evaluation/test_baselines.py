"""Behaviour cloning in the same harness: what it is asked for, and that it acts within what was recorded."""

from dataclasses import replace

import numpy as np
import pytest
from acting_cases import LITTLE, episodes

import vmg
from vmg.envs import find_task
from vmg.evaluation import evaluate
from vmg.evaluation.baselines import CloningActor, cloning_actors
from vmg.learn import Training
from vmg.networks import clone

MAZE = find_task("pointmaze-umaze")
SHORT = replace(LITTLE, steps=20, checkpoint_every=20)


@pytest.fixture(scope="module")
def actors():
    (found,) = cloning_actors([Training(episodes(), (0, 1))], SHORT, MAZE.goal)
    return found


def test_both_are_trained_one_model_per_seed(actors):
    assert list(actors) == ["BC", "GCBC"]
    assert [len(models) for models in actors.values()] == [2, 2]
    one, other = actors["BC"]
    assert not np.allclose(one.weights["cloning"]["w0"], other.weights["cloning"]["w0"])


def test_actions_are_those_of_the_network_within_the_recorded_range(actors):
    low, high = episodes().actions.min(0), episodes().actions.max(0)
    for state in episodes().observations[::300]:
        plain, aimed = actors["BC"][0], actors["GCBC"][0]
        assert plain.act(state) == pytest.approx(np.clip(clone(plain.weights, state[None])[0], low, high))
        named = clone(aimed.weights, state[None], aimed.goal[None])[0]
        assert aimed.act(state) == pytest.approx(np.clip(named, low, high))


def test_a_goal_that_is_named_is_headed_for_and_else_the_end_of_the_best_episode(actors):
    aimed, plain = replace(actors["GCBC"][0]), replace(actors["BC"][0])
    best = episodes()[int(np.argmax(episodes().returns))].observations[-1]
    assert aimed.goal.tolist() == best[:2].tolist()
    aimed.begin(None, None)
    assert aimed.goal.tolist() == best[:2].tolist()
    for actor in (aimed, plain):
        actor.begin(None, MAZE.objective_of({"desired_goal": [1.0, 0.5]}))
    assert (aimed.goal.tolist(), aimed.goal.dtype) == ([1.0, 0.5], np.float32)
    assert plain.goal is None


def test_without_named_goals_the_whole_state_is_the_goal():
    (found,) = cloning_actors([Training(episodes(), (0,))], SHORT, None)
    assert found["GCBC"][0].goal.shape == (4,)


def test_they_are_evaluated_as_agents_are(actors):
    task = replace(MAZE, horizon=10)
    for models in actors.values():
        scores = evaluate(models[0], task, n_episodes=2, workers=1)
        assert scores == evaluate(models[0], task, n_episodes=2, executor="here")
        assert isinstance(models[0], CloningActor)


def test_a_folder_for_each_is_made_within_the_trainings(tmp_path):
    cloning_actors([Training(episodes(), (0,), folder=tmp_path)], SHORT, MAZE.goal)
    assert {path.name for path in tmp_path.iterdir() if path.is_dir()} >= {"BC", "GCBC"}


def test_a_clone_of_ones_own_is_the_command_s(actors):
    """`vmg.clone` learns what `--baselines` learns, for any episodes and any task."""
    (plain,) = vmg.clone(episodes(), SHORT, seeds=(1,), show_progress=False)
    (aimed,) = vmg.clone(episodes(), SHORT, seeds=(1,), goal_columns=(0, 1), show_progress=False)
    state = episodes().observations[5]
    assert plain.act(state).tolist() == actors["BC"][1].act(state).tolist()
    assert aimed.act(state).tolist() == replace(actors["GCBC"][1], goal=aimed.goal).act(state).tolist()
    assert evaluate(plain, replace(MAZE, horizon=10), n_episodes=1, workers=1).episodes[0].steps == 10


def test_goal_columns_that_are_not_there_are_refused():
    with pytest.raises(vmg.VMGError, match="an observation has the columns 0 to 3, but goals are named in"):
        vmg.clone(episodes(), SHORT, goal_columns=(4,))
