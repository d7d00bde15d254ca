"""Final states are headed for straight where that leads there; what has to be handled is handled as recorded."""

import numpy as np
import pytest
from levers import Room, follow, lever, place, pulled_in, written_agent

from vmg.act.arriving import can_go_straight
from vmg.goals import reward_function


@pytest.mark.parametrize("paths", ["edges", "recordings"])
def test_a_lever_is_pulled_as_recorded_and_a_place_is_gone_to_straight(paths):
    agent = written_agent(pulled_in("AB", "BC", "AC"), paths)
    goals = {"lever": lever("B"), "place": place(1.0, 0.0)}
    straight = {
        name: can_go_straight(agent.built, agent.plan(goal).routes.finals.states) for name, goal in goals.items()
    }
    assert straight == {"lever": False, "place": True}
    for goal in goals.values():
        states = follow(agent.plan(goal).policy(), Room(), 20, until=goal)
        assert goal.reached(states[-1:])[0]


def test_rewards_for_a_lever_are_earned_by_pulling_it():
    agent = written_agent(pulled_in("AB", "BC", "AC"))
    pulled = reward_function(lambda o_t, a_t, o_tp1: o_tp1[:, 3], name="B is pulled")
    plan = agent.plan(pulled)
    assert not can_go_straight(agent.built, plan.routes.finals.states)
    assert follow(plan.policy(), Room(), 30)[-1, 3] == 1


def test_columns_that_never_change_say_nothing():
    episodes = pulled_in("AB")
    still = np.zeros((len(episodes.observations), 1), np.float32)
    agent = written_agent(type(episodes)(
        np.hstack([episodes.observations[:, :2], still]), episodes.actions, episodes.rewards, episodes.lengths,
        episodes.terminated, episodes.truncated,
    ))  # fmt: skip
    assert can_go_straight(agent.built, agent.built.states[:1])
