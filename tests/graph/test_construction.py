from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import features, labelled_episodes
from twins import steps_of

from vmg.base.errors import VMGError
from vmg.data.episodes import Episodes
from vmg.graph import build, merge_by_kmeans, summarise

pytestmark = pytest.mark.filterwarnings("ignore:The radius")


def episodes_around(points, lengths):
    n = int(np.sum(lengths))
    return Episodes(
        observations=points,
        actions=np.zeros((n, 1)),
        rewards=np.arange(n),
        lengths=lengths,
        terminated=np.zeros(len(lengths), bool),
        truncated=np.ones(len(lengths), bool),
    )


@settings(max_examples=50, deadline=None)
@given(labelled_episodes())
def test_edges_counts_and_slots_account_for_every_step_once(case):
    graph, episodes = case
    steps = list(steps_of(episodes, graph.labels))
    edges = list(zip(graph.tails.tolist(), graph.heads.tolist(), strict=True))
    assert edges == sorted({(a, b) for a, b, _ in steps if a != b})
    for k, edge in enumerate(edges):
        assert graph.counts[k] == sum((a, b) == edge for a, b, _ in steps)
    for vertex in range(graph.n_vertices):
        assert graph.counts[graph.n_edges + vertex] == sum(a == b == vertex for a, b, _ in steps)
    assert graph.counts.sum() == episodes.n_steps
    for slot, (a, b, _) in zip(graph.slots, steps, strict=True):
        assert slot == (graph.n_edges + a if a == b else edges.index((a, b)))


@settings(max_examples=30, deadline=None)
@given(features(max_states=200), st.sampled_from([0.3, 1.0]))
def test_a_vertex_keeps_the_state_that_created_it(points, radius):
    if len(points) < 2:
        return
    episodes = episodes_around(points, [len(points) - 1])
    graph = build(points, episodes, radius)
    assert (graph.states == points[graph.rows]).all()
    assert (graph.features == points[graph.rows]).all()


@settings(max_examples=30, deadline=None)
@given(features(max_states=100), st.data(), st.integers(0, 5))
def test_kmeans_merges_into_the_clusters_asked_for_or_as_many_as_the_scan_finds(points, data, seed):
    if len(points) < 2:
        return
    episodes = episodes_around(points, [len(points) - 1])
    clusters = data.draw(st.none() | st.integers(1, len(points)))
    graph = build(points, episodes, 0.5, merging="kmeans", clusters=clusters, seed=seed)
    expected = merge_by_kmeans(points, clusters or build(points, episodes, 0.5).n_vertices, seed=seed)
    assert (graph.features == expected.features).all()
    assert (graph.labels == expected.labels).all()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"merging": "birch"}, "merging must be one of 'greedy', 'kmeans', not 'birch'"),
        ({"clusters": 2}, "Greedy merging finds its number of vertices itself"),
        ({"merging": "kmeans", "clusters": 0}, "clusters must be a finite number of at least 1 or None, not 0"),
        ({"merging": "kmeans", "clusters": 5}, "between 1 and 4 vertices"),
        ({"labelling": "late"}, "labelling must be one of 'nearest', 'online', not 'late'"),
        ({"goal_columns": (0, 1)}, r"has the columns 0 to 0, but goals are named in \[0, 1\]"),
    ],
)
def test_merging_that_cannot_be(options, sentence):
    points = np.arange(4, dtype=np.float32)[:, None]
    with pytest.raises(VMGError, match=sentence):
        build(points, episodes_around(points, [3]), 0.5, **options)


def test_no_edge_crosses_an_episode_end():
    points = np.array([[0.0], [10.0], [20.0], [30.0]], np.float32)
    graph = build(points, episodes_around(points, [1, 1]), 1.0)
    assert list(zip(graph.tails.tolist(), graph.heads.tolist(), strict=True)) == [(0, 1), (2, 3)]


def test_features_that_do_not_fit_the_episodes():
    points = np.array([[0.0], [10.0], [20.0]], np.float32)
    with pytest.raises(VMGError, match=r"There are 3 features but 4 observations in episodes: embed every observation"):
        build(points, episodes_around(np.zeros((4, 1)), [3]), 1.0)


def test_summary_of_two_parts_with_held_out_episodes():
    points = np.array([[0.0], [0.1], [10.0], [20.0], [30.0], [40.0]], np.float32)
    graph = build(points, episodes_around(points, [3, 1]), 1.0)
    held_out = episodes_around(np.array([[0.2], [10.1], [0.1], [35.0]]), [3])
    summary = summarise(graph, held_out=held_out, held_out_features=held_out.observations)
    assert (summary.vertices, summary.edges, summary.components, summary.dead_ends) == (5, 3, 2, 2)
    assert summary.in_words == "5 vertices, 3 edges, 2 components, 2 dead ends, 1.3 steps per edge"
    assert replace(summary, components=1, dead_ends=1).in_words.endswith(
        "3 edges, 1 component, 1 dead end, 1.3 steps per edge"
    )
    assert summary.largest_component == pytest.approx(3 / 5)
    assert summary.steps_per_edge == pytest.approx(4 / 3)
    assert summary.covered_observations == pytest.approx(3 / 4)
    assert summary.covered_steps == pytest.approx(1 / 3)


def test_a_graph_whose_steps_stay_in_one_vertex_is_told_without_infinity():
    points = np.zeros((3, 1), np.float32)
    summary = summarise(build(points, episodes_around(points, [2]), 1.0))
    assert summary.steps_per_edge == float("inf")
    assert summary.to_dict()["steps_per_edge"] is None
