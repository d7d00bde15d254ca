"""Greedy merging, exactly, without looking at every pair.

A k-d tree over all points, halved in the middle of its widest side until a leaf holds at most LEAF_SIZE. Node i has
the children 2i+1 and 2i+2; the last 2^levels nodes are the leaves. All of them are full but the last, and some are
empty, so that the points of a leaf are one (dimensions, LEAF_SIZE) block: their distances are vectorised loops.
"""

from typing import Any

import numba
import numpy as np

from vmg.graph.kernels.compiling import jit

LEAF_SIZE = 64


@jit
def build_tree(points: Any) -> Any:
    """Return (order, blocks, leaves, low, high): rows by leaf, their points as blocks, bounds of each leaf, boxes.

    Points are moved, and not only their numbers: what lies together is together in memory, too, so that all but the
    first halvings stay in the cache. It is this copy that becomes the blocks, in its place.
    """
    n, dimensions = points.shape
    n_blocks = (n + LEAF_SIZE - 1) // LEAF_SIZE
    levels = 0
    while 1 << levels < n_blocks:
        levels += 1
    n_leaves = 1 << levels
    order, moved = np.empty(n, np.int32), np.empty((n_blocks * LEAF_SIZE, dimensions), np.float32)
    for row in range(n):
        order[row] = row
        moved[row] = points[row]
    moved[n:] = np.float32(np.inf)
    bounds = np.zeros((2 * n_leaves - 1, 2), np.int64)
    bounds[0, 1] = n
    low = np.empty((2 * n_leaves - 1, dimensions), np.float32)
    high = np.empty((2 * n_leaves - 1, dimensions), np.float32)
    stack = np.zeros(levels + 2, np.int64)
    depth = 1
    while depth > 0:  # depth first: what was just moved is still in the cache
        depth -= 1
        node = stack[depth]
        begin, end = bounds[node, 0], bounds[node, 1]
        _bounding_box(moved[begin:end], low[node], high[node])
        if node >= n_leaves - 1:
            continue
        blocks = (end - begin + LEAF_SIZE - 1) // LEAF_SIZE
        middle = min(begin + (blocks + 1) // 2 * LEAF_SIZE, end)
        if middle < end:
            _select(moved, int(np.argmax(high[node] - low[node])), order, begin, end - 1, middle)
        bounds[2 * node + 1] = (begin, middle)
        bounds[2 * node + 2] = (middle, end)
        stack[depth] = 2 * node + 2
        stack[depth + 1] = 2 * node + 1
        depth += 2
    return order, _as_blocks(moved), bounds[n_leaves - 1 :], low, high


@jit
def _bounding_box(points: Any, low: Any, high: Any) -> None:
    low[:], high[:] = np.float32(np.inf), np.float32(-np.inf)
    for point in points:
        for k in range(len(point)):
            low[k], high[k] = min(low[k], point[k]), max(high[k], point[k])


@jit
def _select(points: Any, column: int, order: Any, left: int, right: int, k: int) -> None:
    """Quickselect: put at position k of `points` and `order` what a sort of left..right by a column would put there."""
    while left < right:
        pivot = points[(left + right) // 2, column]
        i, j = left, right
        while i <= j:
            while points[i, column] < pivot:
                i += 1
            while points[j, column] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                for each in range(points.shape[1]):
                    points[i, each], points[j, each] = points[j, each], points[i, each]
                i += 1
                j -= 1
        if k <= j:
            right = j
        elif k >= i:
            left = i
        else:
            return


@jit
def _as_blocks(points: Any) -> Any:
    """Turn every LEAF_SIZE points into one (dimensions, LEAF_SIZE) block, in their place."""
    dimensions = points.shape[1]
    blocks = points.reshape(len(points) // LEAF_SIZE, dimensions, LEAF_SIZE)
    for block in range(len(blocks)):
        here = points[block * LEAF_SIZE : (block + 1) * LEAF_SIZE].copy()
        for place in range(LEAF_SIZE):
            for k in range(dimensions):
                blocks[block, k, place] = here[place, k]
    return blocks


@jit
def merge_greedily(points: Any, threshold: Any, online: bool, labels: Any, nearest: Any, n_before: int) -> Any:
    """Alg. 1: return the rows that became vertices, numbered from `n_before` on, and set the label of every row.

    `labels` and `nearest` come with the nearest earlier vertex of each row, if any is within the radius, and the square
    of its distance; otherwise -1 and infinity. `threshold` is the largest float32 square that counts as within the
    radius.
    """
    return scan(points, 0, len(points), build_tree(points), threshold, online, labels, nearest, n_before)


@jit
def scan(
    points: Any, first: int, end: int, tree: Any, threshold: Any, online: bool, labels: Any, nearest: Any, n_before: int
) -> Any:
    """Scan some of the rows, from `first` to before `end`, all earlier ones having been scanned.

    When a row becomes a vertex, every row within the radius of it is covered and remembers the nearest vertex so far:
    scanning for a vertex and labelling are the same search.
    """
    rows, room = np.empty(end - first, np.int32), _room()
    n_vertices = 0
    for row in range(first, end):
        if labels[row] < 0:
            from_row = row if online else 0
            _mark(points[row], n_before + n_vertices, tree, threshold, from_row, labels, nearest, room)
            rows[n_vertices] = row
            n_vertices += 1
    return rows[:n_vertices].copy()


@jit
def cover(centres: Any, tree: Any, threshold: Any, labels: Any, nearest: Any, n_before: int) -> None:
    """Let the rows of a tree remember vertices that were found elsewhere, numbered from `n_before` on."""
    room = _room()
    for i in range(len(centres)):
        _mark(centres[i], n_before + i, tree, threshold, 0, labels, nearest, room)


@jit
def _room() -> Any:
    """Room for the nodes to visit, of a tree of any depth, and for the squares of a leaf."""
    return np.empty(64, np.int64), np.empty(LEAF_SIZE, np.float32)


@jit
def _mark(
    centre: Any, vertex: int, tree: Any, threshold: Any, from_row: int, labels: Any, nearest: Any, room: Any
) -> None:
    """Label the rows within the radius of a vertex, `from_row` on, that know no nearer one.

    The search visits only the boxes that the ball touches. A box's distance may be summed in any order, which is
    faster; it is held against a threshold wider than all rounding, so that no point that counts is skipped.
    """
    order, blocks, leaves, low, high = tree
    n_leaves = len(leaves)
    stack, squares = room
    beyond = threshold * np.float32(1 + 1e-6 * len(centre))
    depth = 1
    stack[0] = 0
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if _box_square(centre, low[node], high[node]) > beyond:
            continue
        if node < n_leaves - 1:
            stack[depth] = 2 * node + 2
            stack[depth + 1] = 2 * node + 1
            depth += 2
            continue
        begin, end = leaves[node - n_leaves + 1]
        if begin == end:
            continue
        _leaf_squares(centre, blocks[begin // LEAF_SIZE], squares)
        for place in range(end - begin):
            square = squares[place]
            if square <= threshold:
                member = order[begin + place]
                if square < nearest[member] and member >= from_row:
                    nearest[member] = square
                    labels[member] = vertex


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def _box_square(centre: Any, low: Any, high: Any) -> Any:
    square = np.float32(0)
    for k in range(len(centre)):
        gap = max(low[k] - centre[k], centre[k] - high[k], np.float32(0))
        square += gap * gap
    return square


@jit
def _leaf_squares(centre: Any, block: Any, squares: Any) -> None:
    """Sum over dimensions one by one, as `squared_distances` does; four of them are read at a time."""
    dimensions, width = block.shape
    squares[:] = np.float32(0)
    in_fours = dimensions // 4 * 4
    for k in range(0, in_fours, 4):
        c0, c1, c2, c3 = centre[k], centre[k + 1], centre[k + 2], centre[k + 3]
        for place in range(width):
            g0, g1 = block[k, place] - c0, block[k + 1, place] - c1
            g2, g3 = block[k + 2, place] - c2, block[k + 3, place] - c3
            squares[place] = (((squares[place] + g0 * g0) + g1 * g1) + g2 * g2) + g3 * g3
    for k in range(in_fours, dimensions):
        for place in range(width):
            gap = block[k, place] - centre[k]
            squares[place] += gap * gap
