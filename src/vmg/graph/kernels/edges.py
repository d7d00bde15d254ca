"""Edges from recorded steps: sorted by counting, since vertices are numbered."""

from typing import Any

import numpy as np

from vmg.graph.kernels.compiling import jit


@jit
def join_steps(tails: Any, heads: Any, n: int) -> Any:
    """Edges between n vertices from the vertices every step leaves and arrives at.

    Return (first edge of each vertex, head of each edge, steps on each edge and then inside each vertex, slot of every
    step). Steps are sorted by head, then by tail, each by counting.
    """
    n_steps = len(tails)
    slots = np.empty(n_steps, np.int32)
    first_edge = np.zeros(n + 1, np.int32)
    edge_heads = np.empty(n_steps, np.int32)
    counts = np.zeros(n_steps + n, np.int32)
    n_edges = 0
    last_tail, last_head = -1, -1
    in_order = slots  # its room is free until the steps are sorted
    for step in range(n_steps):
        in_order[step] = step
    for step in _sorted_by(tails, _sorted_by(heads, in_order, n), n):
        tail, head = tails[step], heads[step]
        if tail == head:
            continue
        if tail != last_tail or head != last_head:
            edge_heads[n_edges] = head
            first_edge[tail + 1] += 1
            n_edges += 1
            last_tail, last_head = tail, head
        slots[step] = n_edges - 1
        counts[n_edges - 1] += 1
    for step in range(n_steps):
        if tails[step] == heads[step]:
            slots[step] = n_edges + tails[step]
            counts[slots[step]] += 1
    for vertex in range(n):
        first_edge[vertex + 1] += first_edge[vertex]
    return first_edge, edge_heads[:n_edges].copy(), counts[: n_edges + n].copy(), slots


@jit
def _sorted_by(keys: Any, order: Any, n: int) -> Any:
    """Sort by keys below n; equal ones keep their order."""
    first = np.zeros(n + 1, np.int64)
    for key in keys:
        first[key + 1] += 1
    for key in range(n):
        first[key + 1] += first[key]
    found = np.empty_like(order)
    for each in order:
        found[first[keys[each]]] = each
        first[keys[each]] += 1
    return found
