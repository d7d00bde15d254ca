"""What an edge is, and what a source of edges must do."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from vmg.base.errors import VMGError
from vmg.base.registry import Registry
from vmg.base.types import Float64s, Int32s
from vmg.data.episodes import Episodes

if TYPE_CHECKING:
    from vmg.graph.memory import MemoryGraph


@dataclass(frozen=True)
class Edge:
    """One edge with all that is known of it."""

    tail: int
    head: int
    kind: str
    """The source it comes from."""
    steps: float
    """Environment steps that taking it is expected to need."""
    evidence: int
    """Recorded steps that took it."""
    price: float
    """What is taken off its reward, because nobody recorded it."""


@dataclass(frozen=True, eq=False)
class Unrecorded:
    """Which edges of a graph nobody recorded, and what their sources say of them."""

    edges: Int32s
    """Their numbers in the graph, ascending."""
    kinds: Int32s
    """Their sources, as an index into `sources`."""
    sources: tuple[str, ...]
    steps: Float64s
    prices: Float64s


EdgeSource: TypeAlias = "Callable[[MemoryGraph, Episodes], MemoryGraph]"
"""Returns the graph with this source's edges."""
EDGE_SOURCES: Registry[EdgeSource] = Registry("source of edges")


def add_edges(
    graph: "MemoryGraph", kind: str, tails: ArrayLike, heads: ArrayLike, *, steps: ArrayLike, prices: ArrayLike
) -> "MemoryGraph":
    """Return the graph with edges that nobody recorded; those it has already are left as they are.

    `steps`: environment steps that taking each is expected to need. `prices`: what is taken off the reward of each, so
    that recorded ways are preferred. Both may be one number for all. Of edges given twice the first counts.
    """
    n, (tail, head) = graph.n_vertices, (np.asarray(each) for each in (tails, heads))
    if not _joining(tail, head, n):
        raise VMGError(f"Edges of {kind!r} must join two different vertices, 0 to {n - 1}, with one tail per head.")
    step, price = (_for_each(each, tail.shape) for each in (steps, prices))
    if step is None or price is None or not (step > 0).all():
        raise VMGError(f"Edges of {kind!r} need finite prices and more than 0 steps, one of each for all or for each.")
    there = graph.tails.astype(np.int64) * n + graph.heads
    keys, first = np.unique(tail.astype(np.int64) * n + head.astype(np.int64), return_index=True)
    new = ~np.isin(keys, there)
    return _joined(graph, kind, there, keys[new], step[first[new]], price[first[new]]) if new.any() else graph


def _joined(
    graph: "MemoryGraph", kind: str, there: np.ndarray, new: np.ndarray, steps: Float64s, prices: Float64s
) -> "MemoryGraph":
    """Put new edges in order among those there; steps and what was unrecorded before move along."""
    n, n_there = graph.n_vertices, len(there)
    order = np.argsort(np.concatenate([there, new]), kind="stable")
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    keys = np.concatenate([there, new])[order]
    counts = np.concatenate([np.zeros(len(order), np.int32), graph.counts[n_there:]])
    counts[place[:n_there]] = graph.counts[:n_there]
    before = graph.unrecorded or Unrecorded(*_NOTHING)
    sources = before.sources if kind in before.sources else (*before.sources, kind)
    edges = np.concatenate([place[before.edges], place[n_there:]])
    kinds = np.concatenate([before.kinds, np.full(len(new), sources.index(kind), np.int32)])
    by_edge = np.argsort(edges)
    on_edge = graph.slots < n_there
    slots = np.where(on_edge, place[np.where(on_edge, graph.slots, 0)], graph.slots + len(new)).astype(np.int32)
    return replace(
        graph,
        first_edge=np.searchsorted(keys, np.arange(n + 1) * n).astype(np.int32),
        heads=(keys % n).astype(np.int32),
        counts=counts,
        slots=slots if n_there else (graph.slots + len(new)).astype(np.int32),
        unrecorded=Unrecorded(
            edges[by_edge],
            kinds[by_edge],
            sources,
            np.concatenate([before.steps, steps])[by_edge],
            np.concatenate([before.prices, prices])[by_edge],
        ),
    )


_NOTHING = (np.zeros(0, np.int32), np.zeros(0, np.int32), (), np.zeros(0), np.zeros(0))


def _joining(tails: np.ndarray, heads: np.ndarray, n: int) -> bool:
    """Say whether these are pairs of different vertices."""
    if tails.shape != heads.shape or tails.ndim != 1:
        return False
    ends = np.concatenate([tails, heads])
    whole = len(ends) == 0 or np.issubdtype(ends.dtype, np.integer)  # an empty list is one of floats
    return bool(whole and ((ends >= 0) & (ends < n)).all() and (tails != heads).all())


def _for_each(numbers: ArrayLike, shape: tuple[int, ...]) -> Float64s | None:
    """Return one finite number for each edge, or None if there are not."""
    given = np.asarray(numbers, np.float64)
    fits = given.shape in ((), shape) and np.isfinite(given).all()
    return np.broadcast_to(given, shape) if fits else None
