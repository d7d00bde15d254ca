"""Whether to be faster than recorded: bodies that come behind their actions, and what being faster would be paid."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vmg.agent.auto.columns import look_at
from vmg.agent.auto.speed import choose_lead, lag_behind, paid_more
from vmg.base.errors import VMGError
from vmg.data import Episodes
from vmg.learn.config import LearnConfig
from vmg.networks.lowlevel import Critic, Translator
from vmg.runs.auto import _changed


def hand(lag: int, paid: str = "late", follows: bool = True, n_episodes: int = 6, steps: int = 60) -> Episodes:
    """Two joints that are, `lag` steps later, where an action told them to be; or anywhere."""
    rng, episodes = np.random.default_rng(lag), []
    for _ in range(n_episodes):
        told = rng.normal(size=(steps + lag + 1, 2)).cumsum(0) + rng.normal(size=2)
        places = told if follows else rng.normal(size=told.shape).cumsum(0)
        rewards = {
            "late": (np.arange(steps) >= 0.8 * steps).astype(float),
            "always": np.ones(steps),
            "early": (np.arange(steps) < 0.2 * steps).astype(float),
            "never": np.zeros(steps),
        }[paid]
        episodes.append((places[: steps + 1], told[lag : lag + steps], rewards, False, True))
    return Episodes.from_list(episodes, source="a hand")


@settings(max_examples=20, deadline=None)
@given(lag=st.integers(0, 15))
def test_how_far_a_body_comes_behind_is_found(lag):
    found, share = lag_behind(hand(lag), look_at(hand(lag)))
    assert found == lag
    assert share > 0.9


@pytest.mark.parametrize(
    ("paid", "least", "most"), [("late", 0.5, 10), ("always", -1e-9, 1e-9), ("early", -1, 0), ("never", 0, 0)]
)
def test_being_faster_pays_what_comes_late(paid, least, most):
    assert least <= paid_more(hand(6, paid)) <= most


@pytest.mark.parametrize(
    ("episodes", "expected"),
    [
        (hand(6), 3),
        (hand(9), 4),
        (hand(1), 0),
        (hand(6, "always"), 0),
        (hand(6, "never"), 0),
        (hand(6, follows=False), 0),
    ],
    ids=["behind", "far behind", "hardly behind", "paid always", "never paid", "no places"],
)
def test_a_lead_is_half_the_lag_where_that_pays_and_actions_are_places(episodes, expected):
    lead, choice = choose_lead(episodes, look_at(episodes))
    assert (lead, choice.value) == (expected, str(expected))
    assert ("worth its risk" in choice.why) == (expected > 0)


def test_actions_that_never_change_say_nothing():
    episodes = hand(3)
    still = Episodes.from_list(
        [(each.observations, np.ones_like(each.actions), each.rewards, False, True) for each in episodes]
    )
    assert choose_lead(still, look_at(still))[0] == 0


def test_who_asks_for_no_lead_keeps_to_the_pace():
    """What a run's own settings say stays, and 0 says something."""
    asked, chosen = (LearnConfig(low_level=each) for each in (Translator(lead=0), Translator(lead=3, memory=7)))
    assert _changed(chosen, asked, LearnConfig()).low_level == Translator(lead=0, memory=7)


def test_a_kind_that_cannot_lead_says_so_and_what_it_says_works():
    chosen, plain, held = (
        LearnConfig(low_level=each) for each in (Translator(lead=3, memory=7), Critic(), Critic(lead=0))
    )
    with pytest.raises(VMGError, match=r"--learn\.low-level\.lead 0"):
        _changed(chosen, plain, LearnConfig())
    assert _changed(chosen, held, LearnConfig()).low_level == Critic(lead=0, memory=7)
