"""Solving without a compiler: values and targets by numpy over all edges at once, paths by scipy's Dijkstra."""

from itertools import count
from typing import Any, NamedTuple

import numpy as np

from vmg.base.errors import require
from vmg.base.types import Bools, Float64s, Int32s, Int64s
from vmg.graph import EdgeRewards, MemoryGraph

TIE = 1e-6
EDGE = 1e-9
"""Added to every weight: of equally cheap paths it prefers fewer edges, and scipy takes a weight of 0 for no edge."""


class Tables(NamedTuple):
    """What a vertex is worth, its target, what the path there costs, and the first vertex on it."""

    values: Float64s
    targets: Int64s
    costs: Float64s
    hops: Int64s


def sweep_values(graph: MemoryGraph, rewards: EdgeRewards, discount: float, error: float) -> Float64s:
    """V(j) = max over edges of R_G + discount · V, all vertices at once; dead ends and goals loop."""
    n, stop = graph.n_vertices, error * (1 - discount) / discount
    followed = np.flatnonzero(~rewards.absorbing[graph.tails])
    tails, heads, edge_rewards = graph.tails[followed], graph.heads[followed], rewards.edges[followed]
    moving, starts = np.unique(tails, return_index=True)
    values = np.zeros(n)
    settled = np.setdiff1d(np.arange(n), moving)
    values[settled] = _loop_worth(n, heads, edge_rewards, rewards)[settled] / (1 - discount)
    while True:
        swept = np.maximum.reduceat(edge_rewards + discount * values[heads], starts)
        change = np.abs(swept - values[moving]).max()
        values[moving] = swept
        if change <= stop:
            return values


def solve_tables(
    graph: MemoryGraph, rewards: EdgeRewards, discount: float, error: float, search_steps: int | None = None
) -> Tables:
    """Solve for values, targets and the cheapest path of every vertex to its target.

    Without a limit no path leaves the vertices of its target, so that one Dijkstra serves all of them.
    """
    values = sweep_values(graph, rewards, discount, error)
    looping = rewards.absorbing | (np.diff(graph.first_edge) == 0)
    followed = np.flatnonzero(~rewards.absorbing[graph.tails])
    tails, heads = graph.tails[followed], graph.heads[followed]
    weights = (rewards.edges.max() - rewards.edges)[followed]
    targets = _best_reachable(tails, heads, _by_rank(values, looping), search_steps)
    if search_steps is None:
        inside = targets[tails] == targets[heads]
        tails, heads, weights = tails[inside], heads[inside], weights[inside]
    sparse = require("scipy.sparse", "bench")
    backwards = sparse.csr_array((weights + EDGE, (heads, tails)), shape=(len(targets), len(targets)))
    search = _one_search if search_steps is None else _search_each
    return Tables(values, targets, *search(backwards, targets))


def costs_along(graph: MemoryGraph, steps: Int64s, switches: Int64s, there: Bools) -> Float64s:
    """What the cheapest route from every recorded observation to those that are there costs, along recordings.

    Nodes are observations, then vertices. `steps` costs a step along the recording (below 0 where it ends), `switches`
    the way between an observation and its vertex.
    """
    sparse, dijkstra = require("scipy.sparse", "bench"), require("scipy.sparse.csgraph", "bench").dijkstra
    labels, n_rows = graph.labels, len(graph.labels)
    rows = np.arange(n_rows)
    on, off = rows[(steps >= 0) & ~there], rows[~there]
    hubs, n = n_rows + labels, n_rows + graph.n_vertices
    tails, heads = np.concatenate([on, off, hubs]), np.concatenate([on + 1, hubs[off], rows])
    weights = np.concatenate([steps[on], switches[off], switches])
    backwards = sparse.csr_array((weights + EDGE, (heads, tails)), shape=(n, n))
    found: Float64s = dijkstra(backwards, indices=rows[there], min_only=True)
    return found[:n_rows]


def _one_search(backwards: Any, targets: Int64s) -> tuple[Float64s, Int64s]:
    dijkstra = require("scipy.sparse.csgraph", "bench").dijkstra
    costs, before, _ = dijkstra(backwards, indices=np.unique(targets), min_only=True, return_predecessors=True)
    return costs, np.where(before < 0, np.arange(len(targets)), before)


def _search_each(backwards: Any, targets: Int64s) -> tuple[Float64s, Int64s]:
    dijkstra = require("scipy.sparse.csgraph", "bench").dijkstra
    vertices = np.arange(len(targets))
    costs, hops = np.empty(len(targets)), vertices.copy()
    for target in np.unique(targets):
        own = vertices[targets == target]
        to_target, before = dijkstra(backwards, indices=target, return_predecessors=True)
        costs[own], hops[own] = to_target[own], np.where(before[own] < 0, own, before[own])
    return costs, hops


def _by_rank(values: Float64s, looping: Bools) -> Int64s:
    """Vertices from the best down; of equal ones looping ones first, then the lower index."""
    descending = np.argsort(-values, kind="stable")
    falls = -np.diff(values[descending]) > TIE * np.abs(values[descending][:-1])
    classes = np.empty(len(values), np.int64)
    classes[descending] = np.concatenate([[0], np.cumsum(falls)])
    return np.lexsort((~looping, classes))


def _best_reachable(tails: Int32s, heads: Int32s, by_rank: Int64s, search_steps: int | None) -> Int64s:
    """Pass the best rank on against the edges, this many times or until nothing changes."""
    ranks = np.empty(len(by_rank), np.int64)
    ranks[by_rank] = np.arange(len(by_rank))
    moving, starts = np.unique(tails, return_index=True)
    for _ in count() if search_steps is None else range(search_steps):
        passed = np.minimum(ranks[moving], np.minimum.reduceat(ranks[heads], starts))
        if np.array_equal(passed, ranks[moving]):
            break
        ranks[moving] = passed
    return by_rank[ranks]


def _loop_worth(n: int, heads: np.ndarray, edge_rewards: Float64s, rewards: EdgeRewards) -> Float64s:
    """Best reward that leads into each vertex, 0 where none does; a goal's own worth."""
    by_head = np.argsort(heads, kind="stable")
    entered, starts = np.unique(heads[by_head], return_index=True)
    worth = np.zeros(n)
    worth[entered] = np.maximum.reduceat(edge_rewards[by_head], starts)
    worth[rewards.absorbing] = rewards.loop
    return worth
