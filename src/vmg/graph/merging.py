"""Merging states into vertices: the paper's greedy scan (Alg. 1), and k-means beside it (App. E.2)."""

import warnings
from dataclasses import dataclass

import numpy as np

from vmg.base.arguments import numbers_of
from vmg.base.console import progress_bar
from vmg.base.errors import VMGError
from vmg.base.types import Float32s, Int32s
from vmg.data.mapping import first_not_finite
from vmg.graph import kernels
from vmg.graph.nearest import VertexIndex
from vmg.graph.needs import check_build, memory_to_build
from vmg.graph.settings import GraphConfig, Labelling
from vmg.graph.shards import merge_in_shards

SHARD = 50_000
"""Points for which a core of their own is worth while."""
FARTHEST = 1e19
"""The largest radius that tells points apart: squares of distances beyond it do not fit into float32."""


@dataclass(frozen=True)
class Merging:
    """Which points became vertices, and which vertex every point belongs to."""

    features: Float32s
    """Where each vertex lies in the metric space."""
    rows: Int32s
    """The point whose state stands for the vertex: its creator, or the member nearest to a centroid."""
    labels: Int32s
    """The vertex of every point."""
    radius: float
    """How far a member may lie from its vertex; farther than that is off the graph."""


def merge_greedily(
    features: Float32s, radius: float, *, labelling: Labelling = "nearest", workers: int = 1
) -> Merging:  # fmt: skip
    """Scan the points in order; one farther than `radius` from every vertex becomes a vertex (Alg. 1), exactly.

    Distances are float32, accumulated dimension by dimension; *strictly greater* makes a vertex. `labelling`
    "nearest" gives each point the nearest vertex of the finished graph, "online" the nearest of those that existed
    when it was scanned; ties go to the lower index. `workers`: cores that merge side by side; they change the time, not
    the result.

    Time: near-linear in the points for features of low intrinsic dimension, at worst every pair once. Memory beyond
    the input: one copy of it and 12 bytes per point.
    """
    points = _checked(features)
    GraphConfig(radius=radius, labelling=labelling)  # refuses what these cannot be
    check_build(memory_to_build(*points.shape).merging - points.nbytes, len(points))
    n_shards = max(1, min(workers, len(points) // SHARD))
    rows, labels = merge_in_shards(points, _largest_square(radius), n_shards, online=labelling == "online")
    warn_of_extremes(len(rows), len(points), radius)
    return Merging(points[rows], rows, labels, radius)


def merge_on(
    vertices: VertexIndex, features: Float32s, radius: float, *, labelling: Labelling
) -> tuple[Int32s, Int32s]:
    """Scan more points as if these vertices had just been found: (points that become vertices, label of every point).

    Vertices are numbered on, and labels are those that `merge_greedily` would give to these points after all others.
    """
    points = _checked(features)
    limit = _largest_square(radius)
    labels = vertices.nearest(points, within=min(radius, FARTHEST))
    squares = vertices.squares(points, labels)
    far = ~(squares <= limit)
    labels[far], squares[far] = -1, np.inf
    rows = kernels.merging.merge_greedily(points, limit, labelling == "online", labels, squares, len(vertices))
    return rows, labels


def merge_by_kmeans(features: Float32s, n_vertices: int, *, seed: int, iterations: int = 20) -> Merging:
    """Lloyd's k-means from random distinct points; clusters that end up empty are left out.

    The radius is the largest distance of a member from its centroid, since k-means knows none.
    """
    points = _checked(features)
    if not 1 <= n_vertices <= len(points):
        raise VMGError(f"k-means needs between 1 and {len(points)} vertices (one per state), not {n_vertices}.")
    chosen = np.random.default_rng(seed).choice(len(points), n_vertices, replace=False)
    centroids = points[np.sort(chosen)]
    with progress_bar(f"Merging into {n_vertices:,} vertices by k-means", iterations) as advance:
        for done in range(iterations):
            advance(done)
            labels = VertexIndex(centroids).nearest(points)
            moved = _means(points, labels, centroids)
            if np.array_equal(moved, centroids):
                break
            centroids = moved
    labels = VertexIndex(centroids).nearest(points)
    occupied, inverse = np.unique(labels, return_inverse=True)
    labels = inverse.astype(np.int32)
    centroids = centroids[occupied]
    distances = np.linalg.norm(points - centroids[labels], axis=1)
    by_vertex = np.lexsort((distances, labels))
    first_of_vertex = np.concatenate([[True], np.diff(labels[by_vertex]) > 0])
    rows = by_vertex[first_of_vertex].astype(np.int32)
    return Merging(centroids, rows, labels, float(distances.max()))


def _checked(features: Float32s) -> Float32s:
    points = np.ascontiguousarray(numbers_of(features, "Features", np.float32))
    if points.ndim != 2 or 0 in points.shape:
        raise VMGError(f"Features must be a table of at least one row and one column, not of shape {points.shape}.")
    if place := first_not_finite(points):
        row, column = place
        raise VMGError(f"Features: row {row}, column {column}, is {points[row, column]}. Train the encoder again.")
    return points


def _largest_square(radius: float) -> np.float32:
    """Return the largest float32 whose float32 square root is at most the radius, so that no root need be taken."""
    limit = np.float32(min(radius, FARTHEST))
    square = limit * limit
    while np.sqrt(square) > limit:
        square = np.nextafter(square, np.float32(-np.inf))
    while np.sqrt(np.nextafter(square, np.float32(np.inf))) <= limit:
        square = np.nextafter(square, np.float32(np.inf))
    return np.float32(square)


def warn_of_extremes(n_vertices: int, n_points: int, radius: float) -> None:
    """Warn of a radius that merges everything or nothing."""
    if n_points > 1 and n_vertices in (1, n_points):
        outcome = "leaves a single vertex" if n_vertices == 1 else "keeps every state as a vertex of its own"
        cure = "smaller" if n_vertices == 1 else "larger"
        warnings.warn(f"The radius {radius:g} {outcome}: choose a {cure} one.", stacklevel=3)


def _means(points: Float32s, labels: Int32s, centroids: Float32s) -> Float32s:
    counts = np.bincount(labels, minlength=len(centroids))
    sums = np.stack([np.bincount(labels, column, len(centroids)) for column in points.T], axis=1)
    return np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centroids).astype(np.float32)
