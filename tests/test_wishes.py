import pickle

import numpy as np
import pytest

from vmg.data.episodes import Episodes
from vmg.errors import VMGError
from vmg.wishes import both, by_file, by_function, by_rewards, near, weighted, where, within

OBSERVATIONS = np.array([[0, 0], [1, 0], [2, 0], [2, 1], [0, 5], [1, 5]], np.float32)


@pytest.fixture
def episodes():
    return Episodes(OBSERVATIONS, np.ones((4, 1)), np.zeros(4), [3, 1], [False, False], [True, True])


def test_an_array_and_a_function_pay_step_by_step(episodes):
    assert by_rewards([1, 2, 3, 4]).pays(episodes).tolist() == [1, 2, 3, 4]
    moved = by_function(lambda o_t, a_t, o_tp1: a_t[:, 0] * (o_tp1 - o_t).sum(1))
    assert moved.pays(episodes).tolist() == [1, 1, 1, 1]
    with pytest.raises(VMGError, match=r"is paid step by step: it holds nowhere, so it cannot be reached"):
        moved.holds(OBSERVATIONS)


def test_a_file_is_run_for_its_function(episodes, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("def high(o_t, a_t, o_tp1):\n    return o_tp1[:, 1]\n")
    assert by_file(f"{file}:high").pays(episodes).tolist() == [0, 0, 1, 5]
    with pytest.raises(VMGError, match=r"has no function 'low'"):
        by_file(f"{file}:low")
    with pytest.raises(VMGError, match=r"does not name a function: write file\.py:function"):
        by_file("mine.py")


def test_places_regions_and_predicates_hold_where_they_should_and_pay_for_arriving(episodes):
    fields = {"place": (0, 1), "height": (1,)}
    cases = [
        (near([2, 0.5], columns=(0, 1), tolerance=0.5), [2, 3]),
        (near([5], columns=(1,), tolerance=0), [4, 5]),
        (within([0.5, -1], [2, 0], columns=(0, 1)), [1, 2]),
        (where(lambda at: (at["height"][:, 0] > 0) & (at["place"][:, 0] > 0), fields), [3, 5]),
        (both([near([2], columns=(0,), tolerance=0), near([0], columns=(1,), tolerance=0.5)]), [2]),
    ]
    arrivals = [1, 2, 3, 5]
    for wish, rows in cases:
        assert np.flatnonzero(wish.holds(OBSERVATIONS)).tolist() == rows, wish.words
        assert wish.pays(episodes).tolist() == [float(row in rows) for row in arrivals], wish.words


def test_a_weighted_sum_adds_what_its_parts_pay(episodes):
    right = near([2], columns=(0,), tolerance=0)
    total = weighted([(2.0, right), (-1.0, by_rewards([1, 0, 0, 1]))])
    assert total.pays(episodes).tolist() == [-1, 2, 2, -1]
    assert "2 × " in total.words


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: near([1, 2], columns=(0,), tolerance=1), r"A place in 1 columns has as many numbers"),
        (lambda: near([np.nan], columns=(0,), tolerance=1), r"are finite numbers, not \[nan\] and 1"),
        (lambda: within([1], [0], columns=(0,)), r"low no higher than high"),
        (lambda: both([]), r"the list of wishes is empty"),
        (lambda: both([by_rewards([1])]), r"Only wishes that can be reached can hold at once"),
        (lambda: weighted([]), r"the sum is empty"),
        (lambda: where(lambda at: True, {}).holds(OBSERVATIONS), r"must give one number for each of 6 observations"),
    ],
)
def test_bad_wishes_are_answered_with_a_sentence(make, sentence):
    with pytest.raises(VMGError, match=sentence):
        make()


def fast(at):
    return at["place"][:, 0] > 1


def rightwards(o_t, a_t, o_tp1):
    return (o_tp1 - o_t)[:, 0]


def test_wishes_can_be_sent_to_other_processes(episodes, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("def high(o_t, a_t, o_tp1):\n    return o_tp1[:, 1]\n")
    place = near([2, 0], columns=(0, 1), tolerance=0.5)
    region = within([0, 0], [1, 1], columns=(0, 1))
    for wish in (
        by_rewards([1, 2, 3, 4]),
        by_function(rightwards),
        by_file(f"{file}:high"),
        place,
        region,
        where(fast, {"place": (0, 1)}),
        both([place, region]),
        weighted([(2.0, place), (1.0, by_file(f"{file}:high"))]),
    ):
        sent = pickle.loads(pickle.dumps(wish))
        assert sent.words == wish.words
        assert sent.pays(episodes).tolist() == wish.pays(episodes).tolist()
        assert (sent.distance is None) == (wish.distance is None)


def test_only_a_place_is_one_place():
    place = near([2, 0.5], columns=(0, 1), tolerance=0.5)
    assert place.place.columns == (0, 1)
    assert place.place.numbers.tolist() == [2, 0.5]
    assert both([place]).place is None
    assert by_rewards([1]).place is None
