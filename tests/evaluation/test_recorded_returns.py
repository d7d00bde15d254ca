"""What a reward function's score is measured by: recordings, for as many steps as an episode is tried for."""

from dataclasses import replace

import numpy as np
import pytest
from acting_cases import agent, episodes
from hypothesis import given
from hypothesis import strategies as st
from test_own_objectives import WALK, Walk, speed

from vmg.data import Episodes
from vmg.evaluation import scored_by
from vmg.evaluation.recorded import recorded_returns, steps_of
from vmg.goals import reward_function


def recordings(lengths):
    """Episodes of these lengths in which nothing happens."""
    return Episodes.from_list([(np.zeros((n + 1, 1)), np.zeros((n, 1)), np.zeros(n), False, True) for n in lengths])


def slowly(recorded, rewards, steps):
    """The same, step by step: the mean of those that have as many; for the best, the others are paid the least."""
    parts = np.split(rewards, recorded.first_step[1:-1])
    long = [part[:steps] for part in parts if len(part) >= steps] or parts
    sums, least = [sum(part.tolist()) for part in long], rewards.min()
    extended = [sum((part.tolist() + steps * [least])[:steps]) for part in parts]
    return sum(sums) / len(sums), max(extended)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=9), st.integers(1, 10), st.integers(0, 99))
def test_recordings_are_paid_for_as_many_steps_as_a_trial(lengths, steps, seed):
    recorded = recordings(lengths)
    rewards = np.random.default_rng(seed).normal(size=recorded.n_steps)
    found = recorded_returns(recorded, rewards, steps)
    assert (found.mean, found.best) == pytest.approx(slowly(recorded, rewards, steps))
    assert ("all of them shorter" in found.what) == (max(lengths) < steps)
    assert ("shorter one" in found.in_words) <= (min(lengths) < steps)
    low, high = found.score_range
    assert low < high


@pytest.mark.parametrize(
    ("lengths", "steps", "what"),
    [
        ([5, 6], 4, "the first 4 steps of the recorded episodes"),
        ([5, 3, 4], 4, "the first 4 steps of the recorded episodes, the 2 of 3 that have as many"),
        ([3, 2], 4, "the recorded episodes, all of them shorter than the 4 steps here"),
        ([3, 2], None, "the recorded episodes, each as long as it is"),
    ],
)
def test_which_steps_of_which_recordings_count_is_said(lengths, steps, what):
    found = recorded_returns(recordings(lengths), np.ones(sum(lengths)), steps)
    assert found.in_words.startswith(f"0 is the mean return of {what} (")


class Limited(Walk):
    """The same, with a limit that only the environment knows."""

    spec = type("Spec", (), {"max_episode_steps": 4})


def test_the_steps_of_an_episode_are_the_tasks_or_else_its_environments():
    assert steps_of(WALK) == 6
    assert steps_of(replace(WALK, horizon=None)) is None
    assert steps_of(replace(WALK, horizon=None, environment=Limited)) == 4


def test_a_score_of_100_takes_what_the_best_recording_was_paid_in_as_many_steps():
    task = scored_by(WALK, agent().plan(reward_function(speed)))
    starts, paid = episodes().first_step[:-1][episodes().lengths >= 6], episodes().relabel(speed).rewards
    first = [paid[start : start + 6].sum() for start in starts]
    assert task.score_range == (pytest.approx(np.mean(first)), pytest.approx(max(first)))
    assert "0 is the mean return of the first 6 steps of the recorded episodes" in task.protocol
