"""Solving: values, the best vertex each vertex can reach, and the next hop towards it, tabulated once.

A decision then is a look-up: v* = `targets[v]`, and the path to it is read off `hops` (see `vmg.graph.solution`).
"""

from typing import Literal

import numpy as np

from vmg.errors import VMGError
from vmg.graph.construction import MemoryGraph
from vmg.graph.rewards import EdgeRewards
from vmg.graph.solution import STEP, Along, Solution, switch_costs
from vmg.graph.values import DeadEnds, Values, iterate_values
from vmg.types import Bools, Int32s, Int64s

Search = Literal["multi-step", "greedy"]
PathWeights = Literal["rewards", "hops"]
Paths = Literal["edges", "recordings"]
Ties = Literal["index", "nearest"]

TIE = 1e-6
"""Values closer than this (relative) count as equal."""

RESOLUTION = 2**36
"""Path weights are whole numbers: the range of the edge rewards in this many parts, so that sums and ties are exact."""


def solve(
    graph: MemoryGraph,
    rewards: EdgeRewards,
    discount: float,
    *,
    search: Search = "multi-step",
    search_steps: int | None = None,
    path_weights: PathWeights = "rewards",
    paths: Paths = "edges",
    switch_cost: float = 30.0,
    ties: Ties = "index",
    dead_ends: DeadEnds = "loop",
    tolerance: float = 1e-6,
) -> Solution:
    """Solve the graph for one reward: value iteration, then targets and paths for every vertex.

    v* is the best-valued vertex within `search_steps` edges (None: all that can be reached), v_c itself included; ties
    go to a looping vertex before one that leads on, then to the lower index or ("nearest", only without a limit) to the
    one that is reached most cheaply. Paths are cheapest by (max R_G) − R_G, or
    by hops; ties go to fewer edges, then to the lower next vertex. "greedy" search replaces both by the best edge out.

    Paths along "recordings" go from recorded observation to recorded observation: on along the recording at the step's
    own reward gap, or over to another recording in the same vertex, which costs `switch_cost` times as many unrewarded
    steps as the gap between the two is wide.
    """
    if search not in ("multi-step", "greedy"):
        raise VMGError(f"The search must be 'multi-step' or 'greedy', not {search!r}.")
    if search_steps is not None and search_steps < 0:
        raise VMGError(f"The search steps must be at least 0 or None (no limit), not {search_steps}.")
    if path_weights not in ("rewards", "hops"):
        raise VMGError(f"Path weights must be 'rewards' or 'hops', not {path_weights!r}.")
    if paths not in ("edges", "recordings") or (
        paths == "recordings" and (search, search_steps) != ("multi-step", None)
    ):
        raise VMGError(f"Paths must be 'edges' or, where search has no limit, 'recordings'; not {paths!r}.")
    if not 0 <= switch_cost <= 1e6:  # more would not fit into whole-number costs
        raise VMGError(f"The switch cost must lie between 0 and a million, not {switch_cost}.")
    if ties not in ("index", "nearest") or (ties == "nearest" and search_steps is not None):
        raise VMGError(f"Ties must be 'index' or, where search_steps is None, 'nearest'; not {ties!r}.")
    solved = iterate_values(graph, rewards, discount, dead_ends=dead_ends, tolerance=tolerance)
    if search == "greedy":
        return _greedy(graph, rewards, solved, discount)
    by_rank, groups = _by_rank(solved, ties)
    if paths == "recordings":
        costs = slot_costs(graph, rewards, path_weights)
        return _plan_along(graph, rewards.absorbing, solved, costs, switch_cost, by_rank, groups)
    weights = edge_weights(rewards, graph, path_weights)
    if search_steps is None:
        return _plan_anywhere(graph, rewards.absorbing, solved, weights, by_rank, groups)
    return _plan_within(graph, rewards.absorbing, solved, weights, by_rank, search_steps)


def edge_weights(rewards: EdgeRewards, graph: MemoryGraph, path_weights: PathWeights) -> Int64s:
    """Whole-number weight of each edge: (max R_G) − R_G in parts of the rewards' range, or 1 where only hops count."""
    followed = rewards.edges[~rewards.absorbing[graph.tails]]
    if path_weights == "hops" or len(followed) == 0 or np.ptp(followed) == 0:
        return np.ones(graph.n_edges, np.int64)
    gaps = (followed.max() - rewards.edges) / np.ptp(followed)
    weights: Int64s = np.rint(np.maximum(gaps, 0.0) * RESOLUTION).astype(np.int64)
    return weights


def _by_rank(solved: Values, ties: Ties) -> tuple[Int64s, Int64s]:
    """Vertices from the best down: by value (ties as classes), looping ones first, then by index.

    And the group of each in that order: vertices of a group are equally good, where ties go to the nearest.
    """
    from vmg.graph.kernels.paths import tie_classes

    descending = np.argsort(-solved.values, kind="stable")
    classes = tie_classes(solved.values, descending, TIE)
    order: Int64s = np.lexsort((~solved.looping, classes))
    groups = np.arange(len(order)) if ties == "index" else (2 * classes + ~solved.looping)[order]
    return order, groups


def _plan_anywhere(
    graph: MemoryGraph, absorbing: Bools, solved: Values, weights: Int64s, by_rank: Int64s, groups: Int64s
) -> Solution:
    """v* is the best of all that can be reached; with it every vertex of a path shares the path's target."""
    targets, ends = _best_anywhere(graph, absorbing, by_rank, groups)
    hops, passed = _hops(graph, absorbing, weights, targets, ends, np.zeros(0, np.int64))
    return Solution(solved.values, _followed(hops), hops, passed)


def _plan_along(
    graph: MemoryGraph,
    absorbing: Bools,
    solved: Values,
    costs: Int64s,
    switch_cost: float,
    by_rank: Int64s,
    groups: Int64s,
) -> Solution:
    """v* as in `_plan_anywhere`, and the cheapest way to it along recordings."""
    from vmg.graph.kernels.recordings import along_recordings

    targets, ends = _best_anywhere(graph, absorbing, by_rank, groups)
    switches = switch_costs(graph.strays, switch_cost)
    leads, changes, taken = along_recordings(graph.labels, graph.leaving, costs, switches, targets, ends, absorbing)
    along = Along.of(graph, switch_cost, changes, taken, costs)
    return Solution(solved.values, None, leads, graph.labels, along)


def _best_anywhere(graph: MemoryGraph, absorbing: Bools, by_rank: Int64s, groups: Int64s) -> tuple[Int32s, Bools]:
    """For every vertex the best it can reach, and whether it is itself as good as that."""
    from vmg.graph.kernels.paths import best_reachable

    first_in, edges_in = graph.incoming
    targets = best_reachable(first_in, graph.tails[edges_in], absorbing, by_rank, groups)
    group_of = np.empty_like(groups)
    group_of[by_rank] = groups
    return targets, group_of == group_of[targets]


def slot_costs(graph: MemoryGraph, rewards: EdgeRewards, path_weights: PathWeights) -> Int64s:
    """What a recorded step costs in each slot: `STEP` without any of the reward, nothing with all of it."""
    gaps = np.ones(len(graph.counts))
    if rewards.slots is not None and path_weights == "rewards" and len(graph.slots):
        paid = rewards.slots[graph.counts > 0]
        if np.ptp(paid) > 0:
            gaps = (paid.max() - rewards.slots) / np.ptp(paid)
    return np.rint(gaps * STEP).astype(np.int64)


def _plan_within(
    graph: MemoryGraph, absorbing: Bools, solved: Values, weights: Int64s, by_rank: Int64s, search_steps: int
) -> Solution:
    """v* is the best within `search_steps` edges; its own target may lie farther on."""
    from vmg.graph.kernels.paths import best_within

    ranks = np.empty(graph.n_vertices, np.int64)
    ranks[by_rank] = np.arange(graph.n_vertices)
    targets, limits = best_within(graph.first_edge, graph.heads, weights, absorbing, ranks, by_rank, search_steps)
    hops, passed = _hops(graph, absorbing, weights, targets, np.zeros(graph.n_vertices, bool), limits)
    return Solution(solved.values, targets, hops, passed)


def _hops(
    graph: MemoryGraph, absorbing: Bools, weights: Int64s, targets: Int32s, ends: Bools, limits: Int64s
) -> tuple[Int32s, Int32s]:
    from vmg.graph.kernels.paths import next_hops

    edges, by_target = (graph.first_edge, graph.heads, *graph.incoming), np.argsort(targets, kind="stable")
    hops, passed = next_hops(*edges, graph.tails, weights, absorbing, targets, ends, by_target, limits)
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
