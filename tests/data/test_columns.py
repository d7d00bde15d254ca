"""What is said about the columns of an observation: each kind on data made to have it, and on others."""

import json
import shlex

import numpy as np
import pytest
from hypothesis import given, settings
from random_episodes import episode_sets
from rich.console import Console

from vmg.data import Episodes, check, describe_columns, render_columns
from vmg.data.columns import keys_without

NAMES = ("joints", "speeds", "hand", "goal", "unit", "degrees", "sum", "noise")
FIELDS = dict(zip(NAMES, ((0, 1), (2, 3), (4, 5), (6, 7), (8,), (9,), (10,), (11,)), strict=True))


@pytest.fixture(scope="module")
def arm():
    """Reaches of a two-link arm: joints, their speeds, the hand, the goal, and columns that repeat those."""
    rng = np.random.default_rng(0)
    parts = []
    for _ in range(60):
        joints, goal = rng.uniform(-2, 2, (2, 2))
        speeds, seen, actions = np.zeros(2), [], []
        for _ in range(41):
            hand = [np.cos(joints[0]) + np.cos(joints.sum()), np.sin(joints[0]) + np.sin(joints.sum())]
            seen.append([*joints, *speeds, *hand, *goal, 3, 57.3 * joints[0] - 9, joints.sum(), rng.normal()])
            actions.append(np.clip(2 * (goal - joints) - speeds + rng.normal(0, 0.5, 2), -1, 1))
            speeds = 0.8 * speeds + 0.3 * actions[-1]
            joints = joints + 0.1 * speeds
        parts.append((seen, actions[:-1], np.zeros(40), False, True))
    return Episodes.from_list(parts, fields=FIELDS)


def test_every_kind_of_column_is_found(arm):
    found = {each.name: each.remark for each in describe_columns(arm)}
    assert found == {
        "joints[0]": "", "joints[1]": "", "speeds[0]": "speed of joints[0]", "speeds[1]": "speed of joints[1]",
        "hand[0]": "follows from others", "hand[1]": "follows from others", "goal[0]": "fixed within each episode",
        "goal[1]": "fixed within each episode", "unit": "constant", "degrees": "copy of joints[0]",
        "sum": "follows from others", "noise": "",
    }  # fmt: skip


@settings(max_examples=30)
@given(episode_sets)
def test_ranges_are_those_of_the_data(episodes):
    columns = describe_columns(episodes)
    assert [each.column for each in columns] == list(range(episodes.observation_size))
    for each, values in zip(columns, episodes.observations.T, strict=True):
        assert (each.smallest, each.largest) == (values.min(), values.max())
        assert (each.remark == "constant") == (values.min() == values.max())
        assert json.loads(json.dumps(each.to_dict())) == each.to_dict()


def test_unrelated_columns_get_no_remark():
    rng = np.random.default_rng(0)
    walks = [
        (rng.normal(size=(41, 6)).cumsum(0), rng.normal(size=(40, 1)), np.zeros(40), False, True) for _ in range(40)
    ]
    assert all(each.remark == "" for each in describe_columns(Episodes.from_list(walks)))


def printed(columns):
    console = Console(width=100)
    with console.capture() as captured:
        console.print(render_columns(columns))
    return captured.get()


def test_a_narrow_observation_has_a_row_per_column(arm):
    lines = printed(describe_columns(arm)).splitlines()
    assert len(lines) == 13
    assert lines[3].split() == ["2", "speeds[0]", *lines[3].split()[2:4], "speed", "of", "joints[0]"]


def test_a_wide_observation_has_a_row_per_run_of_alike_columns():
    rng = np.random.default_rng(0)
    free = [rng.normal(size=(41, 20)).cumsum(0) for _ in range(40)]
    walks = [
        (np.hstack([x, x[:, :10] * 2, np.ones((41, 5))]), np.zeros((40, 1)), np.zeros(40), False, True) for x in free
    ]
    episodes = Episodes.from_list(walks, fields={"body": range(20), "legs": range(20, 30)})
    lines = [line.split() for line in printed(describe_columns(episodes)).splitlines()[1:]]
    assert [(line[0], line[1]) for line in lines[:2]] == [("0-19", "body"), ("20-29", "legs")]
    assert lines[1][-3:] == ["copies", "of", "others"]
    assert lines[2] == ["30-34", "1", "1", "constant"]


@pytest.mark.parametrize("seed", range(10))
def test_the_keys_said_keep_all_but_the_columns_named(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 12))
    gone = rng.permutation(size)[: rng.integers(1, size)]
    option, *parts = shlex.split(keys_without(gone, size))
    assert option == "--keys"
    kept = np.concatenate([np.arange(size)[slice(*map(int, part[1:-1].split(":")))] for part in parts])
    assert kept.tolist() == sorted(set(range(size)) - set(gone.tolist()))


def test_a_kind_that_episodes_share_is_told_from_a_goal_that_is_drawn():
    rng, parts = np.random.default_rng(0), []
    for kind in (0.0, 1.0, 2.0) * 5:
        fixed = np.array([kind, rng.normal()]) * np.ones((9, 1))
        parts.append((np.hstack([rng.normal(size=(9, 2)), fixed]), np.zeros((8, 1)), np.zeros(8), False, True))
    said = " ".join(check(Episodes.from_list(parts)))
    assert "Observation column 2 differs between episodes and never changes within one, with few values" in said
    assert "Observation column 3 differs between episodes and never changes within one, as a goal does." in said
    assert "Leave it out (--keys '[0:3]'" in said


@pytest.mark.parametrize(("first", "by"), [(0.0, 1.0), (700.0, -0.5), (0.0, 0.05)])
def test_a_clock_is_worth_a_look_and_a_walk_or_a_clock_alone_is_not(first, by):
    rng, parts, alone = np.random.default_rng(0), [], []
    for _ in range(12):
        clock = first + rng.integers(0, 3) * by + by * np.arange(41)[:, None]
        rest = (np.zeros((40, 1)), np.zeros(40), False, True)
        parts.append((np.hstack([rng.normal(size=(41, 2)).cumsum(0), clock]), *rest))
        alone.append((clock, *rest))
    said = " ".join(check(Episodes.from_list(parts)))
    assert "Observation column 2 changes by the same in every step, as a clock or a counter does" in said
    assert "Leave it out (--keys '[0:2]';" in said
    assert "clock" not in " ".join(check(Episodes.from_list(alone)))


def test_columns_that_look_like_a_goal_are_worth_a_look(arm):
    verbs = "differ between episodes and never change within one"
    sentence = f"Observation columns 6 and 7 (goal[0] and goal[1]) {verbs}, as a goal does."
    assert any(found.startswith(sentence) for found in check(arm))
