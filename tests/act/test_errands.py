"""Doing what is wanted in turn, and judging it on states: in a small world whose every state is known."""

import gymnasium
import numpy as np
import pytest
from acting_cases import agent, episodes

from vmg.act.errands import Errand, judged
from vmg.act.evaluation import evaluate
from vmg.act.retask import want
from vmg.act.tasks import Task, find_task
from vmg.errors import VMGError
from vmg.wishes import by_function, by_rewards, near

MAZE = find_task("pointmaze-umaze")
PLACES = [(1.0, 1.0), (-1.0, -1.0), (-1.0, 1.0)]


def prospect(place, **options):
    return want(agent(), episodes(), near(place, columns=(0, 1), tolerance=0.45), **options)


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

    def begin(self, observation):
        self.left = list(self.moves)

    def act(self, state):
        return np.array(self.left.pop(0) if self.left else (0, 0), np.float32)


WALK = Task(name="walk", environment=Walk, state=np.asarray, horizon=6)


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
    task = judged(WALK, [prospect(place) for place in PLACES])
    (episode,) = evaluate(Script(moves), task, episodes=1, workers=1).episodes
    assert (episode.reward, episode.report["reached"], episode.steps) == (reached, reached, steps)
    assert episode.success == (reached == 3)
    assert task.score_range == (0, 3)
    assert "judged" in task.protocol.lower()
    assert "in 18 steps counts, each once and in this order" in task.protocol


def test_a_goal_that_holds_at_the_start_is_passed():
    task = judged(WALK, [prospect((0.0, 0.0)), prospect((1.0, 1.0))])
    (episode,) = evaluate(Script([(1, 1)]), task, episodes=1, workers=1).episodes
    assert (episode.reward, episode.steps, episode.success) == (2, 1, True)


def test_staying_is_paid_step_by_step():
    task = judged(WALK, [prospect((1.0, 1.0), kind="stay")])
    scores = evaluate(Script([(1, 1), (0, 0), (5, 0), (-5, 0)]), task, episodes=1, workers=1)
    assert scores.score == pytest.approx(100 * 5 / 6)
    assert scores.episodes[0].success


def speed(o_t, a_t, o_tp1):
    return np.abs(a_t).sum(1) + o_tp1[:, 0] - o_t[:, 0]


def test_rewards_are_paid_as_the_function_says_and_scored_against_the_recorded_episodes():
    wanted = want(agent(), episodes(), by_function(speed))
    task = judged(WALK, [wanted])
    scores = evaluate(Script([(1, 1), (-2, 0)]), task, episodes=1, workers=1)
    assert scores.mean_return == pytest.approx(3 + 0)
    assert scores.success_rate is None
    recorded = episodes().relabel(speed).returns
    assert task.score_range == (pytest.approx(recorded.mean()), pytest.approx(recorded.max()))


def test_an_errand_in_the_maze_is_done_in_turn_by_any_number_of_processes():
    legs = [prospect(place) for place in PLACES[:2]]
    task = judged(MAZE, legs)
    alone = evaluate(Errand(legs), task, episodes=2, workers=1)
    assert alone == evaluate(Errand(legs), task, episodes=2, workers=2)
    assert all(0 <= episode.report["reached"] <= 2 for episode in alone.episodes)
    assert all(episode.reward == episode.report["reached"] for episode in alone.episodes)


def test_an_errand_heads_for_the_first_wish_that_is_not_fulfilled():
    legs = [prospect(place) for place in PLACES]
    errand, states = Errand(legs), episodes().observations
    for place, following in zip(PLACES, [1, 2, 2], strict=True):
        there = states[np.argmin(np.linalg.norm(states[:, :2] - place, axis=1))]
        assert errand.act(there) == pytest.approx(legs[following].policy().act(there))
    errand.begin()
    far = states[np.argmin(np.linalg.norm(states[:, :2] - PLACES[1], axis=1))]
    assert errand.act(far) == pytest.approx(legs[0].policy().act(far))


def test_what_cannot_be_done_in_turn_is_said():
    paid = want(agent(), episodes(), by_rewards(episodes().rewards))
    with pytest.raises(VMGError, match=r"Only wishes that can be reached can follow one another"):
        Errand([paid, prospect(PLACES[0])])
    with pytest.raises(VMGError, match=r"the list of wishes is empty"):
        judged(WALK, [])
    with pytest.raises(VMGError, match=r'"stay" is for one wish'):
        judged(WALK, [prospect(place, kind="stay") for place in PLACES])
    with pytest.raises(VMGError, match=r"knows recorded steps alone and cannot judge new ones: give a function"):
        judged(WALK, [paid])
