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
def insert_edges(
    first_edge: Any, heads: Any, counts: Any, tails_new: Any, heads_new: Any, counts_new: Any, n: int
) -> Any:
    """Put edges, sorted by tail and head, in order among those there that any step takes; n vertices there are then.

    Return (first edge of each vertex, head of each edge, steps on each edge, where those there are now, where the new
    ones are). What is there already gets the steps of both.
    """
    n_there, n_new = len(heads), len(tails_new)
    first, of_both = np.empty(n + 1, np.int32), np.empty((2, n_there + n_new), np.int32)
    place_there, place_new = np.empty(n_there, np.int32), np.empty(n_new, np.int32)
    i = j = place = 0
    for tail in range(n):
        first[tail] = place
        end = first_edge[tail + 1] if tail + 1 < len(first_edge) else n_there
        while i < end or (j < n_new and tails_new[j] == tail):
            head = heads[i] if i < end else n
            head_new = heads_new[j] if j < n_new and tails_new[j] == tail else n
            steps = 0
            if head <= head_new:
                place_there[i], steps = place, counts[i]
                i += 1
            if head_new <= head:
                place_new[j], steps = place, steps + counts_new[j]
                j += 1
            if steps > 0:
                of_both[0, place], of_both[1, place] = min(head, head_new), steps
                place += 1
    first[n] = place
    return first, of_both[0, :place].copy(), of_both[1, :place].copy(), place_there, place_new


@jit
def renumber_slots(slots: Any, place: Any, n_edges: int, renumbered: Any) -> None:
    """Write the slots of steps whose edges have other places now, of `n_edges` in all, and whose vertices have not."""
    for step in range(len(slots)):
        slot = slots[step]
        renumbered[step] = place[slot] if slot < len(place) else slot - len(place) + n_edges


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
