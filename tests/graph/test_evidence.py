from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import labelled_episodes
from test_recordings import recorded
from twins import reachable

from vmg.graph import expected_steps, followed, reachable_from, reaching, reward, solve, stitched


@settings(max_examples=150, deadline=None)
@given(labelled_episodes())
def test_pieces_are_recorded_and_cover_the_path_in_order(case):
    graph, episodes = case
    routes = solve(graph, reward(graph, episodes), 0.9)
    for vertex in range(graph.n_vertices):
        path = routes.path(vertex)
        walked = [vertex]
        for piece in stitched(graph, path):
            row = int(episodes.first_observation[piece.episode]) + piece.first
            labels = graph.labels[row : row + piece.last - piece.first + 2].tolist()
            assert 0 <= piece.first <= piece.last < episodes.lengths[piece.episode]
            assert labels[0] == walked[-1]
            walked += [b for a, b in pairwise(labels) if a != b]
        assert walked == path


@settings(max_examples=50, deadline=None)
@given(labelled_episodes())
def test_expected_steps_are_the_mean_steps_of_a_visit_summed(case):
    graph, episodes = case
    for tail, head in zip(graph.tails.tolist(), graph.heads.tolist(), strict=True):
        leaving = sum(graph.labels[r] == tail != graph.labels[r + 1] for r in episodes.step_observation)
        inside = sum(graph.labels[r] == tail == graph.labels[r + 1] for r in episodes.step_observation)
        assert expected_steps(graph, [tail, head]) == pytest.approx((leaving + inside) / leaving)
    assert expected_steps(graph, [0]) == 0
    assert np.isfinite(expected_steps(graph, [0]))


@settings(max_examples=100, deadline=None)
@given(labelled_episodes(), st.sets(st.integers(0, 6)))
def test_what_can_be_reached_is_what_a_search_finds(case, wanted):
    graph, _ = case
    edges = list(zip(graph.tails.tolist(), graph.heads.tolist(), strict=True))
    found = [reachable(graph.n_vertices, edges, [False] * graph.n_vertices, v, None) for v in range(graph.n_vertices)]
    mask = np.isin(np.arange(graph.n_vertices), list(wanted))
    assert reaching(graph, mask).tolist() == [bool(there & set(np.flatnonzero(mask).tolist())) for there in found]
    for vertex, there in enumerate(found):
        assert set(np.flatnonzero(reachable_from(graph, vertex)).tolist()) == there


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000))
def test_pieces_of_a_way_along_recordings_are_its_steps_in_order(seed):
    episodes, graph = recorded(seed)
    routes = solve(graph, reward(graph, episodes), 0.9, paths="recordings", switch_cost=2.0, ties="nearest")
    firsts = episodes.first_observation.tolist()
    for row in range(len(graph.labels)):
        rows = routes.route(row)
        walked = [
            (firsts[piece.episode] + step, firsts[piece.episode] + step + 1)
            for piece in routes.pieces(row)
            for step in range(piece.first, piece.last + 1)
        ]
        starts = set(episodes.step_observation.tolist())
        assert walked == [(a, b) for a, b in pairwise(rows) if b == a + 1 and a in starts]
        assert followed(graph, rows) == routes.pieces(row)
        assert routes.cost(row) == len(walked)
