"""The nearest vertex of a point, exactly as the merge sees it: least float32 distance, then lowest index."""

from functools import cached_property
from math import hypot

import numpy as np

from vmg.base.types import Float32s, Int32s

FEW = 50_000
"""Up to so many vertices one point is held against all of them at once; for more, and for many points, there is a tree.

The tree is no faster for one point between two steps of an environment, and to load it takes a third of a second.
"""
SMALLEST, LARGEST = 1e-15, 1e15
"""Distances whose squares float32 holds with all its digits."""


class VertexIndex:
    """Finds nearest vertices; what it needs is made once, when first asked."""

    def __init__(self, vertices: Float32s) -> None:
        self._vertices = vertices

    def nearest(self, points: Float32s) -> Int32s:
        """Return the nearest vertex of each point."""
        if len(points) == 1 and len(self._vertices) <= FEW and (one := self._nearest_of_few(points[0])) is not None:
            return np.array([one], np.int32)
        distances, found = self._tree.query(points, k=2, workers=-1 if len(points) > 10_000 else 1)  # type: ignore[attr-defined]
        best, second = distances.T  # a second that is not there is infinitely far
        index: Int32s = found[:, 0].astype(np.int32)
        # The tree's float64 could see it otherwise than float32, where near squares are equal, or vanish, or overflow.
        unsure = (second <= best * (1 + 1e-5)) | (second < SMALLEST) | (best > LARGEST)
        for row in unsure.nonzero()[0]:
            index[row] = squared_distances(self._vertices, points[row]).argmin()
        return index

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
        rounding = 4 * (len(p) + 4) * 2.0**-24 * reach**2
        if np.count_nonzero(scores >= scores[best] - rounding) == 1:
            return best
        return int(squared_distances(self._vertices, point).argmin())

    @cached_property
    def _tree(self) -> object:
        from scipy.spatial import cKDTree

        return cKDTree(self._vertices)

    @cached_property
    def _seen(self) -> tuple[Float32s, Float32s, Float32s, float]:
        """The vertices' middle; and seen from there v by column, ½|v|², and the largest |v|."""
        middle = self._vertices.mean(0)
        seen = self._vertices - middle
        squares = np.square(seen, dtype=np.float64).sum(1)
        return middle, np.ascontiguousarray(seen.T), (squares / 2).astype(np.float32), float(squares.max()) ** 0.5


def squared_distances(points: Float32s, point: Float32s) -> Float32s:
    """Squared distance of one point to many, in float32, dimension by dimension: the one definition of distance."""
    squares = np.zeros(len(points), np.float32)
    for column, x in zip(points.T, point, strict=True):
        squares += (column - x) ** 2
    return squares
