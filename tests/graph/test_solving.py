from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from strategies import absorbing_sets, labelled_episodes
from test_rewards import labelled_example
from twins import cheapest, exact_values, reachable

from vmg.base.errors import VMGError
from vmg.data.episodes import Episodes
from vmg.graph import EdgeRewards, EdgeRoutes, Merging, build, connect, iterate_values, reward, solve
from vmg.graph.routes.edges import edge_weights
from vmg.graph.routes.weights import in_whole_numbers

DISCOUNTS = st.sampled_from([0.0, 0.3, 0.5, 0.8, 0.95, 0.99])
SEARCH_STEPS = st.sampled_from([None, 0, 1, 2, 3, 12])


@st.composite
def problems(draw):
    """A small graph with rewards in quarters and perhaps goals."""
    graph, episodes = draw(labelled_episodes())
    edges = reward(graph, episodes, variant=draw(st.sampled_from(["mean", "max", "sum", "rm"]))).edges
    quarters = np.round(edges * 4) / 4
    return graph, EdgeRewards(quarters, draw(absorbing_sets(graph.n_vertices)))


def edge_dict(graph, rewards):
    return dict(zip(zip(graph.tails.tolist(), graph.heads.tolist(), strict=True), rewards.edges.tolist(), strict=True))


@settings(max_examples=150, deadline=None)
@given(problems(), DISCOUNTS, st.sampled_from(["loop", "zero"]))
def test_values_equal_an_independent_solver(problem, discount, dead_ends):
    graph, rewards = problem
    found = iterate_values(graph, rewards, discount, dead_ends=dead_ends, tolerance=1e-6)
    exact = exact_values(graph.n_vertices, edge_dict(graph, rewards), discount, rewards.absorbing, 1.0, dead_ends)
    assert np.abs(found.values - exact).max() <= 1e-6 + 1e-9


@settings(max_examples=150, deadline=None)
@given(problems(), DISCOUNTS, SEARCH_STEPS, st.sampled_from(["loop", "zero"]))
def test_targets_are_the_best_in_reach_with_the_documented_ties(problem, discount, search_steps, dead_ends):
    graph, rewards = problem
    solved = iterate_values(graph, rewards, discount, dead_ends=dead_ends)
    routes = solve(graph, rewards, discount, search_steps=search_steps, dead_ends=dead_ends)
    edges = list(edge_dict(graph, rewards))
    for vertex in range(graph.n_vertices):
        within = reachable(graph.n_vertices, edges, rewards.absorbing, vertex, search_steps)
        best = max(solved.values[v] for v in within)
        tied = [v for v in within if best - solved.values[v] <= 1e-6 * abs(best)]
        assert routes.targets[vertex] == min(tied, key=lambda v: (not solved.looping[v], v))


@settings(max_examples=150, deadline=None)
@given(problems(), DISCOUNTS, st.sampled_from(["loop", "zero"]))
def test_nearest_ties_go_to_the_equally_good_vertex_that_is_reached_most_cheaply(problem, discount, dead_ends):
    graph, rewards = problem
    solved = iterate_values(graph, rewards, discount, dead_ends=dead_ends)
    routes = solve(graph, rewards, discount, ties="nearest", dead_ends=dead_ends)
    edges, weights = list(edge_dict(graph, rewards)), edge_weights(rewards, graph, "rewards")
    weight_of = dict(zip(edges, weights.tolist(), strict=True))
    for vertex in range(graph.n_vertices):
        within = reachable(graph.n_vertices, edges, rewards.absorbing, vertex, None)
        best = max(solved.values[v] for v in within)
        tied = [v for v in within if best - solved.values[v] <= 1e-6 * abs(best)]
        if any(solved.looping[v] for v in tied):
            tied = [v for v in tied if solved.looping[v]]
        cost = min(cheapest(edges, weights, rewards.absorbing, vertex, v) for v in tied)
        path = routes.path(vertex)
        assert path[-1] == routes.targets[vertex]
        assert path[-1] in tied
        assert all(hop in weight_of for hop in pairwise(path))
        assert (sum(weight_of[hop] for hop in pairwise(path)), len(path) - 1) == cost


@settings(max_examples=150, deadline=None)
@given(problems(), SEARCH_STEPS, st.sampled_from(["rewards", "hops"]))
def test_every_hop_is_an_edge_and_no_path_is_better(problem, search_steps, path_weights):
    graph, rewards = problem
    routes = solve(graph, rewards, 0.8, search_steps=search_steps, path_weights=path_weights)
    edges = list(edge_dict(graph, rewards))
    weights = edge_weights(rewards, graph, path_weights)
    weight_of = dict(zip(edges, weights.tolist(), strict=True))
    for vertex in range(graph.n_vertices):
        path = routes.path(vertex)
        hops = list(pairwise(path))
        assert (path[0], path[-1]) == (vertex, routes.targets[vertex])
        assert all(hop in weight_of and not rewards.absorbing[hop[0]] for hop in hops)
        best = cheapest(edges, weights, rewards.absorbing, vertex, path[-1])
        assert (sum(weight_of[hop] for hop in hops), len(hops)) == best
        for here, following in hops:  # ties: the lowest next vertex that still leads along a best path
            rest = cheapest(edges, weights, rewards.absorbing, here, path[-1])
            equal = [
                b for a, b in edges if a == here and (tail := cheapest(edges, weights, rewards.absorbing, b, path[-1]))
                and (tail[0] + weight_of[a, b], tail[1] + 1) == rest
            ]  # fmt: skip
            assert following == min(equal)


@pytest.mark.parametrize("search_steps", [None, 1, 3])
def test_paths_of_a_larger_graph(search_steps):
    """Large enough that limited search passes many vertices on the way to somebody else's target."""
    rng = np.random.default_rng(3)
    pairs = sorted({(int(a), int(b)) for a, b in rng.integers(0, 60, (150, 2)) if a != b})
    graph = graph_of(pairs, 60)
    rewards = EdgeRewards(rng.integers(0, 9, len(pairs)) / 8, np.arange(60) == 17)
    routes = solve(graph, rewards, 0.9, search_steps=search_steps)
    weights = edge_weights(rewards, graph, "rewards")
    weight_of = dict(zip(pairs, weights.tolist(), strict=True))
    assert (len(routes.via) > 16) == (search_steps is not None)
    for vertex in range(60):
        path = routes.path(vertex)
        cost = (sum(weight_of[hop] for hop in pairwise(path)), len(path) - 1)
        assert cost == cheapest(pairs, weights, rewards.absorbing, vertex, int(routes.targets[vertex]))


@pytest.mark.parametrize("levels", [2, 9])
@pytest.mark.parametrize("search_steps", [2, 6, 9])
def test_limited_paths_of_a_graph_larger_than_what_is_looked_at_forwards(levels, search_steps):
    """Every path weighs, and has as many edges, as the one scipy finds in the whole graph."""
    rng = np.random.default_rng(search_steps)
    n = 3000
    pairs = sorted({(int(a), int(b)) for a, b in rng.integers(0, n, (3 * n, 2)) if a != b})
    graph = graph_of(pairs, n)
    worth = rng.integers(0, levels, len(pairs)) * (rng.random(len(pairs)) < (0.02 if levels == 2 else 1.0))
    rewards = EdgeRewards(worth / 8, rng.random(n) < 0.01)
    routes = solve(graph, rewards, 0.9, search_steps=search_steps)
    costs = edge_weights(rewards, graph, "rewards") * 2**12 + 1.0  # one edge more, the same weight: dearer
    left = ~rewards.absorbing[graph.tails]
    backwards = csr_array((costs[left], (graph.heads[left], graph.tails[left])), (n, n))
    ends, end_of = np.unique(routes.targets, return_inverse=True)
    cost_of = dict(zip(pairs, costs.tolist(), strict=True))
    found = [sum(cost_of[hop] for hop in pairwise(routes.path(vertex))) for vertex in range(n)]
    assert len(ends) > 100
    assert found == dijkstra(backwards, indices=ends)[end_of, np.arange(n)].tolist()


def graph_of(pairs, n):
    """A graph with just these edges: one episode of one step each."""
    positions = np.arange(n, dtype=np.float32)[:, None]
    ends = np.array(pairs)
    episodes = Episodes.from_list([(positions[list(pair)], [[0]], [0], False, True) for pair in pairs])
    return connect(Merging(positions, np.zeros(n, np.int32), ends.ravel().astype(np.int32), 0.1), episodes)


@settings(max_examples=50, deadline=None)
@given(problems(), SEARCH_STEPS)
def test_subgoals_are_places_on_the_path(problem, search_steps):
    graph, rewards = problem
    routes = solve(graph, rewards, 0.8, search_steps=search_steps)
    vertices = np.arange(graph.n_vertices)
    for steps in (0, 1, 2, 5, 100):
        found = routes.vertices(routes.ahead(vertices, steps))
        paths = [routes.path(v) for v in vertices]
        assert found.tolist() == [path[min(steps, len(path) - 1)] for path in paths]


@settings(max_examples=50, deadline=None)
@given(problems(), DISCOUNTS)
def test_greedy_search_takes_the_best_edge(problem, discount):
    graph, rewards = problem
    routes = solve(graph, rewards, discount, search="greedy")
    for vertex in range(graph.n_vertices):
        worth = [
            (-(r + discount * routes.values[b]), b)
            for (a, b), r in edge_dict(graph, rewards).items()
            if a == vertex and not rewards.absorbing[a]
        ]
        assert routes.path(vertex) == ([vertex, min(worth)[1]] if worth else [vertex])


@settings(max_examples=50, deadline=None)
@given(problems(), DISCOUNTS)
def test_weights_order_paths_as_the_rewards_do(problem, discount):
    graph, rewards = problem
    followed = ~rewards.absorbing[graph.tails]
    if not followed.any():
        return
    weights = edge_weights(rewards, graph, "rewards")[followed]
    gaps = rewards.edges[followed].max() - rewards.edges[followed]
    expected = gaps / np.ptp(gaps) if np.ptp(gaps) else np.ones_like(gaps)
    assert weights / weights.max() == pytest.approx(expected, abs=2**-36)


def test_solving_again_equals_solving_afresh_and_routes_are_16_bytes_per_vertex():
    rng = np.random.default_rng(0)
    points = np.cumsum(rng.normal(size=(2001, 3)), 0).astype(np.float32)
    episodes = Episodes.from_list([(points, np.zeros((2000, 1)), rng.random(2000), False, True)])
    graph = build(points, episodes, 1.5)
    first = solve(graph, reward(graph, episodes), 0.9)
    solve(graph, reward(graph, rng.random(2000)), 0.9)
    again = solve(graph, reward(graph, episodes), 0.9)
    arrays = first.arrays()
    for name, array in again.arrays().items():
        assert (arrays[name] == array).all()
    assert sum(array.nbytes for array in arrays.values()) == 16 * graph.n_vertices


@settings(max_examples=50, deadline=None)
@given(problems(), SEARCH_STEPS)
def test_routes_are_the_same_again_from_what_is_kept_of_them(problem, search_steps):
    graph, rewards = problem
    routes = solve(graph, rewards, 0.8, search_steps=search_steps)
    again = EdgeRoutes.from_arrays(graph, routes.arrays())
    entries = np.arange(len(routes.following), dtype=np.int32)
    assert [again.route(entry) for entry in entries] == [routes.route(entry) for entry in entries]
    assert again.ends(entries).tolist() == [routes.path_from(entry)[-1] for entry in entries]
    assert (again.states(entries) == graph.states[routes.vertices(entries)]).all()
    assert (again.enter(graph.features, entries[: graph.n_vertices]) == entries[: graph.n_vertices]).all()


@pytest.mark.parametrize(
    ("name", "array", "sentence"),
    [
        ("hops", [1, 2, 3], "do not fit the graph"),
        ("hops", [1, 2], "do not fit the graph"),
        ("hops", [1.0, 2.0, 2.0], "do not fit the graph"),
        ("hops", [1, 0, 2], "run in a circle"),
        ("hops", [1, 2, 0], "run in a circle"),
        ("targets", [0, 0, -1], "do not fit the graph"),
        ("passed", [5], "do not fit the graph"),
        ("values", [0.0], "do not fit the graph"),
    ],
)
def test_damaged_routes_are_refused(name, array, sentence):
    graph, episodes = labelled_example()
    arrays = solve(graph, reward(graph, episodes), 0.5).arrays()
    with pytest.raises(VMGError, match=sentence):
        EdgeRoutes.from_arrays(graph, {**arrays, name: np.array(array)})


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"discount": 1.0}, r"discount must be a number in \[0, 1\), not 1\.0\."),
        ({"discount": -0.1}, r"discount must be a number in \[0, 1\), not -0\.1\."),
        ({"discount": float("nan")}, r"discount must be a number in \[0, 1\), not nan\."),
        ({"discount": 0.5, "tolerance": 0.0}, r"tolerance must be a finite number above 0, not 0\.0\."),
        ({"discount": 0.5, "search_steps": -1}, r"search_steps must be a finite number of at least 0 or None, not -1"),
        ({"discount": 0.5, "search": "wide"}, r"search must be one of 'multi-step', 'greedy', not 'wide'"),
        ({"discount": 0.5, "ties": "x"}, r"ties must be one of 'index', 'nearest', not 'x'"),
        ({"discount": 0.5, "ties": "nearest", "search_steps": 3}, r"nearest vertex only where search_steps is None"),
        ({"discount": 0.5, "path_weights": "x"}, r"path_weights must be one of 'rewards', 'hops', not 'x'"),
        ({"discount": 0.5, "dead_ends": "x"}, r"dead_ends must be one of 'loop', 'zero', not 'x'"),
        ({"discount": 0.5, "paths": "x"}, r"paths must be one of 'edges', .*'recordings'.*, not 'x'"),
    ],
)
def test_bad_options_are_answered_with_a_sentence(options, sentence):
    graph, episodes = labelled_example()
    with pytest.raises(VMGError, match=sentence):
        solve(graph, reward(graph, episodes), **options)


@settings(max_examples=200, deadline=None)
@example([Fraction(1, 7), Fraction(1, 9), Fraction(1, 10), Fraction(1, 11), Fraction(1_525_202)])
@given(
    st.lists(st.builds(Fraction, st.integers(0, 2_000_000), st.integers(1, 12)), min_size=2, max_size=8, unique=True)
)
def test_weights_are_in_the_very_proportion_of_rewards_that_are_means_of_large_whole_numbers(costs):
    """The sum of some is that of others exactly when it is so of the rewards."""
    unit = float(max(costs))
    weights = in_whole_numbers(np.array([float(cost) for cost in costs]) / unit, 2.0**-50, 1000, unit).tolist()
    assert all(weights[0] * b == w * costs[0] for w, b in zip(weights, costs, strict=True))
