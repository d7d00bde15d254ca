import pickle

import numpy as np
import pytest

from vmg.base.errors import VMGError
from vmg.data.episodes import Episodes
from vmg.goals import (
    Objective,
    all_of,
    any_of,
    in_order,
    near,
    recorded_rewards,
    reward_file,
    reward_function,
    step_rewards,
    weighted,
    where,
    within,
)

TWO = [near([each], columns=(0,), tolerance=0, name=name) for each, name in ((1, "a"), (2, "b"))]
OBSERVATIONS = np.array([[0, 0], [1, 0], [2, 0], [2, 1], [0, 5], [1, 5]], np.float32)


@pytest.fixture
def episodes():
    return Episodes(OBSERVATIONS, np.ones((4, 1)), [0.5, 0, 0, 2], [3, 1], [False, False], [True, True])


def test_the_data_an_array_and_a_function_pay_step_by_step(episodes):
    assert recorded_rewards().step_rewards(episodes).tolist() == [0.5, 0, 0, 2]
    assert step_rewards([1, 2, 3, 4]).step_rewards(episodes).tolist() == [1, 2, 3, 4]
    moved = reward_function(lambda o_t, a_t, o_tp1: a_t[:, 0] * (o_tp1 - o_t).sum(1), name="moved")
    assert moved.step_rewards(episodes).tolist() == [1, 1, 1, 1]
    for objective in (moved, recorded_rewards()):
        with pytest.raises(VMGError, match=r"defines only rewards, no goal region: use near, within or where"):
            objective.reached(OBSERVATIONS)


def test_a_file_is_run_for_its_function(episodes, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("def high(o_t, a_t, o_tp1):\n    return o_tp1[:, 1]\n")
    assert reward_file(f"{file}:high").step_rewards(episodes).tolist() == [0, 0, 1, 5]
    with pytest.raises(VMGError, match=r"has no function 'low'"):
        reward_file(f"{file}:low")
    with pytest.raises(VMGError, match=r"does not name a function: write file\.py:function"):
        reward_file("mine.py")


def test_places_regions_and_predicates_are_reached_where_they_should_and_pay_for_arriving(episodes):
    fields = {"place": (0, 1), "height": (1,)}
    cases = [
        (near([2, 0.5], columns=(0, 1), tolerance=0.5), [2, 3]),
        (near([5], columns=(1,), tolerance=0), [4, 5]),
        (within([0.5, -1], [2, 0], columns=(0, 1)), [1, 2]),
        (where(lambda at: (at["height"][:, 0] > 0) & (at["place"][:, 0] > 0), fields), [3, 5]),
        (all_of([near([2], columns=(0,), tolerance=0), near([0], columns=(1,), tolerance=0.5)]), [2]),
        (any_of([near([2], columns=(0,), tolerance=0), near([5], columns=(1,), tolerance=0.5)]), [2, 3, 4, 5]),
    ]
    arrivals = [1, 2, 3, 5]
    for objective, rows in cases:
        assert np.flatnonzero(objective.reached(OBSERVATIONS)).tolist() == rows, objective.name
        paid = [float(row in rows) for row in arrivals]
        assert objective.step_rewards(episodes).tolist() == paid, objective.name


@pytest.mark.parametrize("number", [1.013, 0.1, -273.15, 1e-9, 1e15, 0.0, 123456789.0])
def test_a_number_is_reached_where_it_was_recorded(number):
    """Observations hold fewer digits than a number that is written down."""
    recorded = np.array([[number]], np.float32)
    found = near([number], columns=(0,), tolerance=0), within([number], [number], columns=(0,))
    for objective in found:
        assert objective.reached(recorded)[0]
        assert not objective.reached(np.nextafter(recorded, np.float32(-np.inf)))[0]


def test_a_weighted_sum_adds_what_its_parts_pay(episodes):
    right = near([2], columns=(0,), tolerance=0)
    total = weighted([(2.0, right), (-1.0, step_rewards([1, 0, 0, 1]))])
    assert total.step_rewards(episodes).tolist() == [-1, 2, 2, -1]
    assert "2 × " in total.name


def test_all_of_keeps_its_parts_their_order_and_their_rules():
    a, b, c = (near([each], columns=(0,), tolerance=0, name=f"x = {each}") for each in (0, 1, 2))
    wall = within([3], [4], columns=(0,), name="the wall")
    c = c.costing(2.0, wall)
    both = all_of([a.avoiding(wall), b, c], before=[(b, c)])
    assert [part.name for part in both.parts][1] == "x = 1"
    assert both.before == ((1, 2),)
    assert both.avoided == (wall,)
    assert both.penalties == ((2.0, wall),)
    assert both.staying().parts == both.parts
    assert (both.staying().kind, both.staying().before) == ("stay", both.before)


def test_the_columns_an_objective_depends_on():
    fields = {"place": (0, 1), "height": (1,)}
    assert near([2, 0], columns=(0, 1), tolerance=1).columns == (0, 1)
    assert within([2], [3], columns=(1,)).columns == (1,)
    assert where(lambda at: at["height"][:, 0] > 1 / at["height"][:, 0], fields).columns == (1,)
    assert all_of([near([2], columns=(1,), tolerance=1), within([2], [3], columns=(0,))]).columns == (1, 0)
    mine = Objective("mine", distance=lambda observations: observations[:, 0])
    assert mine.columns is None
    assert any_of([mine, near([2], columns=(1,), tolerance=1)]).columns is None


def test_staying_is_the_same_objective_of_another_kind(episodes):
    place = near([2, 0], columns=(0, 1), tolerance=0.5, name="there")
    staying = place.staying()
    assert (place.kind, staying.kind) == ("reach", "stay")
    assert (staying.name, staying.tolerance, staying.place) == (place.name, place.tolerance, place.place)
    assert staying.reached(OBSERVATIONS).tolist() == place.reached(OBSERVATIONS).tolist()


def test_stages_are_named_in_order():
    assert in_order([recorded_rewards()]).name == "the recorded rewards"
    two = in_order([near([each], columns=(0,), tolerance=0, name=f"x = {each}") for each in (1, 2)])
    assert two.name == "x = 1, then x = 2"


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: near([1, 2], columns=(0,), tolerance=1), r"A place in 1 columns has as many numbers"),
        (lambda: near([np.nan], columns=(0,), tolerance=1), r"are finite numbers, not \[nan\] and 1"),
        (lambda: near([1], columns=(0,), tolerance=-1), r"are finite numbers, not \[1\.0\] and -1"),
        (lambda: within([1], [0], columns=(0,)), r"low no higher than high"),
        (lambda: all_of([]), r"the list of objectives is empty"),
        (lambda: all_of([step_rewards([1])]), r"Only objectives that can be reached can hold at once"),
        (lambda: all_of(TWO, before=[(TWO[0], TWO[0])]), r"would have to come before itself"),
        (lambda: all_of(TWO, before=[TWO, TWO[::-1]]), r"would have to come before itself"),
        (lambda: all_of(TWO[:1], before=[TWO]), r"`before` names 'b', which is not one of the objectives wanted"),
        (lambda: any_of([]), r"the list of objectives is empty"),
        (lambda: any_of([step_rewards([1])]), r"Only objectives that can be reached can be one or the other"),
        (lambda: weighted([]), r"the sum is empty"),
        (lambda: in_order([]), r"the list of objectives is empty"),
        (lambda: where(lambda at: True, {}).reached(OBSERVATIONS), r"must give one true or false per observation"),
    ],
)
def test_bad_objectives_are_answered_with_a_sentence(make, sentence):
    with pytest.raises(VMGError, match=sentence):
        make()


def fast(at):
    return at["place"][:, 0] > 1


def rightwards(o_t, a_t, o_tp1):
    return (o_tp1 - o_t)[:, 0]


def test_objectives_can_be_sent_to_other_processes(episodes, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("def high(o_t, a_t, o_tp1):\n    return o_tp1[:, 1]\n")
    place = near([2, 0], columns=(0, 1), tolerance=0.5)
    region = within([0, 0], [1, 1], columns=(0, 1))
    for objective in (
        recorded_rewards(),
        step_rewards([1, 2, 3, 4]),
        reward_function(rightwards),
        reward_file(f"{file}:high"),
        place,
        region.staying(),
        where(fast, {"place": (0, 1)}),
        all_of([place, region], before=[(place, region)]),
        any_of([place, region]),
        place.avoiding(region).costing(2.0, region),
        weighted([(2.0, place), (1.0, reward_file(f"{file}:high"))]),
    ):
        sent = pickle.loads(pickle.dumps(objective))
        assert (sent.name, sent.kind) == (objective.name, objective.kind)
        assert sent.step_rewards(episodes).tolist() == objective.step_rewards(episodes).tolist()
        assert (sent.distance is None) == (objective.distance is None)
    stages = pickle.loads(pickle.dumps(in_order([place, region])))
    assert stages.name == f"{place.name}, then {region.name}"


def test_only_a_place_is_one_place():
    place = near([2, 0.5], columns=(0, 1), tolerance=0.5)
    assert place.place.columns == (0, 1)
    assert place.place.numbers.tolist() == [2, 0.5]
    assert all_of([place]).place is None
    assert step_rewards([1]).place is None
