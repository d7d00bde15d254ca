"""Members of vertices that go over to new ones when a graph is extended."""

from typing import Any

import numpy as np

from vmg.graph.kernels.compiling import jit


@jit
def members_of(labels: Any, group_of: Any, n_groups: int) -> Any:
    """Return (first of each group, rows) of those whose vertex is in a group: `group_of` it is not -1."""
    found, first = np.empty(len(labels), np.int64), np.zeros(n_groups + 1, np.int64)
    n = 0
    for row in range(len(labels)):
        group = group_of[labels[row]]
        if group >= 0:
            found[n] = row
            first[group + 1] += 1
            n += 1
    for group in range(n_groups):
        first[group + 1] += first[group]
    rows, next_place = np.empty(n, np.int64), first.copy()
    for row in found[:n]:
        group = group_of[labels[row]]
        rows[next_place[group]] = row
        next_place[group] += 1
    return first, rows


@jit
def move_members(
    vertices: Any, centres: Any, first_near: Any, near: Any, first_member: Any, points: Any, labels: Any
) -> None:
    """Give every point the nearest new vertex that is nearer than its own, in place.

    New vertex i, one of the `centres`, is numbered after all earlier `vertices`; groups of points that could be near
    it are near[first_near[i] : first_near[i + 1]], and the points of a group lie at first_member[group] :
    first_member[group + 1]. Ties stay with the lower number.
    """
    nearest = np.empty(len(points), np.float32)
    for member in range(len(points)):
        nearest[member] = _square(points[member], vertices[labels[member]])
    for i in range(len(centres)):
        for j in range(first_near[i], first_near[i + 1]):
            for member in range(first_member[near[j]], first_member[near[j] + 1]):
                square = _square(points[member], centres[i])
                if square < nearest[member]:
                    nearest[member] = square
                    labels[member] = len(vertices) + i


@jit
def _square(one: Any, other: Any) -> Any:
    """Sum over dimensions one by one, as `squared_distances` does."""
    square = np.float32(0)
    for k in range(len(one)):
        gap = one[k] - other[k]
        square += gap * gap
    return square
