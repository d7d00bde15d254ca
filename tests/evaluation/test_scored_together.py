"""All of several goals are scored by how many hold at once; steps in what is to be avoided are counted."""

from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from levers import Room, lever, pulled_in, written_agent

from vmg.envs import Task
from vmg.evaluation import evaluate, scored_by
from vmg.goals import all_of, reward_function, within
from vmg.runs.remarks import on_avoided, on_endings, on_penalty

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


class Begins:
    """Goes nowhere, or from its second step on east, far from everything."""

    def begin(self, observation, objective):
        self.steps = 0

    def act(self, state):
        self.steps += 1
        return np.array([0.0, 0.25 * (self.steps > 1)])


def test_who_begins_in_what_is_to_be_avoided_has_not_entered_it():
    agent = written_agent(pulled_in("AB", "BC", "AC"))
    region = within([-0.5, -0.5], [0.5, 0.5], columns=(0, 1), name="around the start")
    scores = evaluate(Begins(), scored_by(TASK, agent.plan(B.avoiding(region))), n_episodes=3, workers=1)
    assert all(each.report["began_avoided"] for each in scores.episodes)
    (said,) = on_avoided(scores)
    assert said == "3 of 3 episodes began in what is to be avoided, and spent 3 steps there in the mean."
    mixed = [
        replace(scores.episodes[0], report=report)
        for report in (
            {"avoided_steps": 4, "began_avoided": True}, {"avoided_steps": 0}, {"avoided_steps": 1},
        )
    ]  # fmt: skip
    first, second = on_avoided(replace(scores, episodes=tuple(mixed)))
    assert first.startswith("1 of 3 episodes began in what is to be avoided, and spent 4 steps")
    assert second.startswith("1 of 2 other episodes entered what is to be avoided, for 1 step in the mean")
    two = replace(scores, episodes=tuple(mixed[:2]))
    assert on_avoided(two)[1] == "No other episode entered what is to be avoided."


class Ends(Levers):
    """The same, ended at a goal of its own."""

    def __init__(self, goes_on=False):
        self.goes_on = goes_on

    def step(self, action):
        state, reward, _, truncated, info = super().step(action)
        return state, reward, bool(state[1] > 1) and not self.goes_on, truncated, info


def test_of_an_environment_that_ends_at_a_goal_of_its_own_the_cure_is_said_and_works():
    plan = written_agent(pulled_in("AB", "BC", "AC")).plan(B)
    task = replace(TASK, environment=Ends)
    scores = evaluate(Begins(), scored_by(task, plan), n_episodes=2, workers=1)
    (said,) = on_endings(scores, task)
    assert said.startswith("2 of 2 episodes the environment ended itself, with what is wanted here not reached.")
    assert "vmg.Task(..., endless={" in said
    cured = replace(task, endless={"goes_on": True})
    scores = evaluate(Begins(), scored_by(cured, plan), n_episodes=2, workers=1)
    assert scores.endings == {"time out": 2}
    assert on_endings(scores, cured) == on_endings(scores, task) == []


def up(before, actions, after):
    return np.abs(after[:, 1] - before[:, 1])


@pytest.mark.parametrize("together", [False, True])
def test_a_penalty_is_added_up_before_its_weight(together):
    agent = written_agent(pulled_in("AB", "BC", "AC"))
    wanted = (all_of([B, A], before=[(A, B)]) if together else B).costing(3.0, reward_function(up))
    plan = agent.plan(wanted, agent.episodes)
    scores = evaluate(Begins(), scored_by(TASK, plan), n_episodes=2, workers=1)
    for each in scores.episodes:
        assert each.report["penalty"] == pytest.approx(0.25 * (each.steps - 1))
    mean = np.mean([each.report["penalty"] for each in scores.episodes])
    assert on_penalty(scores) == [f"The penalty added up to {mean:.4g} per episode in the mean, before its weight."]
    free = evaluate(Begins(), scored_by(TASK, agent.plan(B)), n_episodes=1, workers=1)
    assert "penalty" not in free.episodes[0].report
    assert on_penalty(free) == []


def test_staying_is_the_share_of_steps_in_which_all_hold():
    agent = written_agent(pulled_in("AB", "BC", "AC"))
    plan = agent.plan(all_of([A, B, C]).staying())
    episode = score(Script([(0, 0, 0)] * 10 + [(1, 1, 1)]), plan)
    assert episode.reward == 30
    ordered = agent.plan(all_of([A, B, C], before=[(B, A)]).staying())
    assert "spent there, in whatever order it came about" in scored_by(TASK, ordered).protocol
