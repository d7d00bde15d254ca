"""Routes along edges: from every vertex the next one, tabulated once; a decision is a look-up (Alg. 2)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self

import numpy as np

from vmg.base.arguments import checked_number
from vmg.base.errors import VMGError
from vmg.base.types import Bools, Float32s, Float64s, Int32s, Int64s
from vmg.graph import kernels
from vmg.graph.evidence import Piece, expected_steps, stitched
from vmg.graph.ranking import best_anywhere, by_rank
from vmg.graph.rewards import EdgeRewards
from vmg.graph.routes.base import (
    ROUTES,
    Problem,
    Tracker,
    distances_to,
    followed_for,
    followed_to_end,
    without_repeats,
)
from vmg.graph.routes.finals import FinalStates
from vmg.graph.routes.weights import in_whole_numbers, spread
from vmg.graph.settings import PathWeights
from vmg.graph.values import Values

if TYPE_CHECKING:
    from vmg.graph.memory import MemoryGraph


@ROUTES.register("edges")
@dataclass(frozen=True, eq=False)
class EdgeRoutes:
    """The next entry of every entry: 16 bytes per vertex, and no more unless the search is limited.

    The first entries are the vertices, each on the route to its own target. Where the search is limited there are
    more: vertices on a route whose target differs from their own (`via`).
    """

    kind: ClassVar[str] = "edges"

    graph: "MemoryGraph" = field(repr=False)
    values: Float64s
    targets: Int32s
    """The vertex where the route from each vertex ends."""
    following: Int32s
    """The entry each entry leads to; to itself where the route ends."""
    via: Int32s
    """The vertex of every entry beyond the vertices."""
    finals: FinalStates | None = None
    """The recorded states that are headed for where routes end."""

    @classmethod
    def solve(cls, problem: Problem) -> Self:
        """v* by rank, then cheapest paths by (max R_G) − R_G or hops; "greedy" search: the best edge out."""
        return cls(problem.graph, problem.values.values, *_plan(problem), problem.finals)

    def enter(self, features: Float32s, vertices: Int32s) -> Int32s:
        """A state is where its vertex is."""
        return vertices

    def ahead(self, entries: Int32s, steps: int) -> Int32s:
        """Follow so many edges, or up to the end."""
        return followed_for(self.following, entries, steps)

    def vertices(self, entries: Int32s) -> Int32s:
        """Return the vertex each entry stands for."""
        return self._vertices.take(entries) if len(self.via) else entries

    @cached_property
    def _vertices(self) -> Int32s:
        """The vertex of every entry."""
        return np.concatenate([np.arange(len(self.values)), self.via]).astype(np.int32)

    def states(self, entries: Int32s) -> Float32s:
        """Return the states of the vertices."""
        return self.graph.states.take(self.vertices(entries), 0)

    def features(self, entries: Int32s) -> Float32s:
        """Return where the vertices lie."""
        return self.graph.features.take(self.vertices(entries), 0)

    def ends(self, entries: Int32s) -> Int32s:
        """Return the vertex where the route from each entry ends; for a vertex that is its target."""
        if not len(self.via) or not np.count_nonzero(entries >= len(self.values)):
            return self.targets.take(entries)
        return self.vertices(followed_to_end(self.following)[entries])

    def path(self, vertex: int) -> list[int]:
        """Return the vertices from a vertex to its target."""
        return self.path_from(checked_number(vertex, len(self.values), "A vertex"))

    def path_from(self, entry: int) -> list[int]:
        """Return the vertices on the route from an entry."""
        return without_repeats(self.vertices(np.array(self.route(entry))).tolist())

    def route(self, entry: int) -> list[int]:
        """Return the entries from one to where its route ends."""
        entries = [checked_number(entry, len(self.following), "An entry")]
        while self.following[entries[-1]] != entries[-1]:
            entries.append(int(self.following[entries[-1]]))
        return entries

    def pieces(self, entry: int) -> list[Piece]:
        """Cover the path with recorded episodes."""
        return stitched(self.graph, self.path_from(entry))

    def cost(self, entry: int) -> float:
        """Return the environment steps such a path took in the recordings."""
        return expected_steps(self.graph, self.path_from(entry))

    def tracker(self, subgoal_steps: int) -> Tracker:
        """Keep to a path as the published program does."""
        return _KeptPath(self, self.graph.features)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return values, targets, hops, the vertices of extra entries, and the final states."""
        arrays: dict[str, np.ndarray] = {"values": self.values, "hops": self.following}
        arrays |= {"targets": self.targets, "passed": self.via}
        return arrays | self.finals.arrays() if self.finals else arrays

    @classmethod
    def from_arrays(cls, graph: "MemoryGraph", arrays: Mapping[str, np.ndarray]) -> Self:
        """Put routes back in place if they fit the graph and every one of them ends."""
        finals = FinalStates.from_arrays(arrays, graph)
        routes = cls(graph, arrays["values"], arrays["targets"], arrays["hops"], arrays["passed"], finals)
        n, n_entries = graph.n_vertices, graph.n_vertices + len(routes.via)
        sound = (
            are_values(routes.values, n)
            and routes.targets.shape == (n,)
            and routes.following.shape == (n_entries,)
            and routes.via.ndim == 1
            and are_indices(routes.targets, n)
            and are_indices(routes.following, n_entries)
            and are_indices(routes.via, n)
        )
        if not sound:
            raise VMGError("the tables of its routes do not fit the graph")
        ends = routes.vertices(followed_to_end(routes.following))
        if not routes._goes_along_edges() or not np.array_equal(ends[:n], routes.targets):
            raise VMGError("its routes leave the edges, or do not end where it says they do")
        return routes

    def _goes_along_edges(self) -> bool:
        """Say whether every entry leads to its own vertex or along an edge of the graph."""
        graph, n, entries = self.graph, self.graph.n_vertices, np.arange(len(self.following), dtype=np.int32)
        here, there = (self.vertices(each).astype(np.int64) for each in (entries, self.following))
        edges = graph.tails.astype(np.int64) * n + graph.heads
        return bool(np.isin((here * n + there)[here != there], edges).all())


@dataclass
class _KeptPath:
    """The path one episode follows: kept until lost or stuck, looking farther ahead the longer nothing moves."""

    routes: EdgeRoutes
    features: Float32s
    entries: tuple[int, ...] = ()
    position: int = 0
    waited: int = 0

    @property
    def stuck(self) -> bool:
        """Whether it is about to be given up."""
        return self.waited >= PATIENCE // 2

    def locate(self, feature: Float32s, vertex: int) -> tuple[int, int]:
        """Return where on its path the episode is, and for how long it has not moved."""
        if not self.entries or self._distances(feature).min() > LOST or self.waited >= PATIENCE:
            self.entries, self.position, self.waited = tuple(self.routes.route(vertex)), 0, 0
        reached = self.position + int(np.argmin(self._distances(feature)))
        self.waited = 0 if reached > self.position else self.waited + 1
        self.position = reached
        return self.entries[self.position], self.waited

    def _distances(self, feature: Float32s) -> Float32s:
        ahead = self.routes.vertices(np.array(self.entries[self.position :], np.int32))
        return distances_to(self.features[ahead], feature)


LOST = 2.0  # this far from the path in the metric space is lost
PATIENCE = 10  # this many steps without progress is stuck


def are_indices(indices: np.ndarray, n: int) -> bool:
    """Say whether an array holds whole numbers from 0 to n − 1 alone."""
    return bool(np.issubdtype(indices.dtype, np.integer) and ((indices >= 0) & (indices < n)).all())


def are_values(values: np.ndarray, n: int) -> bool:
    """Say whether an array holds one finite number for each of n vertices."""
    return values.shape == (n,) and values.dtype == np.float64 and bool(np.isfinite(values).all())


def edge_weights(rewards: EdgeRewards, graph: "MemoryGraph", path_weights: PathWeights) -> Int64s:
    """Whole-number weight of each edge, in proportion to (max R_G) − R_G, or 1 where only hops count.

    Penalties add to that, in unrewarded edges: what a step costs besides, on average over the steps that an edge takes.
    """
    followed = rewards.edges[~rewards.absorbing[graph.tails]]
    parts, noise, unit = np.ones(graph.n_edges), 0.0, 1.0
    if path_weights == "rewards" and len(followed) and (extent := spread(followed)) > 0:
        parts = np.clip((followed.max() - rewards.edges) / extent, 0.0, 1.0)
        noise, unit = 2.0**-51 * float(np.abs(followed).max() / extent), extent
    if rewards.penalties is not None and graph.n_edges:
        between, inside = rewards.penalties[: graph.n_edges], rewards.penalties[graph.n_edges :][graph.tails]
        parts += inside + (between - inside) / np.maximum(graph.edge_steps, 1)
        parts, unit = parts / max(parts.max(), 1.0), 1.0
    return in_whole_numbers(parts, noise, graph.n_vertices, unit)


class _Tables(NamedTuple):
    """What a plan adds to the values; see `EdgeRoutes`."""

    targets: Int32s
    following: Int32s
    via: Int32s


def _plan(problem: Problem) -> _Tables:
    settings = problem.settings
    if settings.search == "greedy":
        return _plan_greedily(problem.graph, problem.rewards, problem.values, settings.discount)
    weights = edge_weights(problem.rewards, problem.graph, settings.path_weights)
    if settings.search_steps is None:
        return _plan_anywhere(problem, weights)
    return _plan_within(problem, weights, settings.search_steps)


def _plan_anywhere(problem: Problem, weights: Int64s) -> _Tables:
    """v* is the best of all that can be reached; with it every vertex of a path shares the path's target."""
    targets, ends = best_anywhere(problem)
    hops, via = _hops(problem.graph, problem.rewards.absorbing, weights, targets, ends, np.zeros(0, np.int64))
    return _Tables(followed_to_end(hops), hops, via)


def _plan_within(problem: Problem, weights: Int64s, search_steps: int) -> _Tables:
    """v* is the best within `search_steps` edges; its own target may lie farther on."""
    graph, absorbing = problem.graph, problem.rewards.absorbing
    order, _ = by_rank(problem.values, problem.settings.ties)
    ranks = np.empty(graph.n_vertices, np.int64)
    ranks[order] = np.arange(graph.n_vertices)
    targets, limits = kernels.paths.best_within(
        graph.first_edge, graph.heads, weights, absorbing, ranks, order, min(search_steps, graph.n_vertices)
    )
    hops, via = _hops(graph, absorbing, weights, targets, np.zeros(graph.n_vertices, bool), limits)
    return _Tables(targets, hops, via)


def _hops(
    graph: "MemoryGraph", absorbing: Bools, weights: Int64s, targets: Int32s, ends: Bools, limits: Int64s
) -> tuple[Int32s, Int32s]:
    edges, by_target = (graph.first_edge, graph.heads, *graph.incoming), np.argsort(targets, kind="stable")
    hops, via = kernels.paths.next_hops(*edges, graph.tails, weights, absorbing, targets, ends, by_target, limits)
    return hops, via


def _plan_greedily(graph: "MemoryGraph", rewards: EdgeRewards, solved: Values, discount: float) -> _Tables:
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
    hops = np.concatenate([np.where(stays, best, ends[best]), ends])
    return _Tables(best, hops, ends - np.int32(n))
