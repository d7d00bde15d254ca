"""The frontier of a graph: where it knows least, among what can be reached."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import labelled_episodes

from vmg.goals.frontier import AROUND, frontier, novelty, sparseness
from vmg.graph.evidence import hops_from, reachable_from


@settings(max_examples=50, deadline=None)
@given(labelled_episodes(), st.integers(0, 2**32 - 1))
def test_what_is_drawn_can_be_reached(case, seed):
    graph, _ = case
    rng = np.random.default_rng(seed)
    for start in range(graph.n_vertices):
        there = frontier(graph, {}, start, rng)
        assert reachable_from(graph, start)[there.vertex]
        assert there.hops == hops_from(graph, start)[there.vertex]
        assert there.objective.name == f"the vertex {there.vertex}"


@settings(max_examples=50, deadline=None)
@given(labelled_episodes())
def test_novelty_counts_states_and_untried_ways(case):
    graph, _ = case
    worth, apart = novelty(graph), sparseness(graph.features)
    for vertex in range(graph.n_vertices):
        states = int((graph.labels == vertex).sum())
        edges = range(graph.first_edge[vertex], graph.first_edge[vertex + 1])
        once = sum(graph.counts[edge] == 1 for edge in edges)
        assert worth[vertex] == (1 + once + (2 if not edges else 0)) / states * apart[vertex]


@settings(max_examples=50, deadline=None)
@given(labelled_episodes())
def test_hops_are_those_of_a_search_step_by_step(case):
    graph, _ = case
    for start in range(graph.n_vertices):
        hops, last = {start: 0}, [start]
        while last:
            following = []
            for vertex in last:
                for head in graph.heads[graph.first_edge[vertex] : graph.first_edge[vertex + 1]].tolist():
                    if head not in hops:
                        hops[head] = hops[vertex] + 1
                        following.append(head)
            last = following
        assert hops_from(graph, start).tolist() == [hops.get(vertex, -1) for vertex in range(graph.n_vertices)]


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.floats(1e-3, 1e3))
def test_sparseness_is_the_mean_distance_to_the_nearest_others_in_any_units(seed, n, scale):
    points = np.random.default_rng(seed).normal(size=(n, 3)).astype(np.float32)
    apart = np.linalg.norm(points[:, None].astype(float) - points[None], axis=2)
    nearest = np.sort(apart, axis=1)[:, 1 : AROUND + 1]
    expected = nearest.mean(1) / np.median(nearest.mean(1)) if n > 1 else np.ones(1)
    np.testing.assert_allclose(sparseness(points), expected, rtol=1e-4)
    np.testing.assert_allclose(sparseness(points * np.float32(scale)), expected, rtol=1e-3)


def test_points_that_are_all_the_same_are_alike():
    assert sparseness(np.zeros((5, 2), np.float32)).tolist() == [1] * 5
