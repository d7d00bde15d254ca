"""Everything computed twice: by the package, and by a twin in exact fractions, on data of every scale."""

import time
import warnings
from fractions import Fraction

import exact_twin as twin
import numpy as np
import pytest
from exact import compare

import vmg
from vmg.base.errors import VMGError
from vmg.graph import EdgeRewards, Merging, build, connect, iterate_values, solve
from vmg.graph.nearest import VertexIndex, squared_distances
from vmg.graph.ranking import by_rank
from vmg.graph.routes.edges import edge_weights
from vmg.graph.routes.recordings import slot_costs
from vmg.graph.values import Values

NEAR_ONE = [0.999, 0.99999, 0.9999999]


def test_random_data_sets_equal_the_twin():
    found = compare(seconds=10, seed=20_26, most=150)
    assert not found.failures, found.failures[:5]
    assert found.counts["paths"] > 1000
    assert found.counts["ways along recordings"] > 500


def graph_of(pairs, n):
    """A graph with just these edges."""
    places = np.arange(n, dtype=np.float32)[:, None]
    ends = np.array(pairs)
    episodes = vmg.Episodes.from_list([(places[list(pair)], [[0]], [0], False, True) for pair in pairs])
    return connect(Merging(places, np.zeros(n, np.int32), ends.ravel().astype(np.int32), 0.1), episodes)


def exactly(pairs, rewards, n, discount):
    edges = {pair: Fraction(float(r)) for pair, r in zip(pairs, rewards, strict=True)}
    moves, _ = twin.moves(n, edges, np.zeros(n, bool), 1.0, "loop")
    return twin.values(moves, discount)


def worst(pairs, rewards, n, discount):
    """The largest error of a value."""
    given = EdgeRewards(np.array(rewards, float), np.zeros(n, bool))
    values = iterate_values(graph_of(pairs, n), given, discount).values
    return max(abs(Fraction(float(values[v])) - w) for v, w in exactly(pairs, rewards, n, discount).items())


@pytest.mark.parametrize("paid", [0.3, -0.1, 1e6 / 3])
def test_rewards_that_differ_by_the_rounding_of_sums_are_equal(paid):
    places = np.array([[0.0], [0.1], [3.0], [6.0]], np.float32)
    episodes = vmg.Episodes.from_list([(places, np.zeros((3, 1)), [paid] * 3, False, True)])
    graph = build(places, episodes, 1.0, recordings=True)
    rewards, rounded = (
        EdgeRewards(np.append(first, paid), np.zeros(3, bool), slots=np.array([first, *[paid] * 4]))
        for first in (paid, np.nextafter(paid, np.inf))
    )
    assert np.array_equal(edge_weights(rounded, graph, "rewards"), edge_weights(rewards, graph, "rewards"))
    assert np.array_equal(slot_costs(graph, rounded, "rewards"), slot_costs(graph, rewards, "rewards"))


def test_values_that_should_cancel_are_equal_to_0():
    paid = np.array([0.0, (0.1 + 0.2 - 0.3) / 2, 1.0, -1.0])  # 0, what rounding leaves of it, and two to compare with
    assert paid[1] > 0
    order, _ = by_rank(Values(paid, np.zeros(4, bool), 1), "index")
    assert order.tolist() == [2, 0, 1, 3]


def test_the_nearest_of_points_whose_squares_float32_hardly_holds():
    points = (np.random.default_rng(0).normal(size=(200, 1)) * 1e-20).astype(np.float32)
    index = VertexIndex(points[:100])
    expected = [int(squared_distances(points[:100], point).argmin()) for point in points]
    assert [int(index.nearest(point[None])[0]) for point in points] == expected
    assert index.nearest(points).tolist() == expected


@pytest.mark.parametrize("discount", NEAR_ONE)
@pytest.mark.parametrize("better", [1e-3, 1e-9, 1e-12])
def test_of_two_circles_the_better_one_is_found_however_little_better(discount, better):
    """One circle pays 1 for every step, the other a little more: their values differ, one step does not show it."""
    pairs = [(0, 1), (0, 3), (1, 2), (2, 1), (3, 4), (4, 3)]
    assert worst(pairs, [0, 0, 1, 1, 1, 1 + 2 * better], 5, discount) <= Fraction(1, 10**6)


@pytest.mark.parametrize("discount", NEAR_ONE)
def test_a_positive_cycle_is_worth_its_series(discount):
    pairs = [(i, (i + 1) % 7) for i in range(7)]
    assert worst(pairs, [0.1, -0.3, 2.5, 0, 0, 1 / 3, -0.2], 7, discount) <= Fraction(1, 10**6)


@pytest.mark.parametrize("discount", NEAR_ONE)
@pytest.mark.parametrize("kind", ["scattered", "equal", "huge"])
def test_a_long_ring_ends_in_time(discount, kind):
    """Sums around it are rounded thousands of times: that must not look like progress for ever."""
    n = 20_000
    graph = graph_of([(i, (i + 1) % n) for i in range(n)], n)
    rng = np.random.default_rng(0)
    edges = {"scattered": rng.normal(size=n), "equal": np.ones(n), "huge": 1e6 + 1e6 * rng.normal(size=n)}[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        iterate_values(graph, EdgeRewards(edges, np.zeros(n, bool)), discount)  # compiled
        began = time.perf_counter()
        values = iterate_values(graph, EdgeRewards(edges, np.zeros(n, bool)), discount).values
    assert time.perf_counter() - began < 5
    after = edges[graph.tails] + discount * values[graph.heads]
    assert np.abs(after - values[graph.tails]).max() <= 1e-9 * np.abs(values).max()


def test_values_that_float64_cannot_hold_are_said():
    graph = graph_of([(0, 1), (1, 0)], 2)
    with pytest.warns(
        UserWarning, match=r"With a discount of 0\.9999999 values reach .* not to the tolerance of 1e-06"
    ):
        iterate_values(graph, EdgeRewards(np.array([1e6, -3e5]), np.zeros(2, bool)), 0.9999999)
    with pytest.raises(VMGError, match=r"values can reach 2e\+301, which is more than .*: scale the rewards"):
        iterate_values(graph, EdgeRewards(np.array([1e300, 0]), np.zeros(2, bool)), 0.95)


@pytest.mark.parametrize("third", [1 / 3, 0.1, 1e6 / 7, 1e-6 / 3])
def test_of_equally_cheap_paths_the_one_with_fewest_edges_is_taken(third):
    """Three edges that lose a third each, one that loses all: their sums are equal, though no float is a third."""
    pairs = [(0, 1), (1, 2), (2, 3), (0, 3), (3, 4), (4, 5)]
    rewards = [3 * third - third] * 3 + [0.0, 3 * third, 3 * third]
    routes = solve(graph_of(pairs, 6), EdgeRewards(np.array(rewards), np.zeros(6, bool)), 0.5)
    assert routes.path(0)[:2] == [0, 3]


@pytest.mark.parametrize("base", [1.0, -1e6, 1e6])
@pytest.mark.parametrize("better", [1, 2])
def test_rewards_a_millionth_apart_decide_between_two_paths(base, better):
    pairs = [(0, 1), (0, 2), (1, 3), (2, 3)]
    rewards = np.array([base + 1e-6 * (better == 1), base + 1e-6 * (better == 2), base, base])
    routes = solve(graph_of(pairs, 4), EdgeRewards(rewards, np.zeros(4, bool)), 0.9, search_steps=2)
    assert routes.path(0) == [0, better, 3]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_inputs_of_any_float_type_give_the_graph_of_their_float32(dtype):
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.choice([-0.5, 0.5], (200, 2)), 0).astype(dtype)
    paid = rng.integers(0, 2, 199).astype(dtype)
    episodes = vmg.Episodes.from_list([(walk, np.zeros((199, 1), dtype), paid, False, True)])
    graph = vmg.build(walk, episodes, 0.6)
    same = vmg.build(walk.astype(np.float32), episodes, 0.6)
    assert graph.features.dtype == np.float32
    assert graph.labels.tolist() == same.labels.tolist()
    assert solve(graph, vmg.reward(graph, episodes), 0.9).targets.dtype == np.int32


def test_parts_that_nothing_joins_are_solved_each_by_itself():
    pairs = [(0, 1), (1, 0), (2, 3), (3, 2)]
    given = EdgeRewards(np.array([1.0, 1, -1, -1]), np.zeros(4, bool))
    routes = solve(graph_of(pairs, 4), given, 0.9)
    assert routes.values == pytest.approx([10, 10, -10, -10])
    assert set(routes.targets[2:].tolist()) <= {2, 3}
