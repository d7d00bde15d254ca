"""Routes as the published program finds and follows them, which is not as the paper says.

Values are float16, and sweeps stop at a change of 0.1. Where the search is not limited, routes lead to one of the best
vertices by the fewest hops; where it is, along the breadth-first path with the highest sum of values. Who keeps to a
route stays on it until lost or stuck, and starts at one of the nearest vertices.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from vmg.base.types import Bools, Float32s, Float64s, Int32s, Int64s
from vmg.graph import kernels
from vmg.graph.nearest import squared_distances
from vmg.graph.rewards import EdgeRewards
from vmg.graph.routes.base import ROUTES, Problem, Tracker, distances_to
from vmg.graph.routes.edges import LOST, PATIENCE, EdgeRoutes

if TYPE_CHECKING:
    from vmg.graph.memory import MemoryGraph

ENDS = 29  # best vertices that are tried as ends
STARTS = 10  # nearest vertices that are tried as starts
FARTHEST, FARTHEST_LIMITED = 6, 8  # entries ahead that a subgoal comes to lie while nothing moves
CHANGE, SWEEPS = 0.1, 1000  # value iteration ends when no value changes more, or after so many sweeps


@ROUTES.register("program")
@dataclass(frozen=True, eq=False)
class ProgramRoutes(EdgeRoutes):
    """Tables as along edges. Beyond the vertices, the entries are

    without a limit   a block of all vertices for each end, best first: the way from there to that end
    with a limit      a block for each vertex: its path, from the second vertex on
    """

    kind: ClassVar[str] = "program"

    @classmethod
    def solve(cls, problem: Problem) -> Self:
        """Find values, and with them the paths to the best vertices or along the highest sums."""
        graph, closed = problem.graph, problem.rewards.absorbing
        values, limit = half_values(graph, problem.rewards, problem.settings.discount), problem.settings.search_steps
        tables = _to_ends(graph, closed, values) if limit is None else _along_sums(graph, closed, values, limit)
        return cls(graph, values, *tables, problem.finals)

    @cached_property
    def best(self) -> Int64s:
        """The vertices that are tried as ends, best first; of equal ones the last first, as sorting leaves them."""
        return np.argsort(self.values, kind="stable")[::-1][:ENDS]

    @cached_property
    def is_limited(self) -> bool:
        """Whether the search for ends was: then no block holds all vertices."""
        n = len(self.values)
        return len(self.via) != len(self.best) * n or not np.array_equal(self.via[:n], np.arange(n))

    def ends(self, entries: Int32s) -> Int32s:
        """Return where the route from each entry ends."""
        return self.vertices(self.ahead(entries, len(self.following)))

    def tracker(self, subgoal_steps: int) -> Tracker:
        """Keep to a path until lost or stuck."""
        return _Path(self, subgoal_steps)

    def way(self, start: int, end: int) -> Int32s:
        """Return the entries from a vertex to the best vertex of this number; none where nothing leads there."""
        entry = len(self.values) * (end + 1) + start
        reached = start == self.best[end] or self.following[entry] != entry
        return np.array(self.route(entry) if reached else [], np.int32)

    def total(self, entries: Int32s) -> float:
        """Return the sum of the values on a route, in float16."""
        total = 0.0
        with np.errstate(over="ignore"):
            for value in self.values[self.vertices(entries)]:
                total = float(np.float16(value + total))
        return total


@dataclass
class _Path:
    """The path that one episode follows."""

    routes: ProgramRoutes
    subgoal_steps: int
    end: int = 0
    """Number of the end that is headed for."""
    entries: Int32s | None = None
    reached: int = 0
    """How far along the path it has been."""
    waited: int = 0
    """Decisions since it came as far."""

    @property
    def stuck(self) -> bool:
        """Whether it looks farther ahead."""
        return self.waited >= PATIENCE / 2

    def locate(self, feature: Float32s, vertex: int) -> tuple[int, int]:
        """Return where on its path the episode is, forwards or backwards, and how much farther to look ahead."""
        if self.entries is None or self.waited > PATIENCE or self._distances(self.entries, feature).min() > LOST:
            found = self._along_sums(feature) if self.routes.is_limited else self._to_an_end(feature)
            if found is not None or self.entries is None:
                stay = np.array(self.routes.route(vertex), np.int32)
                self.entries, self.reached, self.waited = stay if found is None else found, 0, 0
        here = int(np.argmin(self._distances(self.entries, feature)))
        self.reached, self.waited = (here, 0) if here > self.reached else (self.reached, self.waited + 1)
        return int(self.entries[here]), self._further()

    def _further(self) -> int:
        farthest = FARTHEST_LIMITED if self.routes.is_limited else FARTHEST
        return int(max(self.waited - PATIENCE / 2, 0) / (PATIENCE / 2) * (farthest - self.subgoal_steps))

    def _distances(self, entries: Int32s, feature: Float32s) -> Float32s:
        return distances_to(self.routes.features(entries), feature)

    def _starts(self, feature: Float32s) -> list[int]:
        apart = squared_distances(self.routes.graph.features, feature)
        last = min(STARTS, len(apart)) - 1
        few = np.flatnonzero(apart <= np.partition(apart, last)[last])
        nearest: list[int] = few[np.argsort(apart[few], kind="stable")][:STARTS].tolist()
        return nearest

    def _to_an_end(self, feature: Float32s) -> Int32s | None:
        """From any start to the end that it had, or from the nearest to the best of the others."""
        starts = self._starts(feature)
        tried = [(start, self.end) for start in starts]
        tried += [(starts[0], end) for end in range(1, len(self.routes.best))]
        for start, end in tried:
            way = self.routes.way(start, end)
            if len(way):
                self.end = end
                return way
        return None

    def _along_sums(self, feature: Float32s) -> Int32s | None:
        ways = [np.array(self.routes.route(start), np.int32) for start in self._starts(feature)]
        return max(ways, key=self.routes.total)


def half_values(graph: "MemoryGraph", rewards: EdgeRewards, discount: float) -> Float64s:
    """Value iteration in float16, from 0, never below 0; stopped early.

    A vertex without edges out loops, worth its best incoming reward; a goal loops with its own worth.
    """
    reward, n = rewards.edges.astype(np.float16), graph.n_vertices
    open_edges = ~rewards.absorbing[graph.tails]
    settled = (np.diff(graph.first_edge) == 0) | rewards.absorbing
    worth = np.full(n, -np.inf, np.float16)
    np.maximum.at(worth, graph.heads[open_edges], reward[open_edges])
    worth[rewards.absorbing] = rewards.loop
    tails = np.concatenate([graph.tails[open_edges], np.flatnonzero(settled)])
    heads = np.concatenate([graph.heads[open_edges], np.flatnonzero(settled)])
    paid = np.concatenate([reward[open_edges], worth[settled]])
    order = np.argsort(tails, kind="stable")
    heads, paid, first = heads[order], paid[order], np.searchsorted(tails[order], np.arange(n))
    values = np.zeros(n, np.float16)
    for _ in range(SWEEPS):
        before = values
        with np.errstate(over="ignore"):
            later = (np.float32(discount) * before[heads].astype(np.float32)).astype(np.float16)
            values = np.maximum(np.maximum.reduceat(paid + later, first), np.float16(0))
        values = np.minimum(values, np.finfo(np.float16).max)
        if not (np.abs(values - before) > CHANGE).any():
            break
    return values.astype(np.float64)


def _to_ends(graph: "MemoryGraph", closed: Bools, values: Float64s) -> tuple[Int32s, Int32s, Int32s]:
    """For each of the best vertices a block of next vertices; every vertex itself takes the first that it reaches."""
    n, (first_in, edges_in) = graph.n_vertices, graph.incoming
    best, vertices = np.argsort(values, kind="stable")[::-1][:ENDS], np.arange(n, dtype=np.int32)
    blocks = np.tile(vertices, (len(best), 1))
    for following, end in zip(blocks, best, strict=True):
        kernels.program.hops_to(first_in, graph.tails[edges_in], end, closed, following)
    reached = (blocks != vertices) | (best[:, None] == vertices)
    targets = np.where(reached.any(0), best[reached.argmax(0)], vertices).astype(np.int32)
    blocks += (n * np.arange(1, len(best) + 1, dtype=np.int32))[:, None]
    own = np.where(targets == vertices, vertices, blocks[reached.argmax(0), vertices]).astype(np.int32)
    return targets, np.concatenate([own, blocks.ravel()]), np.tile(vertices, len(best))


def _along_sums(graph: "MemoryGraph", closed: Bools, values: Float64s, depth: int) -> tuple[Int32s, Int32s, Int32s]:
    """For each vertex a block with the rest of its path."""
    n = graph.n_vertices
    first_step, steps = graph.by_slot
    recorded = graph.counts[: graph.n_edges] > 0
    when = np.where(recorded, steps[np.minimum(first_step[: graph.n_edges], len(steps) - 1)], len(steps))
    heads = graph.heads[np.lexsort((when, graph.tails))]  # in the order in which they were recorded
    paths, lengths = kernels.program.highest_sums(graph.first_edge, heads, values, closed, depth)
    own = n + depth * np.arange(n, dtype=np.int32)
    places = np.arange(depth)
    blocks = own[:, None] + np.where(places < lengths[:, None] - 2, places + 1, places)  # what fills up stays
    starts = np.where(lengths > 1, own, np.arange(n))
    following = np.concatenate([starts, blocks.ravel()]).astype(np.int32)
    return paths[:, -1].copy(), following, paths[:, 1:].ravel()
