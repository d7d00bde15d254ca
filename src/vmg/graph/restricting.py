"""A graph without some of its recorded states and steps: the same vertices and rows, fewer ways."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from vmg.base.arguments import checked_number
from vmg.base.types import Bools, Float32s, Int32s, Int64s
from vmg.graph.edges import Unrecorded
from vmg.graph.memory import MemoryGraph
from vmg.graph.nearest import VertexIndex


@dataclass(frozen=True, eq=False)
class RestrictedGraph(MemoryGraph):
    """A graph of which some recorded states and steps are not used. Vertices and rows keep their numbers.

    Steps that are left out lie in a slot of their own, the last one, which no way goes through.
    """

    left_out: Bools | None = None
    """The recorded observations that are not used."""

    @cached_property
    def leaving(self) -> Int32s:
        """The slot of the step that leaves each recorded observation; below 0 where none is left."""
        slots = np.full(len(self.labels), -1, np.int32)
        slots[self.arrivals - 1] = np.where(self.slots < self.n_edges + self.n_vertices, self.slots, -1)
        return slots

    @cached_property
    def members(self) -> tuple[Int64s, Int64s]:
        """Recorded observations that are used, by their vertex: (first of each vertex, rows of the data)."""
        rows = np.flatnonzero(~self._unused)
        counts = np.bincount(self.labels[rows], minlength=self.n_vertices)
        return np.concatenate([[0], np.cumsum(counts)]), rows[np.argsort(self.labels[rows], kind="stable")]

    def nearest_vertices(self, features: Float32s) -> Int32s:
        """Return the nearest vertex of each point, of those that hold an observation that is used."""
        vertices, index = self._used
        return vertices.take(index.nearest(features))

    @cached_property
    def _used(self) -> tuple[Int32s, VertexIndex]:
        vertices = np.flatnonzero(np.diff(self.members[0])).astype(np.int32)
        return vertices, VertexIndex(self.features[vertices])

    @property
    def _unused(self) -> Bools:
        return np.zeros(len(self.labels), bool) if self.left_out is None else self.left_out


def without(graph: MemoryGraph, rows: Bools, *, steps: Bools | None = None, whole_vertices: bool) -> RestrictedGraph:
    """Return the graph without these recorded observations, the steps to and from them, and other steps.

    `whole_vertices`: along edges a vertex is one place, so a vertex with one such observation is left out as a whole.
    """
    if isinstance(graph, RestrictedGraph):
        rows = rows | graph._unused
    if whole_vertices:
        touched = np.zeros(graph.n_vertices, bool)
        touched[graph.labels[rows]] = True
        rows = rows | touched[graph.labels]
    gone = rows[graph.arrivals - 1] | rows[graph.arrivals]
    gone |= graph.slots >= graph.n_edges + graph.n_vertices
    if steps is not None:
        gone |= steps
    used = np.zeros(graph.n_vertices, bool)
    used[graph.labels[~rows]] = True
    recorded = np.bincount(graph.slots[~gone], minlength=len(graph.counts))
    kept = recorded[: graph.n_edges] > 0
    if graph.unrecorded:
        made = graph.unrecorded.edges
        kept[made] = used[graph.tails[made]] & used[graph.heads[made]]
    return _with_edges(graph, kept, recorded, gone, rows)


def without_edges(graph: MemoryGraph, edges: Sequence[tuple[int, int]]) -> RestrictedGraph:
    """Return the graph without these edges, each given by its tail and its head, and without the steps on them."""
    n, kept = graph.n_vertices, np.ones(graph.n_edges, bool)
    named = [tuple(checked_number(end, n, "A vertex") for end in edge) for edge in edges]
    kept[[graph.edge_number(tail, head) for tail, head in named]] = False
    gone = graph.slots >= graph.n_edges + n
    on_edge = graph.slots < graph.n_edges
    gone[on_edge] = ~kept[graph.slots[on_edge]]
    recorded = np.bincount(graph.slots[~gone], minlength=len(graph.counts))
    rows = graph._unused if isinstance(graph, RestrictedGraph) else np.zeros(len(graph.labels), bool)
    return _with_edges(graph, kept, recorded, gone, rows)


def _with_edges(graph: MemoryGraph, kept: Bools, recorded: Int64s, gone: Bools, rows: Bools) -> RestrictedGraph:
    """Number the edges that are kept anew, and the slots with them."""
    n_edges, n = int(kept.sum()), graph.n_vertices
    place = np.full(len(graph.counts) + 1, n_edges + n, np.int32)
    place[: graph.n_edges][kept] = np.arange(n_edges)
    place[graph.n_edges : graph.n_edges + n] = np.arange(n_edges, n_edges + n)
    content = {each.name: getattr(graph, each.name) for each in fields(graph)}
    inside = recorded[graph.n_edges : graph.n_edges + n]
    restricted = RestrictedGraph(
        **content
        | {
            "first_edge": np.concatenate([[0], np.cumsum(np.bincount(graph.tails[kept], minlength=n))]).astype(
                np.int32
            ),
            "heads": graph.heads[kept],
            "counts": np.concatenate([recorded[: graph.n_edges][kept], inside, [0]]).astype(np.int32),
            "slots": np.where(gone, np.int32(n_edges + n), place[graph.slots]).astype(np.int32),
            "unrecorded": _unrecorded(graph.unrecorded, kept, place),
            "left_out": rows,
        }
    )
    if "sight" in graph.__dict__:  # it has the same observations: they need not be looked at again
        restricted.__dict__["sight"] = graph.sight
    return restricted


def _unrecorded(made: Unrecorded | None, kept: Bools, place: Int32s) -> Unrecorded | None:
    if made is None:
        return None
    still = kept[made.edges]
    edges = place[made.edges[still]]
    return replace(made, edges=edges, kinds=made.kinds[still], steps=made.steps[still], prices=made.prices[still])
