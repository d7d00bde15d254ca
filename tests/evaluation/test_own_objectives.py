"""Objectives of one's own are scored on states: in a small world whose every state is known."""

from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from acting_cases import agent, episodes

from vmg.base.errors import VMGError
from vmg.envs import Task, TaskGoal
from vmg.evaluation import evaluate, scored_by
from vmg.goals import in_order, near, recorded_rewards, reward_function, step_rewards, weighted

PLACES = [(1.0, 1.0), (-1.0, -1.0), (-1.0, 1.0)]


def to_place(place):
    return near(place, columns=(0, 1), tolerance=0.45)


class Walk(gymnasium.Env):
    """A point that moves by its action, in the state of the little maze; its own goal, past x = 9, ends the episode."""

    observation_space = gymnasium.spaces.Box(-9, 9, (4,))
    action_space = gymnasium.spaces.Box(-9, 9, (2,))

    def reset(self, *, seed=None, options=None):
        self.at = np.zeros(4, np.float32)
        return self.at.copy(), {}

    def step(self, action):
        self.at[:2] += action
        return self.at.copy(), 7.0, bool(self.at[0] > 9), False, {"success": True}


class Script:
    """Acts as it was told."""

    def __init__(self, moves):
        self.moves = moves

    def begin(self, observation, objective):
        assert objective is None  # the plan is followed, whatever goal the environment names
        self.left = list(self.moves)

    def act(self, state):
        return np.array(self.left.pop(0) if self.left else (0, 0), np.float32)


WALK = Task(
    name="walk", environment=Walk, state=np.asarray, horizon=6, goal=TaskGoal(columns=(0, 1), tolerance=1.0, key="at")
)


@pytest.mark.parametrize(
    ("moves", "reached", "steps"),
    [
        ([(1, 1), (-2, -2), (0, 2)], 3, 3),
        ([(-1, -1), (2, 2), (-2, 0)], 1, 18),  # out of turn counts for nothing
        ([(1, 1), (-2, 0), (0, -2), (0, 2)], 3, 4),
        ([], 0, 18),
        ([(10, 0)], 0, 1),  # the environment's own end still ends it
    ],
)
def test_goals_count_once_and_in_turn_and_the_last_ends_the_episode(moves, reached, steps):
    task = scored_by(WALK, agent().plan(in_order([to_place(place) for place in PLACES])))
    (episode,) = evaluate(Script(moves), task, n_episodes=1, workers=1).episodes
    assert (episode.reward, episode.report["reached"], episode.steps) == (reached, reached, steps)
    assert episode.success == (reached == 3)
    assert task.score_range == (0, 3)
    assert "Scored on the state by the objective itself" in task.protocol
    assert "in 18 steps counts, each once and in this order" in task.protocol


def test_one_goal_has_the_steps_of_an_episode():
    task = scored_by(WALK, agent().plan(to_place((1.0, 1.0))))
    (episode,) = evaluate(Script([(5, 5), (-4, -4)]), task, n_episodes=1, workers=1).episodes
    assert (episode.reward, episode.steps, episode.success, task.horizon) == (1, 2, True, 6)
    assert task.name == "walk: (1, 1) in the columns [0, 1]"


def test_a_goal_that_is_reached_at_the_start_is_passed():
    task = scored_by(WALK, agent().plan(in_order([to_place((0.0, 0.0)), to_place((1.0, 1.0))])))
    (episode,) = evaluate(Script([(1, 1)]), task, n_episodes=1, workers=1).episodes
    assert (episode.reward, episode.steps, episode.success) == (2, 1, True)


def test_staying_is_paid_step_by_step():
    task = scored_by(WALK, agent().plan(to_place((1.0, 1.0)).staying()))
    scores = evaluate(Script([(1, 1), (0, 0), (5, 0), (-5, 0)]), task, n_episodes=1, workers=1)
    assert scores.score == pytest.approx(100 * 5 / 6)
    assert scores.episodes[0].success


def speed(o_t, a_t, o_tp1):
    return np.abs(a_t).sum(1) + o_tp1[:, 0] - o_t[:, 0]


def test_rewards_are_paid_as_the_function_says_and_scored_against_the_recorded_episodes():
    task = scored_by(WALK, agent().plan(reward_function(speed)))
    scores = evaluate(Script([(1, 1), (-2, 0)]), task, n_episodes=1, workers=1)
    assert scores.mean_return == pytest.approx(3 + 0)
    assert scores.success_rate is None


def test_what_cannot_be_scored_is_said():
    staying = in_order([to_place(place) for place in PLACES]).staying()
    with pytest.raises(VMGError, match=r'"stay" is for one objective'):
        scored_by(WALK, agent().plan(staying))
    with pytest.raises(VMGError, match=r"in a task that says how many steps an episode has"):
        scored_by(replace(WALK, horizon=None), agent().plan(to_place(PLACES[0]).staying()))
    with pytest.raises(VMGError, match=r"knows recorded steps alone and cannot score new ones: give a function"):
        scored_by(WALK, agent().plan(step_rewards(episodes().rewards)))
    for recorded in (recorded_rewards(), weighted([(2.0, recorded_rewards()), (1.0, reward_function(speed))])):
        with pytest.raises(VMGError, match=r"is paid what was recorded, which nobody knows of new steps"):
            scored_by(WALK, agent().plan(recorded, episodes()))


class NamedWalk(Walk):
    """The same, with a goal that it names and at which it ends."""

    def reset(self, *, seed=None, options=None):
        return self._named(super().reset()[0]), {}

    def step(self, action):
        observation, reward, ended, cut, info = super().step(action)
        return self._named(observation), reward, ended or bool(np.hypot(*self.at[:2] - [3, 3]) < 1), cut, info

    def _named(self, observation):
        return {"observation": observation, "at": np.array([3.0, 3.0])}


@pytest.mark.parametrize(
    ("moves", "steps"),
    [
        ([(3, 3), (-2, -2)], 2),  # past the environment's own goal
        ([(10, 0)], 1),  # another end of the environment's is one
    ],
)
def test_the_goal_that_the_environment_names_ends_nothing_when_another_is_wanted(moves, steps):
    named = replace(WALK, environment=NamedWalk, state=None, keys=("observation",))
    task = scored_by(named, agent().plan(to_place((1.0, 1.0))))
    (episode,) = evaluate(Script(moves), task, n_episodes=1, workers=1).episodes
    assert episode.steps == steps
    assert episode.success == (steps == 2)
