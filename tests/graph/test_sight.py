"""What recorded observations are like: what changes usually, what stands still, and how far apart two of them are."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vmg.data.episodes import Episodes
from vmg.graph import build
from vmg.graph.restricting import without
from vmg.graph.sight import ELSEWHERE, Sight


def recorded(observations):
    """The graph of one recording."""
    n = len(observations) - 1
    episodes = Episodes.from_list([(observations, np.zeros((n, 1)), np.zeros(n), False, True)])
    return build(episodes.observations[:, :1], episodes, 0.7, recordings=True)


@given(seed=st.integers(0, 10_000), share=st.floats(0, 1), pauses=st.floats(0, 0.9))
@settings(max_examples=30, deadline=None)
def test_an_object_changes_in_fewer_than_half_of_the_steps_in_which_anything_does(seed, share, pauses):
    """However long the robot pauses, what it moves all the time is its own."""
    rng = np.random.default_rng(seed)
    moves = rng.random((60, 1)) >= pauses
    changes = moves * rng.choice([-1.0, 1.0], (60, 3)) * (rng.random((60, 3)) < [1.0, share, 0.0])
    graph = recorded(np.vstack([np.zeros(3), changes.cumsum(0)]))
    few = 0 < 2 * np.count_nonzero(changes[:, 1]) < np.count_nonzero(moves)
    assert graph.sight.objects.tolist() == [False, few, False]


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_an_object_is_one_on_a_noisy_sensor_too(noise):
    """Carried now and then, in a step not much farther than the sensor trembles; a body that swings is none."""
    rng, n = np.random.default_rng(0), 2000
    carried = np.repeat(rng.random(n // 50) < 0.2, 50)
    walk = rng.normal(0, 0.03, n).cumsum()
    observations = np.column_stack([walk, np.sin(np.arange(n) * np.pi / 5), np.where(carried, 0.02, 0.0).cumsum()])
    assert recorded(observations + rng.normal(0, noise, (n, 3))).sight.objects.tolist() == [False, False, True]


def test_where_numbers_take_turns_none_is_an_object():
    """Joints that are moved one at a time: each stands still in most steps, and together they are the robot."""
    changes = np.tile(np.eye(3), (20, 1))
    assert not recorded(np.vstack([np.zeros(3), changes.cumsum(0)])).sight.objects.any()


@given(seed=st.integers(0, 10_000), columns=st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_gaps_equal_a_slow_twin(seed, columns):
    rng = np.random.default_rng(seed)
    observations = rng.normal(size=(30, columns)).cumsum(0)
    observations[:, 1:] *= rng.random(columns - 1) < 0.8  # some never change
    parts = [observations[:12], observations[12:]]
    episodes = Episodes.from_list(
        [(each, np.zeros((len(each) - 1, 1)), np.zeros(len(each) - 1), False, True) for each in parts]
    )
    graph = build(episodes.observations[:, :1], episodes, 0.7, recordings=True)
    changes = [np.diff(each.astype(np.float32), axis=0) for each in parts]
    usual = np.sqrt(np.mean(np.concatenate(changes).astype(np.float64) ** 2, axis=0))
    np.testing.assert_allclose(graph.sight.steps, usual, rtol=1e-5)
    for row, found in enumerate(graph.sight.offsets):
        apart = [
            (episodes.observations[row, c] - graph.states[graph.labels[row], c]) / usual[c]
            for c in range(columns)
            if usual[c] > 0
        ]
        assert found == pytest.approx(np.sqrt(np.mean(np.square(apart))) if apart else 0.0, rel=1e-4, abs=1e-6)


def test_blocks_of_rows_change_no_number(monkeypatch):
    rng = np.random.default_rng(0)
    episodes = Episodes.from_list([(rng.normal(size=(31, 3)), np.zeros((30, 1)), np.zeros(30), False, True)])
    graph = build(episodes.observations[:, :1], episodes, 0.7, recordings=True)
    whole = Sight.of(graph)
    monkeypatch.setattr("vmg.graph.sight.BLOCK", 5)
    parts = Sight.of(graph)
    for name in ("steps", "widths", "objects", "offsets"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-6)


def test_numbers_that_never_change_do_not_count():
    one, other = np.array([[1.0, 5.0]], np.float32), np.array([3.0, 9.0], np.float32)
    far = np.full(2, 100, np.float32)
    for steps, gap in (([0.5, 0.0], 4.0), ([0.0, 0.0], 0.0), ([0.5, 1.0], np.sqrt((16 + 16) / 2))):
        sight = Sight(np.array(steps, np.float32), far, np.zeros(2, bool), np.zeros(0))
        assert sight.gaps(one, other) == pytest.approx(gap)
    assert sight.gaps(one, other, np.array([1, 0], np.float32)) == pytest.approx(np.sqrt(16 / 2))


def test_a_graph_with_less_in_it_has_the_same_sight():
    episodes = Episodes.from_list([(np.arange(20.0)[:, None], np.zeros((19, 1)), np.zeros(19), False, True)])
    graph = build(episodes.observations, episodes, 1.0, recordings=True)
    seen = graph.sight
    assert without(graph, episodes.observations[:, 0] < 5, whole_vertices=False).sight is seen


def test_a_switch_is_far_where_an_object_is_elsewhere():
    """A door that is opened once is many of its steps away, and more than the numbers say all in all."""
    place, door = np.tile(np.arange(30.0), 4), np.repeat([0.0, 0.0, 0.0, 1.0], 30)
    observations = np.column_stack([place, door])
    episodes = Episodes.from_list([(observations, np.zeros((119, 1)), np.zeros(119), False, True)])
    graph = build(episodes.observations[:, :1], episodes, 0.5, recordings=True)
    assert graph.sight.objects.tolist() == [False, True]
    elsewhere = graph.states[graph.labels, 1] != door
    assert elsewhere.sum() in (30, 90)
    far = np.sqrt(119 / 2)  # the door's step is the root of 1 / 119, and it is one of two numbers
    np.testing.assert_allclose(graph.sight.offsets, np.where(elsewhere, far + ELSEWHERE, 0.0), rtol=1e-5, atol=1e-6)
