"""The worked example of the method, number by number (radius 1, discount ½)."""

import numpy as np
import pytest

from vmg.data.episodes import Episodes
from vmg.graph import build, iterate_values, reward, solve

A = [(0, 0), (0.5, 0), (2, 0), (4, 0)]
B = [(0, 3), (2, 0.5), (4, 3), (4.5, 3), (4, 3.5), (6, 3)]
EDGES = [(0, 1), (1, 2), (1, 4), (3, 1), (4, 5)]


@pytest.fixture(scope="module")
def episodes():
    return Episodes.from_list(
        [(A, np.zeros((3, 1)), [0, 0, 1], False, True), (B, np.zeros((5, 1)), [0, 0, 2, 4, 0], False, True)]
    )


@pytest.fixture(scope="module")
def graph(episodes):
    return build(episodes.observations, episodes, 1.0)


def test_vertices_labels_and_edges(graph):
    assert graph.features.tolist() == [[0, 0], [2, 0], [4, 0], [0, 3], [4, 3], [6, 3]]
    assert graph.labels.tolist() == [0, 0, 1, 2, 3, 1, 4, 4, 4, 5]
    assert list(zip(graph.tails.tolist(), graph.heads.tolist(), strict=True)) == EDGES
    assert graph.counts.tolist() == [1, 1, 1, 1, 1, 1, 0, 0, 0, 2, 0]


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        ("mean", [0, 1, 1.5, 0, 1.5]),
        ("max", [0, 1, 2, 0, 2]),
        ("sum", [0, 1, 3, 0, 3]),
        ("rm", [0, 1, 0, 0, 0]),
        ("rm_h", [0, 1, 1.5, 0, 0]),
        ("rm_t", [0, 1, 0, 0, 1.5]),
    ],
)
def test_edge_rewards(graph, episodes, variant, expected):
    assert reward(graph, episodes, variant=variant).edges.tolist() == expected


def test_values_with_looping_dead_ends(graph, episodes):
    assert iterate_values(graph, reward(graph, episodes), 0.5).values == pytest.approx([1.5, 3, 2, 1.5, 3, 3], abs=1e-6)


def test_values_with_dead_ends_worth_nothing(graph, episodes):
    values = iterate_values(graph, reward(graph, episodes), 0.5, dead_ends="zero").values
    assert values == pytest.approx([1.125, 2.25, 0, 1.125, 1.5, 0], abs=1e-6)


def test_paths_and_subgoals(graph, episodes):
    routes = solve(graph, reward(graph, episodes), 0.5)
    assert routes.targets[0] == 5
    assert routes.path(0) == [0, 1, 4, 5]
    assert [int(subgoals(routes, np.array([0]), steps)[0]) for steps in (1, 2, 9)] == [1, 4, 5]
    assert routes.path(2) == [2]


def test_limited_search(graph, episodes):
    assert solve(graph, reward(graph, episodes), 0.5, search_steps=1).targets[0] == 1


def test_greedy_search_takes_the_best_edge_and_no_more(graph, episodes):
    routes = solve(graph, reward(graph, episodes), 0.5, search="greedy")
    assert [routes.path(v) for v in range(6)] == [[0, 1], [1, 4], [2], [3, 1], [4, 5], [5]]
    assert subgoals(routes, np.arange(6), 3).tolist() == [1, 4, 2, 1, 5, 5]


def subgoals(routes, vertices, steps):
    return routes.vertices(routes.ahead(vertices, steps))
