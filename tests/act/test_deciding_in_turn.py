"""Policies of several goals decide as they act: the same actions, whichever is asked for."""

import numpy as np
import pytest
from acting_cases import agent, episodes

from vmg.goals import all_of, in_order, near

HERE, THERE = (near(place, columns=(0, 1), tolerance=0.4) for place in ([1.0, 1.0], [-1.0, -1.0]))


@pytest.mark.parametrize(
    "objective", [in_order([HERE, THERE]), all_of([HERE, THERE], before=[(HERE, THERE)])], ids=["in order", "all"]
)
def test_decisions_hold_the_actions_that_are_taken(objective):
    plan = agent().plan(objective)
    acting, deciding = plan.policy(), plan.policy()
    acting.begin()
    deciding.begin()
    for state in episodes().observations[:60]:
        decided = deciding.decide(state)
        assert np.array_equal(acting.act(state), decided.actions[0])
        assert decided[0].path[-1] == decided[0].target
