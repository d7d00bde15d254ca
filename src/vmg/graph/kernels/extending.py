"""Members of vertices that go over to new ones when a graph is extended."""

from typing import Any

import numpy as np

from vmg.graph.kernels.compiling import jit


@jit
def move_members(
    centres: Any, first_near: Any, near: Any, first_member: Any, points: Any, nearest: Any, labels: Any, n_before: int
) -> None:
    """Give every point the nearest new vertex that is nearer than its own, in place.

    New vertex i is numbered n_before + i; groups of points that could be near it are near[first_near[i] :
    first_near[i + 1]], and the points of a group lie at first_member[group] : first_member[group + 1]. `nearest` has
    the squares of the points' distances to their vertices. Ties stay with the lower number.
    """
    for i in range(len(centres)):
        for j in range(first_near[i], first_near[i + 1]):
            for member in range(first_member[near[j]], first_member[near[j] + 1]):
                square = np.float32(0)
                for k in range(centres.shape[1]):
                    gap = points[member, k] - centres[i, k]
                    square += gap * gap
                if square < nearest[member]:
                    nearest[member] = square
                    labels[member] = n_before + i
