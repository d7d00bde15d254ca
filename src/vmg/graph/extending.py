"""Extending: the graph of longer recordings from that of their beginning, exactly, and without building it again.

    build(features, episodes)  ==  extend(build(first features, first episodes), features, episodes)

Earlier vertices stay what they are: the greedy scan goes on over the new states. An earlier state can only go over to a
new vertex that is nearer than its own; its own is then less than two radii away from the new one.
"""

from dataclasses import replace
from typing import Protocol

import numpy as np

from vmg.base.arguments import checked
from vmg.base.errors import VMGError
from vmg.base.types import Float32s, Int32s, Int64s
from vmg.data.episodes import Episodes
from vmg.graph import kernels
from vmg.graph.edges import EDGE_SOURCES
from vmg.graph.edges.rejoining import rejoin
from vmg.graph.memory import MemoryGraph, keeping
from vmg.graph.merging import FARTHEST, merge_on, warn_of_extremes
from vmg.graph.settings import GraphConfig, Labelling

LOOKED_AT = 1_000
"""Vertices that are held against the data, to see that these are the graph's."""


class Rows(Protocol):
    """A table of features of which only some rows are read: an array, a memory map, or what makes them when asked."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def __getitem__(self, rows: slice | Int32s | Int64s) -> Float32s: ...


@checked
def extend(
    graph: MemoryGraph,
    features: Rows,
    episodes: Episodes,
    *,
    labelling: Labelling = "nearest",
    edges: tuple[str, ...] = ("recorded",),
) -> MemoryGraph:
    """Return the graph of all these episodes, given that of the first of them: bit for bit what `build` returns.

    `features` holds one row for every observation, earlier ones too, `labelling` and `edges` are what the graph was
    built with; what it keeps (recordings, goal columns) it keeps of the new episodes, too. A graph merged by k-means
    cannot be extended.

    Time: in proportion to the new states, to earlier ones near new vertices, and some passes over labels and edges;
    sources of edges other than "recorded" are asked anew. Memory: that of the longer graph.
    """
    settings = GraphConfig(radius=graph.radius, labelling=labelling, edges=edges)
    _refuse_others(graph, features, episodes)
    if len(episodes) == len(graph.lengths):
        return graph
    n_rows, n_before = len(graph.labels), graph.n_vertices
    found, of_new = merge_on(graph.index, np.asarray(features[n_rows:]), graph.radius, labelling=labelling)
    rows = (found + n_rows).astype(np.int32)
    vertices = np.concatenate([graph.features, np.asarray(features[rows], np.float32)])
    labels, moved = np.concatenate([graph.labels, of_new]), np.zeros(0, np.int64)
    if labelling == "nearest" and len(rows):
        moved, to = _moved(graph, vertices[n_before:], features)
        labels[moved] = to
    joined = rejoin(graph, labels, episodes.lengths, moved, len(vertices))
    warn_of_extremes(len(vertices), len(labels), graph.radius)
    extended = replace(
        graph,
        features=vertices,
        states=np.concatenate([graph.states, episodes.observations[rows]]),
        rows=np.concatenate([graph.rows, rows]),
        labels=labels,
        lengths=episodes.lengths,
        unrecorded=None,
        **joined._asdict(),
    )
    for source in settings.edges[1:]:
        extended = EDGE_SOURCES.find(source)(extended, episodes)
    return keeping(extended, features, episodes, graph.goal_columns, recordings=graph.recordings is not None)


def _moved(graph: MemoryGraph, new: Float32s, features: Rows) -> tuple[Int64s, Int32s]:
    """Return the earlier observations that are nearer to a new vertex than to their own, and the vertex they go to."""
    first_near, near = graph.index.around(new, 2 * min(graph.radius, FARTHEST))
    groups, near = np.unique(near, return_inverse=True)
    group_of = np.full(graph.n_vertices, -1, np.int32)
    group_of[groups] = np.arange(len(groups))
    first_member, rows = kernels.extending.members_of(graph.labels, group_of, len(groups))
    own, points = graph.labels[rows], np.ascontiguousarray(features[rows], np.float32)
    labels = own.copy()
    kernels.extending.move_members(graph.features, new, first_near, near, first_member, points, labels)
    moved = np.flatnonzero(labels != own)
    moved = moved[np.argsort(rows[moved])]
    return rows[moved], labels[moved]


def _refuse_others(graph: MemoryGraph, features: Rows, episodes: Episodes) -> None:
    """Refuse data that do not begin with those of the graph, as far as that shows."""
    n_rows = len(episodes.observations)
    if len(features.shape) != 2 or features.shape != (n_rows, graph.features.shape[1]):
        raise VMGError(
            f"The features of {episodes.source} have the shape {features.shape}, but its {n_rows:,} observations need "
            f"one row of {graph.features.shape[1]} numbers each, the last of each episode too."
        )
    if not np.array_equal(episodes.lengths[: len(graph.lengths)], graph.lengths):
        raise VMGError(
            f"{episodes.source} does not begin with the {len(graph.lengths):,} episodes that the graph was built from: "
            "give those first, in their order, and the new ones after them."
        )
    some = np.linspace(0, graph.n_vertices - 1, LOOKED_AT).astype(np.int64)
    states, points = episodes.observations[graph.rows[some]], np.asarray(features[graph.rows[some]])
    rounding = 1e-4 * float(np.abs(points).max(initial=0))  # features may have been made on another machine
    if not np.array_equal(states, graph.states[some]) or np.abs(points - graph.features[some]).max() > rounding:
        raise VMGError(
            f"The vertices of the graph are not recorded states of {episodes.source}, or it was built from other "
            "features: only a graph that was merged greedily can be extended, with the networks that it was built with."
        )
