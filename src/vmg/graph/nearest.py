"""The nearest vertex of a point, exactly as the merge sees it: least float32 distance, then lowest index."""

from functools import cached_property
from math import hypot

import numpy as np

from vmg.base.types import Float32s, Int32s, Int64s

FEW = 50_000
"""Up to so many vertices one point is held against all of them at once; for more, and for many points, there is a tree.

The tree is no faster for one point between two steps of an environment, and to load it takes a third of a second.
"""
SMALLEST, LARGEST = 1e-15, 1e15
"""Distances whose squares float32 holds with all its digits."""
ROUNDING = 1 + 1e-5
"""Distances that differ by less than this factor may be the other way round in float32."""
LEAF = 32
"""Vertices in a leaf of the tree."""
MANY = 1_000
"""Points from which on all cores look for their vertices."""
SOME = 32
"""Vertices near a point that are looked for at first."""


class VertexIndex:
    """Finds nearest vertices; what it needs is made once, when first asked."""

    def __init__(self, vertices: Float32s) -> None:
        self._vertices = vertices

    def __len__(self) -> int:
        return len(self._vertices)

    def nearest(self, points: Float32s, *, within: float = np.inf) -> Int32s:
        """Return the nearest vertex of each point; -1 where none is `within` that distance, rounding aside."""
        if len(points) == 1 and len(self._vertices) <= FEW and (one := self._nearest_of_few(points[0])) is not None:
            return np.array([one], np.int32)
        reach = within * ROUNDING + SMALLEST
        distances, found = self._tree.query(points, 2, distance_upper_bound=reach, workers=_workers(points))  # type: ignore[attr-defined]
        best, second = distances.T  # a second that is not there is infinitely far
        index: Int32s = np.where(np.isinf(best), -1, found[:, 0]).astype(np.int32)
        # The tree's float64 could see it otherwise than float32, where near squares are equal, or vanish, or overflow.
        unsure = (second <= best * ROUNDING) | (second < SMALLEST) | (best > LARGEST)
        for row in (unsure & (np.isfinite(best) | (reach > LARGEST))).nonzero()[0]:
            index[row] = self._nearest_of_near(points[row], best[row])
        return index

    def around(self, points: Float32s, within: float) -> tuple[Int64s, Int64s]:
        """Return all vertices `within` a distance of each point, and a few barely beyond: (first of each point, they).

        Memory: 8 bytes per pair of a point and a vertex near it.
        """
        reach = within * ROUNDING + 2 * SMALLEST
        k = min(SOME, len(self._vertices))
        distances, found = self._tree.query(  # type: ignore[attr-defined]
            points, np.arange(1, k + 1), distance_upper_bound=reach, workers=_workers(points)
        )
        there = np.isfinite(distances)
        near, n_near = [found[there]], there.sum(1)
        if (full := np.flatnonzero(there[:, -1])).size:  # there may be more
            near = [row[:n] for row, n in zip(found, n_near, strict=True)]
            for row in full:
                near[row] = np.asarray(self._tree.query_ball_point(points[row], reach), np.int64)  # type: ignore[attr-defined]
            n_near = np.array([len(each) for each in near])
        return np.concatenate([[0], np.cumsum(n_near)]), np.concatenate(near)

    def squares(self, points: Float32s, vertices: Int32s) -> Float32s:
        """Return the squared distance of each point to its vertex, as the merge sees it."""
        return squared_distances(points, self._vertices[vertices].T)

    def _nearest_of_near(self, point: Float32s, distance: float) -> int:
        """Hold a point against all vertices that rounding could make the nearest; against all, at extreme distances."""
        if not SMALLEST < distance < LARGEST:
            return int(squared_distances(self._vertices, point).argmin())
        near = np.sort(self._tree.query_ball_point(point, distance * ROUNDING))  # type: ignore[attr-defined]
        return int(near[squared_distances(self._vertices[near], point).argmin()])

    def _nearest_of_few(self, point: Float32s) -> int | None:
        """p·v − ½|v|² is largest where |p − v| is least; where rounding could hide that, all distances are taken.

        None for a point so far away that squares do not fit into float32.
        """
        middle, seen, half_squares, reach = self._seen
        p = point - middle
        reach += hypot(*p.tolist())
        if reach > 1e15:
            return None
        scores = p.dot(seen)
        scores -= half_squares
        best = int(scores.argmax())
        rounding = 4 * (len(p) + 4) * (2.0**-24 * reach**2 + 2.0**-149)
        if np.count_nonzero(scores >= scores[best] - rounding) == 1:
            return best
        return int(squared_distances(self._vertices, point).argmin())

    @cached_property
    def _tree(self) -> object:
        from scipy.spatial import cKDTree

        # Halved in the middle, not at the median: made in half the time, and no slower where vertices lie apart.
        return cKDTree(self._vertices, LEAF, balanced_tree=False, compact_nodes=False)

    @cached_property
    def _seen(self) -> tuple[Float32s, Float32s, Float32s, float]:
        """The vertices' middle; and seen from there v by column, ½|v|², and the largest |v|."""
        middle = self._vertices.mean(0)
        seen = self._vertices - middle
        squares = np.square(seen, dtype=np.float64).sum(1)
        return middle, np.ascontiguousarray(seen.T), (squares / 2).astype(np.float32), float(squares.max()) ** 0.5


def _workers(points: Float32s) -> int:
    return -1 if len(points) > MANY else 1


def squared_distances(points: Float32s, point: Float32s) -> Float32s:
    """Squared distance of one point to many, in float32, dimension by dimension: the one definition of distance.

    With one column per point instead of one point it is that of each to its own.
    """
    squares = np.zeros(len(points), np.float32)
    for column, x in zip(points.T, point, strict=True):
        squares += (column - x) ** 2
    return squares
