"""Recorded edges of a graph whose recordings became longer: only steps whose vertices are new or changed are joined."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vmg.base.types import Bools, Int32s, Int64s

if TYPE_CHECKING:
    from vmg.graph.memory import MemoryGraph


class Joined(NamedTuple):
    """The edges of a graph, as `MemoryGraph` has them."""

    first_edge: Int32s
    heads: Int32s
    counts: Int32s
    slots: Int32s


def rejoin(graph: "MemoryGraph", labels: Int32s, lengths: Int64s, moved: Int64s, n: int) -> Joined:
    """Return the recorded edges between n vertices, equal to those joined anew from all steps.

    `labels` and `lengths` are those of the longer recordings, which begin with those of the graph; `moved` are earlier
    observations that have another vertex now. Edges that no step takes any more, and unrecorded ones, are left out.
    Sorting is in proportion to the steps joined; the rest are a few passes over the arrays.
    """
    steps, rows = _steps_to_join(graph, lengths, moved)
    n_earlier = int(np.searchsorted(steps, len(graph.slots)))
    counts = graph.counts.copy()
    np.subtract.at(counts, graph.slots[steps[:n_earlier]], 1)
    tails, heads = labels[rows].astype(np.int64), labels[rows + 1].astype(np.int64)
    moving = tails != heads
    places = _places(graph, counts[: graph.n_edges], tails[moving] * n + heads[moving], n)
    n_edges = len(places.heads)
    inside = np.zeros(n, np.int32)
    inside[: graph.n_vertices] = counts[graph.n_edges :]
    inside += np.bincount(tails[~moving], minlength=n).astype(np.int32)
    slots = np.empty(int(lengths.sum()), np.int32)
    renumbered = np.concatenate([places.earlier, np.arange(n_edges, n_edges + graph.n_vertices, dtype=np.int32)])
    np.take(renumbered, graph.slots, out=slots[: len(graph.slots)])
    slots[steps[moving]], slots[steps[~moving]] = places.joined, n_edges + tails[~moving]
    return Joined(places.first_edge, places.heads, np.concatenate([places.counts, inside]), slots)


def _steps_to_join(graph: "MemoryGraph", lengths: Int64s, moved: Int64s) -> tuple[Int64s, Int64s]:
    """Return earlier steps from or to an observation that moved and all new ones, and the rows they leave."""
    first_row = np.concatenate([[0], np.cumsum(lengths + 1)])
    episode = np.searchsorted(first_row, moved, side="right") - 1
    leaving, arriving = moved < first_row[episode + 1] - 1, moved > first_row[episode]
    rows = np.unique(np.concatenate([moved[leaving], moved[arriving] - 1]))
    earlier = rows - (np.searchsorted(first_row, rows, side="right") - 1)
    n_earlier, later = len(graph.lengths), lengths[len(graph.lengths) :]
    new = np.arange(len(graph.slots), int(lengths.sum()))
    of_new = new + np.repeat(np.arange(n_earlier, len(lengths)), later)
    return np.concatenate([earlier, new]), np.concatenate([rows, of_new])


class _Places(NamedTuple):
    """Edges in their new order, and where earlier edges and the steps that were joined are found in it."""

    first_edge: Int32s
    heads: Int32s
    counts: Int32s
    earlier: Int32s
    joined: Int32s


def _places(graph: "MemoryGraph", counts: Int32s, keys: Int64s, n: int) -> _Places:
    """Put the edges of these steps, tail · n + head, in order among those that are still taken."""
    there = graph.tails.astype(np.int64) * n + graph.heads
    found, which, times = np.unique(keys, return_inverse=True, return_counts=True)
    before = np.searchsorted(there, found)
    known = _are_at(there, before, found)
    counts[before[known]] += times[known].astype(np.int32)
    taken, new = counts > 0, ~known
    kept_before = np.concatenate([[0], np.cumsum(taken)])
    new_before = np.cumsum(np.bincount(before[new], minlength=len(there) + 1))
    earlier = (kept_before[:-1] + new_before[:-1]).astype(np.int32)
    inserted = kept_before[before[new]] + np.arange(np.count_nonzero(new))
    heads, on_edge = (np.empty(kept_before[-1] + len(inserted), np.int32) for _ in range(2))
    heads[earlier[taken]], heads[inserted] = graph.heads[taken], found[new] % n
    on_edge[earlier[taken]], on_edge[inserted] = counts[taken], times[new]
    degrees = np.bincount(graph.tails[taken], minlength=n) + np.bincount(found[new] // n, minlength=n)
    place = np.empty(len(found), np.int32)
    place[known], place[new] = earlier[before[known]], inserted
    first_edge = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int32)
    return _Places(first_edge, heads, on_edge, earlier, place[which])


def _are_at(keys: Int64s, places: Int64s, wanted: Int64s) -> Bools:
    """Say which of the keys wanted stand at their places."""
    there = places < len(keys)
    there[there] = keys[places[there]] == wanted[there]
    return there
