"""Merging on several cores is the scan of all states, for any data, however they are cut."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import features
from twins import float32_squares, naive_merge

from vmg.data.episodes import Episodes
from vmg.graph import build, kernels, merge_greedily, merging, shards

pytestmark = pytest.mark.filterwarnings("ignore:The radius")
RADII = st.sampled_from([0.0, 0.05, 0.3, 0.5, 1.0, 1.5, 4.0])
LABELLINGS = st.sampled_from(["nearest", "online"])


@pytest.fixture(autouse=True)
def small_shards(monkeypatch):
    monkeypatch.setattr(merging, "SHARD", 1)
    monkeypatch.setattr(shards, "AT_ONCE", 7)


@settings(max_examples=40, deadline=None)
@given(features(max_states=300), RADII, LABELLINGS, st.integers(1, 9))
def test_any_number_of_shards_is_algorithm_1(points, radius, labelling, workers):
    merged = merge_greedily(points, radius, labelling=labelling, workers=workers)
    rows, labels = naive_merge(points, radius, online=labelling == "online")
    assert merged.rows.tolist() == rows
    assert merged.labels.tolist() == labels
    assert merged.rows.dtype == merged.labels.dtype == np.int32


@settings(max_examples=40, deadline=None)
@given(features(max_states=300), st.integers(1, 20), RADII, st.data())
def test_states_remember_the_nearest_vertex_of_another_shard(points, n_centres, radius, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    centres, threshold = points[rng.integers(0, len(points), n_centres)], np.float32(radius) ** 2
    labels, squares = np.full(len(points), 3, np.int32), rng.choice([0.0, 0.25, np.inf], len(points)).astype("f4")
    expected, before = labels.copy(), squares.copy()
    for row, x in enumerate(points):
        apart = float32_squares(centres, x)
        if apart.min() <= threshold and apart.min() < squares[row]:
            expected[row], before[row] = 5 + int(apart.argmin()), apart.min()
    kernels.merging.cover(centres, kernels.merging.build_tree(points), threshold, labels, squares, 5)
    assert labels.tolist() == expected.tolist()
    assert squares.tolist() == before.tolist()


@pytest.mark.parametrize("labelling", ["nearest", "online"])
def test_a_graph_built_by_several_cores_is_the_same(labelling):
    points = np.cumsum(np.random.default_rng(0).normal(size=(2000, 3)), 0).astype(np.float32)
    episodes = Episodes(
        observations=points, actions=np.zeros((1999, 1)), rewards=np.zeros(1999), lengths=[1999],
        terminated=[False], truncated=[True],
    )  # fmt: skip
    one, several = (build(points, episodes, 1.5, labelling=labelling, workers=workers) for workers in (1, 5))
    assert one.n_vertices > 50
    for name in ("features", "rows", "labels", "heads", "first_edge", "counts", "slots"):
        assert getattr(one, name).tobytes() == getattr(several, name).tobytes()


def test_what_goes_wrong_in_a_shard_is_told(monkeypatch):
    def fails(*given):
        raise MemoryError("no room for the tree")

    monkeypatch.setattr(kernels.merging, "build_tree", fails)
    with pytest.raises(MemoryError, match="no room"):
        merge_greedily(np.zeros((10, 2), np.float32), 1.0, workers=3)
