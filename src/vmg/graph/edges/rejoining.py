"""Recorded edges of a graph whose recordings became longer: only steps whose vertices are new or changed are joined."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vmg.base.types import Int32s, Int64s
from vmg.graph import kernels

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
    n_earlier, n_before = int(np.searchsorted(steps, len(graph.slots))), graph.n_edges
    counts = graph.counts.copy()
    np.subtract.at(counts, graph.slots[steps[:n_earlier]], 1)
    tails, heads = labels[rows].astype(np.int64), labels[rows + 1].astype(np.int64)
    moving = tails != heads
    found, which, times = np.unique(tails[moving] * n + heads[moving], return_inverse=True, return_counts=True)
    first_edge, edge_heads, on_edge, place, place_found = kernels.edges.insert_edges(
        graph.first_edge, graph.heads, counts[:n_before], found // n, found % n, times, n
    )
    inside = np.bincount(tails[~moving], minlength=n).astype(np.int32)
    inside[: graph.n_vertices] += counts[n_before:]
    slots = np.empty(int(lengths.sum()), np.int32)
    kernels.edges.renumber_slots(graph.slots, place, len(edge_heads), slots)
    slots[steps[moving]], slots[steps[~moving]] = place_found[which], len(edge_heads) + tails[~moving]
    return Joined(first_edge, edge_heads, np.concatenate([on_edge, inside]), slots)


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
