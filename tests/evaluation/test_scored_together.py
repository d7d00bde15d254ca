"""All of several goals are scored by how many hold at once; steps in what is to be avoided are counted."""

import gymnasium
import numpy as np
import pytest
from levers import Room, lever, pulled_in, written_agent

from vmg.envs import Task
from vmg.evaluation import evaluate, scored_by
from vmg.goals import all_of, within
from vmg.runs.remarks import on_avoided

A, B, C = map(lever, "ABC")


class Levers(gymnasium.Env):
    """The room with its levers."""

    observation_space = gymnasium.spaces.Box(-9, 9, (5,))
    action_space = gymnasium.spaces.Box(-9, 9, (2,))

    def reset(self, *, seed=None, options=None):
        self.room = Room()
        return self.room.state, {}

    def step(self, action):
        return self.room.step(action), 0.0, False, False, {}


class Script:
    """Puts the levers as it was told."""

    def __init__(self, states):
        self.states = states

    def begin(self, observation, objective):
        self.left = list(self.states)

    def act(self, state):
        state[2:] = self.left.pop(0) if self.left else state[2:]
        return np.zeros(2, np.float32)


TASK = Task(name="levers", environment=Levers, state=np.asarray, horizon=40)


def planned(**options):
    return written_agent(pulled_in("AB", "BC", "AC")).plan(all_of([A, B, C], **options))


def score(actor, plan):
    (episode,) = evaluate(actor, scored_by(TASK, plan), n_episodes=1, workers=1).episodes
    return episode


def test_a_plan_that_finds_its_order_is_evaluated_like_any_other():
    plan = planned()
    episode = score(plan.policy(), plan)
    assert (episode.reward, episode.ended, episode.report["reached"]) == (3.0, "success", 3)
    assert episode.steps < 40
    assert "the most that hold at once in 120 steps count" in scored_by(TASK, plan).protocol


@pytest.mark.parametrize(
    ("states", "reached"),
    [
        ([(1, 0, 0), (1, 1, 0), (1, 1, 1)], 3),
        ([(1, 0, 0), (0, 1, 0), (0, 0, 1)], 1),  # never two at once
        ([(0, 1, 1), (0, 0, 0), (1, 0, 0)], 2),  # the most at once, though undone later
        ([(1, 1, 1)], 3),
    ],
)
def test_what_counts_is_the_most_that_hold_at_once(states, reached):
    assert score(Script(states), planned()).report["reached"] == reached


@pytest.mark.parametrize(
    ("states", "reached"),
    [
        ([(0, 1, 0), (1, 1, 0), (1, 1, 1)], 3),
        ([(1, 0, 0), (1, 1, 1)], 2),  # A came before B, and counts for nothing until it is pulled anew
        ([(1, 0, 0), (1, 1, 1), (0, 1, 1), (1, 1, 1)], 3),
    ],
)
def test_what_came_too_early_counts_when_it_is_reached_anew(states, reached):
    plan = planned(before=[(B, A)])
    assert score(Script(states), plan).report["reached"] == reached
    assert "what comes before its turn counts once it is reached anew after it" in scored_by(TASK, plan).protocol
    assert f"{A.name} and {B.name} and {C.name}, {B.name} before {A.name}" in scored_by(TASK, plan).name


def test_steps_in_what_is_to_be_avoided_are_counted():
    agent = written_agent(pulled_in("AB", "BC", "AC"))
    region = within([0.9, 0.9], [1.1, 1.1], columns=(0, 1), name="the middle")
    freely, strictly = agent.plan(B), agent.plan(B.avoiding(region))
    task = scored_by(TASK, strictly)
    (through,) = evaluate(freely.policy(), task, n_episodes=1, workers=1).episodes
    (around,) = evaluate(strictly.policy(), task, n_episodes=1, workers=1).episodes
    assert through.report["avoided_steps"] > 0
    assert around.report == {"reached": 1, "avoided_steps": 0}
    (said,) = on_avoided(evaluate(freely.policy(), task, n_episodes=2, workers=1))
    assert said.startswith("2 of 2 episodes entered what is to be avoided, for ")
    assert on_avoided(evaluate(strictly.policy(), task, n_episodes=1, workers=1)) == [
        "No episode entered what is to be avoided."
    ]
    assert on_avoided(evaluate(freely.policy(), scored_by(TASK, freely), n_episodes=1, workers=1)) == []


def test_staying_is_the_share_of_steps_in_which_all_hold():
    agent = written_agent(pulled_in("AB", "BC", "AC"))
    plan = agent.plan(all_of([A, B, C]).staying())
    episode = score(Script([(0, 0, 0)] * 10 + [(1, 1, 1)]), plan)
    assert episode.reward == 30
    ordered = agent.plan(all_of([A, B, C], before=[(B, A)]).staying())
    assert "spent there, in whatever order it came about" in scored_by(TASK, ordered).protocol
