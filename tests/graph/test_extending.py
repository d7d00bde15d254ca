"""Extending a graph is building it anew, for any data, however they are cut."""

from dataclasses import fields as fields_of
from dataclasses import is_dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import features
from twins import float32_squares

from vmg.base.errors import VMGError
from vmg.data.episodes import Episodes
from vmg.graph import EDGE_SOURCES, add_edges, build, extend, kernels, merge_by_kmeans
from vmg.graph.extending import LOOKED_AT
from vmg.graph.memory import connect

pytestmark = pytest.mark.filterwarnings("ignore:The radius")
RADII = st.sampled_from([0.0, 0.05, 0.3, 0.5, 1.0, 1.5, 4.0])


@st.composite
def recordings(draw, max_states=400):
    """Points, cut into episodes (many of one step), with two numbers per observation beside its place."""
    points = draw(features(max_states=max_states))
    if len(points) < 2:
        points = np.repeat(points, 2, axis=0)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    usual = draw(st.sampled_from([1, 2, 5, 30]))
    lengths, left = [], len(points)
    while left >= 2:
        rows = left if left < 4 else min(int(rng.integers(2, usual + 3)), left - 2)
        lengths.append(rows - 1)
        left -= rows
    points = points[: sum(lengths) + len(lengths)]
    n = sum(lengths)
    return points, Episodes(
        observations=np.concatenate([points[:, :1], np.arange(2 * len(points)).reshape(-1, 2)], axis=1),
        actions=np.zeros((n, 1)),
        rewards=rng.normal(size=n),
        lengths=lengths,
        terminated=np.zeros(len(lengths), bool),
        truncated=np.ones(len(lengths), bool),
    )


def first(points, episodes, n):
    """Return the first n episodes and their points."""
    part = episodes.subset(range(n))
    return points[: len(part.observations)], part


def assert_same(one, other):
    """Hold two graphs against each other, bit for bit."""
    for each in fields_of(one):
        a, b = getattr(one, each.name), getattr(other, each.name)
        if is_dataclass(a) and is_dataclass(b):
            assert_same(a, b)
        elif isinstance(a, np.ndarray):
            assert isinstance(b, np.ndarray), each.name
            assert a.dtype == b.dtype, each.name
            assert a.shape == b.shape, each.name
            assert a.tobytes() == b.tobytes(), each.name
        else:
            assert a == b, each.name


@settings(max_examples=60, deadline=None)
@given(recordings(), RADII, st.sampled_from(["nearest", "online"]), st.booleans(), st.booleans(), st.data())
def test_extending_is_building_anew(recorded, radius, labelling, keep, places, data):
    points, episodes = recorded
    kept = {"recordings": keep, "goal_columns": (2, 0) if places else ()}
    cuts = sorted(data.draw(st.lists(st.integers(1, len(episodes)), min_size=1, max_size=4)))
    graph = build(*first(points, episodes, cuts[0]), radius, labelling=labelling, **kept)
    for cut in [*cuts[1:], len(episodes)]:  # the same cut twice adds nothing
        graph = extend(graph, *first(points, episodes, cut), labelling=labelling)
    assert_same(graph, build(points, episodes, radius, labelling=labelling, **kept))


@pytest.mark.parametrize("scale", [1e-30, 1e-19, 1e-8, 1e8, 1e18])
@pytest.mark.filterwarnings("ignore:overflow")
@settings(max_examples=8, deadline=None)
@given(recorded=recordings(max_states=60))
def test_at_any_scale(scale, recorded):
    points, episodes = recorded
    points = (points * scale).astype(np.float32)
    graph = build(*first(points, episodes, 1), 0.7 * scale)
    assert_same(extend(graph, points, episodes), build(points, episodes, 0.7 * scale))


@settings(max_examples=30, deadline=None)
@given(recordings(max_states=100), st.integers(1, 100))
def test_other_sources_of_edges_are_asked_anew(recorded, cut):
    points, episodes = recorded
    known = dict(EDGE_SOURCES._found)

    @EDGE_SOURCES.register("ring")
    def ring(graph, episodes):
        n = graph.n_vertices
        tails = np.arange(n if n > 1 else 0)
        return add_edges(graph, "ring", tails, (tails + 1) % max(n, 1), steps=len(episodes), prices=0.5)

    try:
        sources = ("recorded", "ring")
        graph = build(*first(points, episodes, min(cut, len(episodes))), 0.5, edges=sources)
        assert_same(extend(graph, points, episodes, edges=sources), build(points, episodes, 0.5, edges=sources))
    finally:
        EDGE_SOURCES._found = known


@settings(max_examples=50, deadline=None)
@given(features(max_states=60), st.integers(1, 8), st.integers(1, 8), st.data())
def test_members_go_to_the_nearest_new_vertex_that_is_nearer(points, n_new, n_groups, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    centres = points[rng.integers(0, len(points), n_new)]
    first_member = np.sort(np.r_[0, rng.integers(0, len(points) + 1, n_groups - 1), len(points)])
    near = [np.flatnonzero(rng.random(n_groups) < 0.6) for _ in range(n_new)]
    first_near = np.cumsum([0, *map(len, near)])
    vertices = points[rng.integers(0, len(points), 5)]
    labels = rng.integers(0, 5, len(points)).astype(np.int32)
    expected = labels.copy()
    for member, x in enumerate(points):
        group = np.searchsorted(first_member, member, side="right") - 1
        for_it = [i for i in range(n_new) if group in near[i]]
        apart = float32_squares(centres[for_it], x) if for_it else np.zeros(0)
        if len(apart) and apart.min() < float32_squares(vertices[labels[member]][None], x)[0]:
            expected[member] = 5 + for_it[int(np.argmin(apart))]
    kernels.extending.move_members(
        vertices, centres, first_near, np.concatenate(near), first_member, points, labels
    )  # fmt: skip
    assert labels.tolist() == expected.tolist()


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 9), max_size=60), st.lists(st.integers(0, 9), unique=True))
def test_members_are_found_group_by_group(labels, groups):
    group_of = np.full(10, -1, np.int32)
    group_of[groups] = np.arange(len(groups))
    first, rows = kernels.extending.members_of(np.array(labels, np.int32), group_of, len(groups))
    found = [rows[first[i] : first[i + 1]].tolist() for i in range(len(groups))]
    assert found == [[row for row, label in enumerate(labels) if label == group] for group in groups]


@settings(max_examples=50, deadline=None)
@given(st.data(), st.integers(2, 6), st.integers(0, 2))
def test_edges_are_put_in_order_among_those_that_are_taken(data, n, more):
    edges = st.dictionaries(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), st.integers(0, 2), max_size=12)
    later = st.tuples(st.integers(0, n + more - 1), st.integers(0, n + more - 1))
    there, new = data.draw(edges), data.draw(st.dictionaries(later, st.integers(1, 3), max_size=12))
    both = {each: there.get(each, 0) + new.get(each, 0) for each in there | new}
    expected = {each: count for each, count in sorted(both.items()) if count}
    tails, heads, counts = (np.array(each, np.int32) for each in _columns(there))
    first = np.searchsorted(tails, np.arange(n + 1)).astype(np.int32)
    first_edge, *found, place, place_new = kernels.edges.insert_edges(first, heads, counts, *_columns(new), n + more)
    assert [each.tolist() for each in found] == [[head for _, head in expected], list(expected.values())]
    assert np.diff(first_edge).tolist() == [sum(tail == each for tail, _ in expected) for each in range(n + more)]
    numbers = {each: number for number, each in enumerate(expected)}
    assert place_new.tolist() == [numbers[each] for each in sorted(new)]
    slots = np.array([i for i, each in enumerate(sorted(there)) if each in numbers] + [len(there), len(there) + n - 1])
    renumbered = np.empty(len(slots), np.int32)
    kernels.edges.renumber_slots(slots.astype(np.int32), place, len(numbers), renumbered)
    kept = [numbers[each] for each in sorted(there) if each in numbers]
    assert renumbered.tolist() == [*kept, len(numbers), len(numbers) + n - 1]


def _columns(edges):
    """Tails, heads and counts of edges in order."""
    ordered = sorted(edges)
    return (np.array(each, np.int64) for each in ([t for t, _ in ordered], [h for _, h in ordered],
            [edges[each] for each in ordered]))  # fmt: skip


class _Asked:
    """Features that are made when asked for, and remember what was."""

    def __init__(self, points):
        self.points, self.shape, self.asked = points, points.shape, 0

    def __getitem__(self, rows):
        found = self.points[rows]
        self.asked += len(found)
        return found


def test_only_features_of_vertices_and_near_new_ones_are_read():
    rng = np.random.default_rng(0)
    points = np.cumsum(rng.normal(size=(4000, 2)).astype(np.float32), 0)
    n = len(points) // 2
    episodes = Episodes(
        observations=points, actions=np.zeros((n, 1)), rewards=np.zeros(n), lengths=np.ones(n, int),
        terminated=np.zeros(n, bool), truncated=np.ones(n, bool),
    )  # fmt: skip
    graph = build(*first(points, episodes, n - 20), 2.0)
    asked = _Asked(points)
    assert_same(extend(graph, asked, episodes), build(points, episodes, 2.0))
    assert asked.asked < LOOKED_AT + 600


def _line():
    points = np.arange(6, dtype=np.float32)[:, None]
    return points, Episodes(
        observations=points, actions=np.zeros((4, 1)), rewards=np.zeros(4), lengths=[2, 2],
        terminated=np.zeros(2, bool), truncated=np.ones(2, bool),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda points, episodes: (points[:-1], episodes), r"have the shape \(5, 1\), but its 6 observations need one"),
        (lambda points, episodes: (points[:2], episodes.subset([0]).subset([0])), r"have the shape \(2, 1\)"),
        (lambda points, episodes: (points + 1, episodes), "only a graph that was merged greedily can be extended"),
        (
            lambda points, episodes: (np.r_[points[:3], [[np.inf]], points[4:]].astype(np.float32), episodes),
            "Features: row 0, column 0, is inf",
        ),
    ],
)
def test_data_that_do_not_fit(spoil, sentence):
    points, episodes = _line()
    graph = build(*first(points, episodes, 1), 0.5)
    with pytest.raises(VMGError, match=sentence):
        extend(graph, *spoil(points, episodes))


def test_episodes_in_another_order_are_refused():
    points, episodes = _line()
    shorter = Episodes(
        observations=points[:5], actions=np.zeros((3, 1)), rewards=np.zeros(3), lengths=[1, 2],
        terminated=np.zeros(2, bool), truncated=np.ones(2, bool),
    )  # fmt: skip
    with pytest.raises(VMGError, match="does not begin with the 1 episodes that the graph was built from"):
        extend(build(*first(points, episodes, 1), 0.5), points[:5], shorter)


def test_a_graph_of_centroids_is_refused():
    points, episodes = _line()
    part = first(points, episodes, 1)
    with pytest.raises(VMGError, match="only a graph that was merged greedily"):
        extend(connect(merge_by_kmeans(part[0], 2, seed=0), part[1]), points, episodes)
