"""Searches of the published program: breadth first, to one vertex, or along the highest sum of values."""

from typing import Any

import numpy as np

from vmg.graph.kernels.compiling import jit


@jit
def hops_to(first_in: Any, tails_in: Any, target: int, closed: Any, following: Any) -> None:
    """Set the next vertex on a way of fewest hops to the target, for every vertex that has one; others are left.

    What is `closed` is not left again, so no way leads through it.
    """
    seen = np.zeros(len(following), np.bool_)
    queue = np.empty(len(following), np.int32)
    queue[0], seen[target] = target, True
    begin, end = 0, 1
    while begin < end:
        head = queue[begin]
        begin += 1
        for i in range(first_in[head], first_in[head + 1]):
            tail = tails_in[i]
            if not seen[tail] and not closed[tail]:
                seen[tail] = True
                following[tail] = head
                queue[end] = tail
                end += 1


@jit
def half(x: Any) -> Any:
    """Round to float16: 11 binary digits, fewer for the smallest numbers."""
    unit = 2.0**-24
    while abs(x) >= 2048 * unit:
        unit *= 2
    return np.rint(x / unit) * unit


@jit
def highest_sums(first_edge: Any, heads: Any, values: Any, closed: Any, depth: int) -> Any:
    """From every vertex, the breadth-first path to the deepest level whose sum of values is highest, in float16.

    Return the paths, a row each, filled up with their last vertex, and how many vertices each has. Of equal sums the
    one found last wins. Vertices that are `closed` are not left.
    """
    n = len(values)
    paths, lengths = np.empty((n, depth + 1), np.int32), np.empty(n, np.int32)
    found_from, level = np.full(n, -1, np.int32), np.empty(n, np.int32)
    parent, queue, sums = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n)
    for start in range(n):
        queue[0], found_from[start], level[start], sums[start] = start, start, 0, values[start]
        begin, end = 0, 1
        while begin < end:
            tail = queue[begin]
            begin += 1
            if level[tail] == depth or closed[tail]:
                continue
            for edge in range(first_edge[tail], first_edge[tail + 1]):
                head = heads[edge]
                if found_from[head] != start:
                    found_from[head], level[head], parent[head] = start, level[tail] + 1, tail
                    sums[head] = half(values[head] + sums[tail])
                    queue[end] = head
                    end += 1
        best, i = queue[end - 1], end - 1  # the last one found is at the deepest level
        while i >= 0 and level[queue[i]] == level[queue[end - 1]]:
            if sums[queue[i]] > sums[best]:
                best = queue[i]
            i -= 1
        lengths[start] = level[best] + 1
        paths[start, level[best] :] = best
        while best != start:
            best = parent[best]
            paths[start, level[best]] = best
    return paths, lengths
