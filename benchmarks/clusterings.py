"""Our merge, Alg. 1 as it is written, and two clusterings that solve a similar problem, all called alike."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.generators import RADIUS
from vmg.base.errors import require
from vmg.base.types import Float32s, Int32s
from vmg.graph import Merging, merge_greedily

BIRCH_THRESHOLD = 0.5 * RADIUS  # leaves about as many clusters as our radius
KMEANS_ITERATIONS = 20


@dataclass(frozen=True)
class Clustering:
    """A peer: features, radius and the number of our vertices in; the rows that become vertices, or centres, out."""

    name: str
    run: Callable[[Float32s, float, int], np.ndarray]
    largest: int
    """The most states in 10 dimensions that it merges within a minute or two."""
    exact: bool = False
    """Whether it computes the same as ours."""


def merge(features: Float32s, radius: float, *, workers: int = 1) -> Merging:
    """Our own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns where every state becomes a vertex, which is the worst case
        return merge_greedily(features, radius, workers=workers)


def naive_merge(features: Float32s, radius: float, _: int = 0) -> Int32s:
    """Alg. 1 as it is written, one vectorised row of distances per state; return the rows that become vertices."""
    vertices = np.empty_like(features)
    rows: list[int] = []
    for row, x in enumerate(features):
        known = len(rows)
        if known == 0 or np.linalg.norm(vertices[:known] - x, axis=1).min() > radius:
            vertices[known] = x
            rows.append(row)
    return np.array(rows, np.int32)


def tuned_merge(features: Float32s, radius: float, _: int = 0) -> Int32s:
    """The same as fast as numpy can: vertices in columns, nothing allocated twice, one root.

    The sum over dimensions then adds them one by one in float32, exactly as ours does.
    """
    n, dimensions = features.shape
    vertices, gaps = np.empty((dimensions, n), np.float32), np.empty((dimensions, n), np.float32)
    rows: list[int] = []
    for row, x in enumerate(features):
        known = len(rows)
        gap = np.subtract(vertices[:, :known], x[:, None], out=gaps[:, :known])
        squares = np.multiply(gap, gap, out=gap).sum(0)
        if known == 0 or np.sqrt(squares.min()) > np.float32(radius):
            vertices[:, known] = x
            rows.append(row)
    return np.array(rows, np.int32)


def birch(features: Float32s, radius: float, n_clusters: int) -> np.ndarray:
    """scikit-learn's Birch without its last, global clustering; its threshold, not a number, decides how many."""
    fitted = require("sklearn.cluster", "bench").Birch(threshold=BIRCH_THRESHOLD, n_clusters=None).fit(features)
    return np.asarray(fitted.subcluster_centers_)


def kmeans(features: Float32s, radius: float, n_clusters: int) -> np.ndarray:
    """faiss k-means with as many clusters as we have vertices."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its bindings are older than this Python
        faiss: Any = require("faiss", "bench")
    fitted = faiss.Kmeans(features.shape[1], n_clusters, niter=KMEANS_ITERATIONS, seed=0, min_points_per_centroid=1)
    fitted.train(features)
    fitted.index.search(features, 1)
    return np.asarray(fitted.centroids)


NAIVE = Clustering("naive Alg. 1", naive_merge, 100_000, exact=True)
TUNED = Clustering("naive, tuned", tuned_merge, 300_000, exact=True)
BIRCH = Clustering("Birch", birch, 300_000)
KMEANS = Clustering("faiss k-means", kmeans, 100_000)
CLUSTERINGS = (NAIVE, TUNED, BIRCH, KMEANS)
