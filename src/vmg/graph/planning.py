"""Solving: values, the best vertex each vertex can reach, and the next hop towards it, tabulated once.

A decision then is a look-up: v* = `targets[v]`, and the path to it is read off `hops`.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from vmg.errors import VMGError
from vmg.graph.construction import MemoryGraph
from vmg.graph.rewards import EdgeRewards
from vmg.graph.values import DeadEnds, Values, iterate_values
from vmg.types import Bools, Float64s, Int32s, Int64s

Search = Literal["multi-step", "greedy"]
PathWeights = Literal["rewards", "hops"]
Ties = Literal["index", "nearest"]

TIE = 1e-6
"""Values closer than this (relative) count as equal."""

RESOLUTION = 2**36
"""Path weights are whole numbers: the range of the edge rewards in this many parts, so that sums and ties are exact."""


@dataclass(frozen=True, eq=False)
class Solution:
    """What every vertex is worth, where to go from it and how: 16 bytes a vertex, and no more unless search is limited.

    `hops` leads from entry to entry, an entry that leads to itself ends the path. The first entries are the vertices;
    the others, which exist only when search is limited, are `passed` vertices on the way to somebody else's target.
    """

    values: Float64s
    targets: Int32s
    hops: Int32s
    passed: Int32s

    def path(self, vertex: int) -> list[int]:
        """Return the vertices from `vertex` to its target, both included."""
        entry, path = int(vertex), [int(vertex)]
        while self.hops[entry] != entry:
            entry = int(self.hops[entry])
            path.append(self._vertex_of(np.array([entry]))[0])
        return [int(v) for v in path]

    def subgoals(self, vertices: Int32s, subgoal_steps: int) -> Int32s:
        """Return the vertex `subgoal_steps` edges along each path, or its end if that comes first."""
        entries = np.asarray(vertices, dtype=np.int32)
        for _ in range(subgoal_steps):
            entries = self.hops[entries]
        return self._vertex_of(entries)

    def _vertex_of(self, entries: Int32s) -> Int32s:
        n = len(self.targets)
        if len(self.passed) == 0:
            return entries
        return np.where(entries < n, entries, self.passed[np.maximum(entries - n, 0)]).astype(np.int32)


def solve(
    graph: MemoryGraph,
    rewards: EdgeRewards,
    discount: float,
    *,
    search: Search = "multi-step",
    search_steps: int | None = None,
    path_weights: PathWeights = "rewards",
    ties: Ties = "index",
    dead_ends: DeadEnds = "loop",
    tolerance: float = 1e-6,
) -> Solution:
    """Solve the graph for one reward: value iteration, then targets and paths for every vertex.

    v* is the best-valued vertex within `search_steps` edges (None: all that can be reached), v_c itself included; ties
    go to a looping vertex before one that leads on, then to the lower index or ("nearest", only without a limit) to the
    one that is reached most cheaply. Paths are cheapest by (max R_G) − R_G, or
    by hops; ties go to fewer edges, then to the lower next vertex. "greedy" search replaces both by the best edge out.
    """
    if search not in ("multi-step", "greedy"):
        raise VMGError(f"The search must be 'multi-step' or 'greedy', not {search!r}.")
    if search_steps is not None and search_steps < 0:
        raise VMGError(f"The search steps must be at least 0 or None (no limit), not {search_steps}.")
    if path_weights not in ("rewards", "hops"):
        raise VMGError(f"Path weights must be 'rewards' or 'hops', not {path_weights!r}.")
    if ties not in ("index", "nearest") or (ties == "nearest" and search_steps is not None):
        raise VMGError(f"Ties must be 'index' or, where search_steps is None, 'nearest'; not {ties!r}.")
    solved = iterate_values(graph, rewards, discount, dead_ends=dead_ends, tolerance=tolerance)
    if search == "greedy":
        return _greedy(graph, rewards, solved, discount)
    weights = edge_weights(rewards, graph, path_weights)
    by_rank, groups = _by_rank(solved, ties)
    if search_steps is None:
        return _plan_anywhere(graph, rewards.absorbing, solved, weights, by_rank, groups)
    return _plan_within(graph, rewards.absorbing, solved, weights, by_rank, search_steps)


def edge_weights(rewards: EdgeRewards, graph: MemoryGraph, path_weights: PathWeights) -> Int64s:
    """Whole-number weight of each edge: (max R_G) − R_G in parts of the rewards' range, or 0 when only hops count."""
    followed = rewards.edges[~rewards.absorbing[graph.tails]]
    if path_weights == "hops" or len(followed) == 0:
        return np.zeros(graph.n_edges, np.int64)
    best, spread = followed.max(), np.ptp(followed)
    gaps = (best - rewards.edges) / spread if spread > 0 else np.zeros(graph.n_edges)
    weights: Int64s = np.rint(np.maximum(gaps, 0.0) * RESOLUTION).astype(np.int64)
    return weights


def _by_rank(solved: Values, ties: Ties) -> tuple[Int64s, Int64s]:
    """Vertices from the best down: by value (ties as classes), looping ones first, then by index.

    And the group of each in that order: vertices of a group are equally good, where ties go to the nearest.
    """
    from vmg.graph import kernels

    descending = np.argsort(-solved.values, kind="stable")
    classes = kernels.tie_classes(solved.values, descending, TIE)
    order: Int64s = np.lexsort((~solved.looping, classes))
    groups = np.arange(len(order)) if ties == "index" else (2 * classes + ~solved.looping)[order]
    return order, groups


def _plan_anywhere(
    graph: MemoryGraph, absorbing: Bools, solved: Values, weights: Int64s, by_rank: Int64s, groups: Int64s
) -> Solution:
    """v* is the best of all that can be reached; with it every vertex of a path shares the path's target."""
    from vmg.graph import kernels

    first_in, edges_in = graph.incoming
    targets = kernels.best_reachable(first_in, graph.tails[edges_in], absorbing, by_rank, groups)
    group_of = np.empty_like(groups)
    group_of[by_rank] = groups
    ends = group_of == group_of[targets]
    hops, passed = _hops(graph, absorbing, weights, targets, ends, confined=True)
    return Solution(solved.values, _followed(hops), hops, passed)


def _plan_within(
    graph: MemoryGraph, absorbing: Bools, solved: Values, weights: Int64s, by_rank: Int64s, search_steps: int
) -> Solution:
    """v* is the best within `search_steps` edges; its own target may lie farther on."""
    from vmg.graph import kernels

    ranks = np.empty(graph.n_vertices, np.int64)
    ranks[by_rank] = np.arange(graph.n_vertices)
    targets = kernels.best_within(graph.first_edge, graph.heads, absorbing, ranks, by_rank, search_steps)
    hops, passed = _hops(graph, absorbing, weights, targets, np.zeros(graph.n_vertices, bool), confined=False)
    return Solution(solved.values, targets, hops, passed)


def _hops(
    graph: MemoryGraph, absorbing: Bools, weights: Int64s, targets: Int32s, ends: Bools, *, confined: bool
) -> tuple[Int32s, Int32s]:
    from vmg.graph import kernels

    first_in, edges_in = graph.incoming
    by_target = np.argsort(targets, kind="stable")
    hops, passed = kernels.next_hops(
        first_in, graph.tails[edges_in], weights[edges_in], absorbing, targets, ends, by_target, confined
    )
    return hops, passed


def _followed(hops: Int32s) -> Int32s:
    """Where each path ends: follow one hop, then two, four, eight, ... until nothing moves."""
    ends = hops
    while not np.array_equal(ends, following := ends[ends]):
        ends = following
    return ends


def _greedy(graph: MemoryGraph, rewards: EdgeRewards, solved: Values, discount: float) -> Solution:
    """One hop along the best edge out (the lowest vertex on ties), nowhere from a vertex that is not left."""
    n = graph.n_vertices
    worth = rewards.edges + discount * solved.values[graph.heads]
    by_vertex = np.lexsort((-worth, graph.tails))  # stable: on ties the edges keep their order, lower heads first
    has_edges = np.diff(graph.first_edge) > 0
    best = np.arange(n, dtype=np.int32)
    best[has_edges] = graph.heads[by_vertex[graph.first_edge[:-1][has_edges]]]
    best = np.where(rewards.absorbing, np.arange(n, dtype=np.int32), best).astype(np.int32)
    stays = best == np.arange(n)
    ends = np.arange(n, 2 * n, dtype=np.int32)  # entry n + v: the path ends at v
    return Solution(solved.values, best, np.concatenate([np.where(stays, best, ends[best]), ends]), ends - np.int32(n))
