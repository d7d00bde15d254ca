import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import features
from twins import float32_distances, float32_squares, naive_merge

from vmg.base.errors import VMGError
from vmg.graph import merge_by_kmeans, merge_greedily
from vmg.graph.nearest import VertexIndex

RADII = st.sampled_from([0.05, 0.3, 0.5, 1.0, 1.5, 4.0])
pytestmark = pytest.mark.filterwarnings("ignore:The radius")


@settings(max_examples=30, deadline=None)
@given(features(), RADII, st.booleans())
def test_the_fast_merge_is_algorithm_1(points, radius, online):
    merging = merge_greedily(points, radius, labelling="online" if online else "nearest")
    rows, labels = naive_merge(points, radius, online=online)
    assert merging.rows.tolist() == rows
    assert merging.labels.tolist() == labels


@settings(max_examples=50, deadline=None)
@given(features(max_states=300), RADII)
def test_every_state_is_within_the_radius_and_vertices_are_apart(points, radius):
    merging = merge_greedily(points, radius)
    for label, x in zip(merging.labels, points, strict=True):
        assert float32_distances([merging.features[label]], x)[0] <= np.float32(radius)
    for i in range(1, len(merging.features)):
        assert float32_distances(merging.features[:i], merging.features[i]).min() > np.float32(radius)


@settings(max_examples=50, deadline=None)
@given(features(max_states=300), RADII)
def test_nearest_finds_the_labels_again(points, radius):
    merging = merge_greedily(points, radius)
    assert VertexIndex(merging.features).nearest(points).tolist() == merging.labels.tolist()


@settings(max_examples=100, deadline=None)
@given(features(max_states=300), st.sampled_from([0, 1, -30, 1e4]), st.sampled_from([1e-3, 1, 1e3]), st.data())
def test_one_point_has_the_same_nearest_vertex_however_it_is_searched(points, away, scale, data):
    """Among ties and near ties, wherever the middle lies: as all distances one by one, and as in a batch."""
    vertices = (points * np.float32(scale) + np.float32(away)).astype(np.float32)
    row, nudge = data.draw(st.integers(0, len(vertices) - 1)), data.draw(st.sampled_from([0, 1e-7, 0.1, 5, 1e6, 1e13]))
    point = (vertices[row] + np.float32(nudge * scale)).astype(np.float32)
    search = VertexIndex(vertices)
    (alone,), (together, _) = search.nearest(point[None]), search.nearest(np.array([point, point]))
    squares = float32_squares(vertices, point)
    assert alone == together == np.argmin(squares)


def test_a_distance_of_exactly_the_radius_merges():
    points = np.array([[0, 0], [3, 4], [3, 4.0000005]], np.float32)
    assert merge_greedily(points, 5.0).rows.tolist() == [0, 2]


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("n", [64, 128, 129, 192])
def test_a_radius_whose_square_is_not_a_number_merges_everything(n):
    merging = merge_greedily(np.random.default_rng(0).normal(size=(n, 3)).astype(np.float32), 1e30)
    assert merging.rows.tolist() == [0]
    assert not merging.labels.any()


def test_merging_twice_is_the_same_and_leaves_the_features_alone():
    points = np.random.default_rng(0).normal(size=(500, 4)).astype(np.float32)
    before = points.copy()
    first, second = merge_greedily(points, 0.7), merge_greedily(points, 0.7)
    assert (first.labels == second.labels).all()
    assert (points == before).all()


@settings(max_examples=30, deadline=None)
@given(features(max_states=300), st.integers(0, 2**31), st.data())
def test_kmeans_gives_every_vertex_its_nearest_members(points, seed, data):
    merging = merge_by_kmeans(points, data.draw(st.integers(1, len(points))), seed=seed)
    n = len(merging.features)
    assert sorted(set(merging.labels.tolist())) == list(range(n))
    distances = np.linalg.norm(points[:, None].astype(np.float64) - merging.features[None].astype(np.float64), axis=2)
    own = distances[np.arange(len(points)), merging.labels]
    assert own == pytest.approx(distances.min(1), rel=1e-5, abs=1e-6)
    assert own.max() == pytest.approx(merging.radius, rel=1e-5, abs=1e-6)
    for vertex, row in enumerate(merging.rows):
        assert merging.labels[row] == vertex
        assert own[row] == pytest.approx(own[merging.labels == vertex].min(), rel=1e-5, abs=1e-6)


def test_kmeans_finds_clear_clusters():
    rng = np.random.default_rng(1)
    centres = np.array([[0, 0], [10, 0], [0, 10]])
    points = np.concatenate([c + 0.1 * rng.normal(size=(50, 2)) for c in centres]).astype(np.float32)
    merging = merge_by_kmeans(points, 30, seed=0)
    spread = [np.ptp(np.argmin(np.linalg.norm(points[merging.labels == v][:, None] - centres, axis=2), 1)) for v in
              range(len(merging.features))]  # fmt: skip
    assert max(spread) == 0


def test_a_radius_that_merges_all_or_nothing_warns():
    points = np.array([[0.0], [1.0], [2.0]], np.float32)
    with pytest.warns(UserWarning, match=r"The radius 5 leaves a single vertex: choose a smaller one\."):
        merge_greedily(points, 5.0)
    with pytest.warns(UserWarning, match=r"The radius 0\.5 keeps every state as a vertex of its own: choose a larger"):
        merge_greedily(points, 0.5)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: merge_greedily(np.array([[0.0], [np.nan]]), 1.0), r"Features: row 1, column 0, is nan\."),
        (lambda: merge_greedily(np.zeros((3, 2)), -1.0), r"radius must be a finite number of at least 0, not -1"),
        (lambda: merge_greedily(np.zeros((0, 2)), 1.0), r"at least one row and one column, not of shape \(0, 2\)"),
        (lambda: merge_greedily(np.zeros((3, 2)), 1.0, labelling="x"), r"one of 'nearest', 'online', not 'x'"),
        (lambda: merge_by_kmeans(np.zeros((3, 2)), 4, seed=0), r"between 1 and 3 vertices \(one per state\), not 4"),
    ],
)
def test_bad_input_is_answered_with_a_sentence(call, sentence):
    with pytest.raises(VMGError, match=sentence):
        call()
