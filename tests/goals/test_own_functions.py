"""A function of the user's that fails, or gives what cannot be used, is named with its file and line."""

import pickle
from functools import partial, wraps

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vmg.base.errors import VMGError
from vmg.data import Episodes
from vmg.data.own import OwnFunctionError
from vmg.goals import Objective, near, reward_file, reward_function, where

EPISODES = Episodes(np.zeros((6, 2)), np.ones((4, 1)), np.zeros(4), [3, 1], [False, False], [True, True])
FILE = """
import numpy as np

def helper(rows):
    return np.concatenate([rows, rows[:, 0]])

def breaks(o_t, a_t, o_tp1):
    return helper(o_t)

def gone(o_t, a_t, o_tp1):
    return np.sqrt(np.where(np.arange(len(o_t)) == 2, np.nan, 1.0))

def short(o_t, a_t, o_tp1):
    return o_t[1:, 0]

def nothing(o_t, a_t, o_tp1):
    o_t[:, 0]

def once(o_t):
    return o_t[:, 0]

def empty(o_t, a_t, o_tp1):
    raise RuntimeError
"""
WANTED = "must give one finite number per step: mend it there."


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(FILE)
    return file


@pytest.mark.parametrize(
    ("name", "did"),
    [
        ("breaks", "raised ValueError in line 5: all the input array"),
        ("gone", "gave nan in row 2 and such numbers in 1 of 4 rows"),
        ("short", "gave an array of the shape (3,) for 4 steps"),
        ("nothing", "gave None"),
        ("once", "raised TypeError: once() takes 1 positional argument but 3 were given"),
        ("empty", "raised RuntimeError in line 23"),
    ],
)
def test_what_a_reward_in_a_file_did_is_told(file, name, did):
    objective = reward_file(f"{file}:{name}")
    costly = near([1], columns=(0,), tolerance=0).costing(1.0, objective)
    for call in (lambda: objective.step_rewards(EPISODES), lambda: costly.penalties[0][1].step_rewards(EPISODES)):
        with pytest.raises(OwnFunctionError) as caught:
            call()
        said = str(caught.value)
        assert said.startswith(f"The function {name} of {file} {did}")
        assert said.endswith(WANTED)
        assert "repair or drop" not in said


@given(st.sampled_from([np.nan, np.inf, -np.inf]), st.integers(0, 3))
def test_no_number_that_is_not_finite_gets_through(number, row):
    def pays(o_t, a_t, o_tp1):
        return np.where(np.arange(len(o_t)) == row, number, 0.0)

    for call in (EPISODES.relabel, lambda function: reward_function(function).step_rewards(EPISODES)):
        with pytest.raises(VMGError, match=rf"The function pays of .*test_own_functions\.py gave .* in row {row} "):
            call(pays)


@pytest.mark.parametrize(
    ("predicate", "did"),
    [
        (lambda at: at["kettel"] > 0, r"raised KeyError in line \d+: 'kettel'\..* with the fields 'kettle', "),
        (lambda at: at["kettle"] > 0, r"gave an array of the shape \(6, 1\) for 6 observations"),
        (lambda at: at["kettle"][:, 0] * np.nan, r"gave nan in row 0 and such numbers in 6 of 6 rows"),
        (lambda at: "yes", r"gave 'yes'"),
    ],
)
def test_predicates_are_named_too(predicate, did):
    objective = where(predicate, {"kettle": (0,)})
    with pytest.raises(OwnFunctionError, match=rf"The function <lambda> of .*test_own_functions\.py {did}"):
        objective.reached(EPISODES.observations)


def test_fields_that_a_predicate_does_not_have_are_told_when_its_columns_are_asked():
    with pytest.raises(OwnFunctionError, match=r"raised KeyError in line \d+: 'kettel'"):
        _ = where(lambda at: at["kettel"] > 0, {"kettle": (0,)}).columns


def test_distances_and_rewards_of_objectives_of_ones_own_are_held_to_the_same():
    far = Objective("far", distance=lambda observations: observations)
    with pytest.raises(OwnFunctionError, match=r"gave an array of the shape \(6, 2\) for 6 observations"):
        far.distances(EPISODES.observations)
    endless = Objective("endless", distance=lambda observations: np.full(len(observations), np.inf))
    assert not endless.reached(EPISODES.observations).any()
    paid = Objective("paid", rewards=lambda episodes: [np.nan] * episodes.n_steps)
    with pytest.raises(OwnFunctionError, match=r"one finite number per recorded step: mend it there"):
        paid.step_rewards(EPISODES)


def test_wrapped_functions_are_named_as_they_are_and_builtin_ones_without_a_file():
    def pays(scale, o_t, a_t, o_tp1):
        return scale

    @wraps(pays)
    def wrapped(*arguments):
        return pays(1, *arguments)

    for function in (partial(pays, 1), wrapped):
        with pytest.raises(OwnFunctionError, match=r"The function pays of .*test_own_functions\.py gave an array of"):
            reward_function(function, name="mine").step_rewards(EPISODES)
    with pytest.raises(OwnFunctionError, match=r"The function len raised TypeError: len\(\) takes exactly one"):
        reward_function(len).step_rewards(EPISODES)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def f(:\n", "SyntaxError in line 1: "),
        ("\nimport nowhere_at_all\n", "ModuleNotFoundError in line 2: No module named 'nowhere_at_all'"),
        ("raise SystemExit(3)\n", "SystemExit in line 1: 3"),
    ],
)
def test_a_file_that_cannot_be_run_is_named_with_the_line(tmp_path, text, said):
    file = tmp_path / "mine.py"
    file.write_text(text)
    with pytest.raises(VMGError) as caught:
        reward_file(f"{file}:f")
    assert str(caught.value).startswith(f"{file} cannot be run: {said}")
    assert str(caught.value).endswith("Mend that file.")


def test_what_was_said_reaches_other_processes(file):
    with pytest.raises(OwnFunctionError) as caught:
        reward_file(f"{file}:gone").step_rewards(EPISODES)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    again = pickle.loads(pickle.dumps(reward_file(f"{file}:short")))
    with pytest.raises(OwnFunctionError, match=r"The function short of "):
        again.step_rewards(EPISODES)
