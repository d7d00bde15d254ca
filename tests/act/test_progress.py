"""How an episode got on along its plan is read off its states."""

import numpy as np
import pytest
from acting_cases import agent, episodes, follower
from hypothesis import given
from hypothesis import strategies as st

from vmg.act.progress import longest_stall
from vmg.base.errors import VMGError
from vmg.goals import near


def by_hand(values):
    """Walk along the values and count the steps since one was better than all before."""
    best, since, longest = -np.inf, 0, 0
    for value in values:
        since = 0 if value > best else since + 1
        best, longest = max(best, value), max(longest, since)
    return longest


@given(st.lists(st.integers(0, 9), min_size=1, max_size=60))
def test_a_stall_is_the_longest_stretch_without_anything_better(values):
    assert longest_stall(np.array(values, float)) == by_hand(values)


@pytest.mark.parametrize("actor", [agent, follower])
def test_an_episode_is_compared_with_the_plan_that_it_followed(actor):
    recorded, agent = episodes().observations, actor()
    plan = agent.plan(near(recorded[150][:2], columns=(0, 1), tolerance=0.3))
    found = plan.policy().progress(recorded[100:151])
    assert found.planned == plan.explain(recorded[100]).steps
    standing = plan.policy().progress(np.repeat(recorded[100:101], 40, axis=0))
    assert standing.stalled == 39
    assert standing.planned == found.planned
    assert found.stalled < 39
    with pytest.raises(VMGError, match="at least one state"):
        plan.policy().progress(recorded[:0])
