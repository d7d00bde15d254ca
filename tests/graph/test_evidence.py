from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from strategies import labelled_episodes

from vmg.graph import expected_steps, reward, solve, stitched


@settings(max_examples=150, deadline=None)
@given(labelled_episodes())
def test_pieces_are_recorded_and_cover_the_path_in_order(case):
    graph, episodes = case
    solution = solve(graph, reward(graph, episodes), 0.9)
    for vertex in range(graph.n_vertices):
        path = solution.path(vertex)
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
