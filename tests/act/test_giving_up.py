"""What is never given up: the numbers that a single goal is about."""

import numpy as np
import pytest
from levers import Room, lever, place, pulled_in, written_agent

from vmg.goals import all_of, any_of, reward_function, within


def paid(o_t, a_t, o_tp1):
    return o_tp1[:, 2]


CASES = [
    (lever("A"), [2]),
    (place(2.0, 0.0), [0, 1]),
    (within([0.9, 0.9], [1, 1], columns=(2, 3)), [2, 3]),
    (all_of([lever("A"), lever("B")]), []),
    (any_of([lever("A"), lever("B")]), []),
    (reward_function(paid), []),
]


@pytest.mark.parametrize(("objective", "wanted"), CASES)
def test_a_single_goal_is_not_given_up_for_lack_of_others(objective, wanted):
    """Of several goals at once, one that cannot be moved does not keep the others from being reached."""
    policy = written_agent(pulled_in("AB", "BA"), "observed").plan(objective).policy()
    policy.act(Room().state)
    (follower,) = policy._followers.values()
    (tracker,) = follower._trackers.values()
    assert np.flatnonzero(tracker.wanted).tolist() == wanted
