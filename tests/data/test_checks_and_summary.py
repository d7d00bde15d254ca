import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from random_episodes import episode_sets, make_episodes
from rich.console import Console

from vmg.data import Episodes, check, concatenate, render, summarise


def walk(seed, lengths=(50,) * 8):
    """Episodes with nothing wrong: smooth random walks with varied actions and rewards."""
    rng = np.random.default_rng(seed)
    parts = []
    for steps in lengths:
        actions = rng.uniform(-0.9, 0.9, (steps, 2))
        start = rng.uniform(-5, 5, (1, 2))
        states = np.concatenate([start, start + 0.1 * actions.cumsum(0)])
        parts.append((states, actions, rng.integers(0, 2, steps), True, False))
    return Episodes.from_list(parts)


@pytest.mark.parametrize("seed", range(5))
def test_good_data_raises_no_finding(seed):
    assert check(walk(seed)) == []


@given(episode_sets)
def test_findings_are_whole_sentences(episodes):
    for sentence in check(episodes):
        assert sentence[0].isupper() or sentence[0].isdigit()
        assert sentence.endswith(".")


GOOD = walk(0)


def with_column(array, column, value):
    changed = np.array(array)
    changed[:, column] = value
    return changed


SINGLE = make_episodes(0, [1, 5, 1], 2)
DEFECTS = {
    "Observation column 1 never changes.": replace(GOOD, observations=with_column(GOOD.observations, 1, 3.0)),
    "Action columns 0 and 1 never change.": replace(GOOD, actions=np.zeros_like(GOOD.actions)),
    "Observation column 1 repeats column 0 number for number.": replace(
        GOOD, observations=with_column(GOOD.observations, 1, GOOD.observations[:, 0])
    ),
    "outside [-1, 1]: they run from": replace(GOOD, actions=GOOD.actions * 2),
    "100% of all action numbers are at the bound": replace(GOOD, actions=np.sign(GOOD.actions)),
    "All actions are whole numbers.": replace(GOOD, actions=np.sign(GOOD.actions)),
    "Every reward is 0: relabel": GOOD.relabel(np.zeros(GOOD.n_steps)),
    "Every step pays the same reward, -1:": GOOD.relabel(np.full(GOOD.n_steps, -1)),
    "Some numbers are huge: observations reach": replace(GOOD, observations=GOOD.observations * 1e7),
    "Some numbers are huge: observations reach 3e+38.": replace(
        GOOD, observations=np.sign(GOOD.observations) * np.float32(3e38)
    ),
    "Episode 8 is an exact copy of an earlier one.": GOOD.subset([0, 1, 2, 3, 4, 5, 6, 7, 3]),
    "Episodes 1 and 2 are exact copies of earlier ones.": GOOD.subset([0, 0, 0]),
    "Episodes 0 and 2 have only a single step.": SINGLE,
    "Every episode is a single step": make_episodes(0, [1, 1]),
    "Episodes 0, 1, 2, 3, 4, 5, 6 and 7 end neither terminated nor truncated.": replace(
        GOOD, terminated=np.zeros(len(GOOD), bool)
    ),
    "All 6,000 steps are one episode": walk(0, (6000,)),
}


@pytest.mark.parametrize("sentence", DEFECTS)
def test_each_defect_is_found(sentence):
    assert any(sentence in found for found in check(DEFECTS[sentence])), check(DEFECTS[sentence])


def test_actions_in_other_units_are_not_held_against_a_bound_of_1():
    degrees = replace(GOOD, actions=np.sign(GOOD.actions) * 20)
    assert not any("at the bound" in found for found in check(degrees))


def test_a_wrong_join_is_found_where_it_is():
    first, second = GOOD[0], GOOD[1]
    joined = (
        np.concatenate([first.observations[:-1], second.observations]),
        np.concatenate([first.actions, second.actions]),
        np.concatenate([first.rewards, second.rewards]),
        True,
        False,
    )
    distance = np.abs(first.observations[-2] - second.observations[0]).max()
    assert distance > GOOD.observations.std(0).max() / 2  # or there would be nothing to find
    found = check(concatenate([GOOD.subset(range(2, 8)), Episodes.from_list([joined])]))
    assert found == [
        "At step 49 of episode 6 the observation jumps far more than usual, as if two episodes were joined there."
    ]


def test_long_lists_are_cut_short():
    many = make_episodes(0, [1] * 30 + [2])
    assert any("Episodes 0, 1, 2, 3, 4, 5, 6, 7 and 22 more have only" in found for found in check(many))


@given(episode_sets)
def test_summary_counts(episodes):
    summary = summarise(episodes)
    endings = summary.terminated + summary.truncated + summary.terminated_and_truncated + summary.unended
    assert endings == summary.episodes == len(episodes)
    assert summary.steps == episodes.n_steps
    assert summary.returns.smallest <= summary.returns.median <= summary.returns.largest
    assert summary.rewarded_steps == np.mean([reward != 0 for e in episodes for reward in e.rewards])
    assert summary.rewarded_episodes == np.mean([(e.rewards != 0).any() for e in episodes])
    assert json.loads(json.dumps(summary.to_dict())) == summary.to_dict()


def printed(episodes, width=80):
    console = Console(width=width)
    with console.capture() as captured:
        console.print(render(summarise(episodes)))
    return captured.get()


def test_the_rendering_says_what_there_is():
    text = printed(GOOD)
    for part in ("8", "400 (50 in each episode)", "2 numbers", "8 terminated", "Nothing suspicious."):
        assert part in text
    assert "\t" not in text


def test_the_rendering_lists_findings_and_keeps_brackets():
    text = printed(replace(GOOD, actions=GOOD.actions * 2, source="npz:[odd].npz"))
    assert "npz:[odd].npz" in text
    assert "outside [-1, 1]" in text
    assert "Worth a look:" in text


def test_each_way_to_end_is_counted_once():
    ends = replace(GOOD.subset(range(5)), terminated=[1, 1, 0, 1, 0], truncated=[0, 1, 1, 1, 0])
    summary = summarise(ends)
    assert (summary.terminated, summary.truncated, summary.terminated_and_truncated, summary.unended) == (1, 1, 2, 1)
    assert "1 terminated, 1 truncated, 2 both, 1 neither" in printed(ends)
