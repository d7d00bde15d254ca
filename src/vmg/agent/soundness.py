"""Whether a graph that was read is one: what it says of itself in several places must agree."""

import numpy as np

from vmg.base.types import Float32s
from vmg.graph import MemoryGraph
from vmg.graph.routes.edges import are_indices

_TYPES = {
    "features": np.float32, "states": np.float32, "rows": np.int32, "first_edge": np.int32, "heads": np.int32,
    "counts": np.int32, "labels": np.int32, "slots": np.int32, "lengths": np.int64,
}  # fmt: skip


def is_sound(graph: MemoryGraph) -> bool:
    """Say whether arrays have the right types and sizes, lie within each other, and tell the same story."""
    if any(getattr(graph, name).dtype != dtype for name, dtype in _TYPES.items()):
        return False
    return _has_sizes(graph) and _has_edges(graph) and _has_steps(graph) and _has_rest(graph)


def _has_sizes(graph: MemoryGraph) -> bool:
    n, n_rows, n_steps = len(graph.features), len(graph.labels), len(graph.slots)
    vectors = (graph.rows, graph.first_edge, graph.heads, graph.counts, graph.labels, graph.slots, graph.lengths)
    return bool(
        graph.features.ndim == graph.states.ndim == 2
        and all(array.ndim == 1 for array in vectors)
        and n == len(graph.states) == len(graph.rows) > 0
        and len(graph.counts) == len(graph.heads) + n
        and n_rows == n_steps + len(graph.lengths)
        and ((graph.lengths > 0) & (graph.lengths <= n_steps)).all()
        and graph.lengths.sum() == n_steps
        and 0 <= graph.radius < np.inf
        and np.isfinite(graph.features).all()
        and np.isfinite(graph.states).all()
    )


def _has_edges(graph: MemoryGraph) -> bool:
    """Say whether edges join two different vertices, in order, each pair once."""
    n, first = graph.n_vertices, graph.first_edge
    if first.shape != (n + 1,) or first[0] != 0 or first[-1] != graph.n_edges or (np.diff(first) < 0).any():
        return False
    keys = graph.tails.astype(np.int64) * n + graph.heads
    return bool(are_indices(graph.heads, n) and (graph.tails != graph.heads).all() and (np.diff(keys) > 0).all())


def _has_steps(graph: MemoryGraph) -> bool:
    """Say whether every step lies where the vertices of its two observations say, and is counted there."""
    n, n_edges, labels, slots = graph.n_vertices, graph.n_edges, graph.labels, graph.slots
    indices = are_indices(labels, n) and are_indices(slots, n_edges + n) and are_indices(graph.rows, len(labels))
    if not indices or (labels[graph.rows] != np.arange(n)).any():
        return False
    tails, heads = (np.concatenate([ends, np.arange(n)])[slots] for ends in (graph.tails, graph.heads))
    return bool(
        (tails == labels[graph.arrivals - 1]).all()
        and (heads == labels[graph.arrivals]).all()
        and (np.bincount(slots, minlength=n_edges + n) == graph.counts).all()
    )


def _has_rest(graph: MemoryGraph) -> bool:
    """Say whether recordings, falls, goal columns and unrecorded edges fit vertices and edges."""
    n_rows, (_, dimension), size = len(graph.labels), graph.features.shape, graph.states.shape[1]
    recordings, places, columns = graph.recordings, graph.places, list(graph.goal_columns)
    if recordings and not (
        _is_table(recordings.features, (n_rows, dimension)) and _is_kept(graph, recordings.observations)
    ):
        return False
    if not (are_indices(graph.falls, n_rows) and graph.falls.ndim == 1 and (np.diff(graph.falls) > 0).all()):
        return False
    if not (are_indices(graph.unhandled, size) and graph.unhandled.ndim == 1 and (np.diff(graph.unhandled) > 0).all()):
        return False
    if graph.observations is not None and not _is_kept(graph, graph.observations):
        return False
    if places is None:
        return _has_unrecorded(graph)
    named = all(0 <= column < size for column in columns) and _is_table(places, (n_rows, len(columns)))
    return named and bool((places[graph.rows] == graph.states[:, columns]).all()) and _has_unrecorded(graph)


def _is_kept(graph: MemoryGraph, observations: Float32s) -> bool:
    """Say whether these are the observations that the graph was built from, as far as it knows them."""
    shape = (len(graph.labels), graph.states.shape[1])
    return _is_table(observations, shape) and bool((observations[graph.rows] == graph.states).all())


def _is_table(table: Float32s, shape: tuple[int, int]) -> bool:
    return table.shape == shape and table.dtype == np.float32 and bool(np.isfinite(table).all())


def _has_unrecorded(graph: MemoryGraph) -> bool:
    beyond, counts = graph.unrecorded, graph.counts[: graph.n_edges]
    if beyond is None:
        return bool((counts > 0).all())
    numbers = (beyond.edges, beyond.kinds, beyond.steps, beyond.prices)
    return bool(
        all(each.shape == beyond.edges.shape == (len(beyond.edges),) for each in numbers)
        and are_indices(beyond.edges, graph.n_edges)
        and are_indices(beyond.kinds, len(beyond.sources))
        and (np.diff(beyond.edges) > 0).all()
        and np.array_equal(beyond.edges, np.flatnonzero(counts == 0))
        and np.isfinite(beyond.prices).all()
        and ((beyond.steps > 0) & (beyond.steps < np.inf)).all()
    )
