"""Whatever is asked for in other words is another request, with answers and episodes of its own."""

from dataclasses import fields, replace
from itertools import combinations

import pytest

from vmg.base.errors import VMGError
from vmg.runs.notes import Trial
from vmg.runs.requests import Request, check

GOALS = ("0=1", "1=2", "2=3")
OTHERS = {
    "reward": ["recorded", "vertices=3:1", "vertices=3:2", "FILE:pay", "FILE:cost"],
    "goal": [GOALS[:1], GOALS[1:2], GOALS, GOALS[::-1], ("0=-1",)],
    "any_goal": [True],
    "all_goals": [True],
    "before": [("1,2",), ("2,1",), ("1,2", "2,3")],
    "avoid": [("0=0..1",), ("edges=1-2",), ("0=0..1", "edges=1-2")],
    "penalty": ["FILE:pay", "FILE:cost"],
    "penalty_weight": [2.0, 2.00001],
    "skill": [("kettle",), ("kettle", "microwave")],
    "tolerance": [0.1, 0.10001],
    "kind": ["stay"],
}
"""Another value, or several, for every option that says what is asked for."""


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("pay = cost = abs\n")
    return file


def test_every_option_but_those_of_the_trial_is_part_of_what_is_asked():
    assert set(OTHERS) == {each.name for each in fields(Request)} - {each.name for each in fields(Trial)} - {"agents"}


def test_requests_that_differ_in_any_option_are_others(file):
    def in_file(value):
        return value.replace("FILE", str(file)) if isinstance(value, str) else value

    usual = Request()
    asked = [usual, *(replace(usual, **{name: in_file(value)}) for name in OTHERS for value in OTHERS[name])]
    assert all(one.content != other.content for one, other in combinations(asked, 2))


def test_how_it_is_tried_and_who_is_asked_is_no_part_of_it():
    tried = Request(agents=(1,), n_episodes=7, first_seed=5, executor="here", workers=1, kind="reach")
    assert tried.content == Request().content


def test_a_file_that_changes_is_another_request(file):
    request = Request(reward=f"{file}:pay")
    before = request.content
    file.write_text("pay = cost = sum\n")
    assert request.content != before


def test_a_weight_without_a_penalty_is_refused():
    with pytest.raises(VMGError, match="give it with --penalty FILE"):
        check(Request(goal=("0=1",), penalty_weight=2.0))
    check(Request(goal=("0=1",), penalty_weight=2.0, penalty="mine.py:cost"))
