"""Routes of the published program equal a slow port of it, number by number."""

from copy import copy

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from program_twin import TwinPolicy, edges_of, highest_path, shortest_path, values_of
from strategies import labelled_episodes

from vmg.graph import ProgramRoutes, reward, solve
from vmg.graph.kernels import program

DISCOUNTS = st.sampled_from([0.0, 0.8, 0.95])
FLAT = {"deadline": None, "max_examples": 60}


def solved(made, discount, limit=None):
    graph, episodes = made
    edges = edges_of(graph.labels, graph.lengths, episodes.rewards)
    routes = solve(graph, reward(graph, episodes), discount, paths="program", search_steps=limit)
    return graph, edges, routes


@settings(**FLAT)
@given(labelled_episodes(), DISCOUNTS)
def test_values_equal_the_port(made, discount):
    graph, edges, routes = solved(made, discount)
    assert isinstance(routes, ProgramRoutes)
    np.testing.assert_array_equal(routes.values, values_of(graph.n_vertices, edges, discount))


@settings(**FLAT)
@given(labelled_episodes(), DISCOUNTS)
def test_paths_to_the_best_vertices_equal_the_port(made, discount):
    graph, edges, routes = solved(made, discount)
    assert not routes.is_limited or graph.n_vertices == 1
    for number, end in enumerate(routes.best):
        for start in range(graph.n_vertices):
            way = routes.vertices(routes.way(start, number)).tolist()
            assert way == shortest_path(start, int(end), edges)


@settings(**FLAT)
@given(labelled_episodes(), DISCOUNTS, st.integers(1, 5))
def test_paths_along_sums_equal_the_port(made, discount, limit):
    graph, edges, routes = solved(made, discount, limit)
    for start in range(graph.n_vertices):
        entries = np.array(routes.route(start), np.int32)
        path, total = highest_path(start, edges, routes.values.astype(np.float16), limit)
        assert routes.vertices(entries).tolist() == path
        assert routes.total(entries) == total
        assert routes.targets[start] == path[-1]


@settings(**FLAT)
@given(
    labelled_episodes(max_vertices=20, max_steps=80),
    st.sampled_from([None, 3]),
    st.integers(1, 3),
    st.integers(0, 2**31),
)
def test_what_is_headed_for_equals_the_port(made, limit, subgoal_steps, seed):
    """A walk through the metric space that gets lost, stands still and jumps."""
    graph, edges, routes = solved(made, 0.8, limit)
    port = TwinPolicy(
        graph.features, edges, routes.values.astype(np.float16), subgoal_steps=subgoal_steps, search_steps=limit
    )
    tracker, rng = routes.tracker(subgoal_steps), np.random.default_rng(seed)
    feature = graph.features[rng.integers(graph.n_vertices)].copy()
    for _ in range(60):
        if rng.random() < 0.4:
            feature = (feature + rng.normal(0, rng.choice([0.3, 3.0]), feature.shape)).astype(np.float32)
        if port.path is None and copy(port)._path_from(feature) is None:
            break  # the program has nothing to follow and stops there
        entry, further = tracker.locate(feature, int(graph.nearest_vertices(feature[None])[0]))
        entries = np.array([entry], np.int32)
        ahead = routes.ahead(entries, subgoal_steps + further)
        assert (int(routes.vertices(entries)[0]), int(routes.vertices(ahead)[0])) == port.subgoal(feature)
        assert routes.ends(entries)[0] == port.path[-1]


@given(st.floats(-60_000, 60_000) | st.floats(-1e-3, 1e-3))
def test_half_rounds_as_float16(x):
    assert program.half(x) == float(np.float16(x))


@settings(**FLAT)
@given(labelled_episodes(), st.sampled_from([None, 2]))
def test_routes_can_be_written_and_read(made, limit):
    graph, _, routes = solved(made, 0.9, limit)
    again = ProgramRoutes.from_arrays(graph, routes.arrays())
    assert again.is_limited == routes.is_limited
    for vertex in range(graph.n_vertices):
        assert again.path(vertex) == routes.path(vertex)
