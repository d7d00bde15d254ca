"""Routes along recordings: from recorded observation to recorded observation, with a price on switching episodes.

On along the recording a step costs its own reward gap. Over to another recording in the same vertex it costs
`switch_cost` times as many unrewarded steps as the gap between the two is wide.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from vmg.base.arguments import checked_number
from vmg.base.errors import VMGError
from vmg.base.types import Bools, Float32s, Float64s, Int32s, Int64s, UInt8s
from vmg.graph import kernels
from vmg.graph.evidence import Piece, followed
from vmg.graph.ranking import best_anywhere
from vmg.graph.rewards import EdgeRewards
from vmg.graph.routes.base import (
    ROUTES,
    Problem,
    Tracker,
    distances_to,
    followed_for,
    followed_to_end,
    summed_to_end,
    without_repeats,
)
from vmg.graph.routes.edges import are_indices, are_values
from vmg.graph.routes.finals import FinalStates
from vmg.graph.routes.keeping import KeptRecording
from vmg.graph.routes.weights import spread
from vmg.graph.settings import PathWeights

if TYPE_CHECKING:
    from vmg.graph.memory import MemoryGraph

STEP = 2**20
"""Whole-number cost of an unrewarded step along a recording."""
MOST_STEPS = 2000
"""A penalised step costs no more than so many: whole numbers of 32 bits hold it."""


class Table(NamedTuple):
    """What is followed: the row of the data that each recorded observation leads to, what its route costs, its end."""

    following: Int32s
    """The row each row leads to; to itself where the route ends."""
    costs: Float32s
    """What the route from each row costs, in unrewarded steps."""
    targets: Int32s
    """The vertex where the route from each vertex ends."""


@ROUTES.register("recordings")
@dataclass(frozen=True, eq=False)
class RecordingRoutes:
    """The row each vertex starts at, where routes switch, and what steps cost: 12 bytes per vertex and a bit per row.

    Entries are rows of the recorded observations. The table that is followed is made when it is first read, and takes
    8 bytes per row; it is left out of what is pickled or saved.
    """

    kind: ClassVar[str] = "recordings"

    graph: "MemoryGraph" = field(repr=False)
    values: Float64s
    starts: Int32s
    """The row that each vertex starts at; below 0 where the route ends anywhere in the vertex itself."""
    switch_cost: float
    switches: UInt8s
    """Whether the route switches at each row to the best recording of its vertex; bits, eight to a byte."""
    usual: int
    """What a step costs in most slots."""
    slots: Int32s
    """The other slots on any route; for a goal that is reached, those that lead into it."""
    costs: Int32s
    """What a step costs in those."""
    stops: Int32s = field(default_factory=lambda: np.zeros(0, np.int32))
    """The rows where routes end, in vertices in which they do not end anywhere."""
    finals: FinalStates | None = None
    """The recorded states that are headed for where routes end."""

    @classmethod
    def solve(cls, problem: Problem) -> Self:
        """v* by rank, then the cheapest route to it along recordings."""
        graph, settings = problem.graph, problem.settings
        if graph.unrecorded:
            raise VMGError(
                "Routes along recordings follow recorded steps alone, but this graph has edges of other kinds: solve "
                "it along edges (`--solve.paths edges`)."
            )
        targets, ends = best_anywhere(problem)
        steps = slot_costs(graph, problem.rewards, settings.path_weights)
        over = switch_costs(cls.offsets(graph), settings.switch_cost)
        final = np.zeros(len(graph.labels), bool)
        if problem.finals:
            final[problem.finals.rows] = True
        first_entries, switches, taken = kernels.recordings.along_recordings(
            graph.labels, graph.leaving, steps, over, targets, ends, problem.rewards.absorbing, final
        )
        stops = np.flatnonzero(final & ends[graph.labels]).astype(np.int32)
        usual = int(np.median(steps[taken])) if taken.any() else STEP
        slots = np.flatnonzero(taken & (steps != usual)).astype(np.int32)
        return cls(
            graph, problem.values.values, _starts(first_entries), settings.switch_cost, np.packbits(switches), usual,
            slots, steps[slots].astype(np.int32), stops, problem.finals,
        )  # fmt: skip

    # --- following ---------------------------------------------------------------------------------------------------

    def enter(self, features: Float32s, vertices: Int32s) -> Int32s:
        """Enter each vertex at the row from which the route costs least, the gap to that row included."""
        return np.array([self.entry(*each) for each in zip(features, vertices, strict=True)], np.int32)

    def entry(self, feature: Float32s, vertex: int) -> int:
        """Return the row to enter a vertex at."""
        graph, (first, members) = self.graph, self.graph.members
        own = members[first[vertex] : first[vertex + 1]]
        gaps = distances_to(graph.recorded.features.take(own, 0), feature)
        costs = self.switch_cost / graph.step_length * gaps + self.table.costs.take(own)
        return int(own[costs.argmin()])

    def ahead(self, entries: Int32s, steps: int) -> Int32s:
        """Follow so many recorded steps, or up to the end."""
        return followed_for(self.table.following, entries, steps)

    def vertices(self, entries: Int32s) -> Int32s:
        """Return the vertices the rows lie in."""
        return self.graph.labels.take(entries)

    def states(self, entries: Int32s) -> Float32s:
        """Return the recorded observations themselves."""
        return self.graph.recorded.observations.take(entries, 0)

    def features(self, entries: Int32s) -> Float32s:
        """Return where those lie in the metric space."""
        return self.graph.recorded.features.take(entries, 0)

    def ends(self, entries: Int32s) -> Int32s:
        """Return the target of each row's vertex; of several that are equally good, a row may end at another."""
        return self.targets.take(self.graph.labels.take(entries))

    def path(self, vertex: int) -> list[int]:
        """Return the vertices from a vertex to its target."""
        vertex = checked_number(vertex, len(self.values), "A vertex")
        start = int(self.starts[vertex])
        return [vertex] if start < 0 else self.path_from(start)

    def path_from(self, entry: int) -> list[int]:
        """Return the vertices on the route from a row."""
        return without_repeats(self.graph.labels[self.route(entry)].tolist())

    def route(self, entry: int) -> list[int]:
        """Return the rows from one to where its route ends."""
        rows, following = [checked_number(entry, len(self.graph.labels), "An entry")], self.table.following
        while following[rows[-1]] != rows[-1]:
            rows.append(int(following[rows[-1]]))
        return rows

    def pieces(self, entry: int) -> list[Piece]:
        """Return the stretches of recordings that the route goes along."""
        return followed(self.graph, self.route(entry))

    def cost(self, entry: int) -> float:
        """Return the recorded steps on the route."""
        return float(sum(piece.last - piece.first + 1 for piece in self.pieces(entry)))

    def tracker(self, subgoal_steps: int) -> Tracker:
        """Keep to a recording until lost, at its end, or too long in one place."""
        return KeptRecording(self)

    @staticmethod
    def offsets(graph: "MemoryGraph") -> Float64s:
        """Return how far each row is from its vertex, in recorded steps: half of what a switch there has to bridge."""
        return graph.offsets

    # --- tables ------------------------------------------------------------------------------------------------------

    @cached_property
    def table(self) -> Table:
        """The route from every row."""
        labels, offsets = self.graph.labels, self.offsets(self.graph)
        stops, switching, left = self._stops()
        moving, spent = self.starts >= 0, self._spent()
        over = np.where(switching, switch_costs(offsets[stops], self.switch_cost), 0)
        firsts, costs = self.starts[moving], np.zeros(len(self.starts), np.int64)
        costs[moving] = switch_costs(offsets[firsts], self.switch_cost) - spent[firsts] + (spent[stops] + over)[left]
        costs, targets = summed_to_end(costs, self._after(stops[left], switching[left]))
        rest = spent[stops] + over + np.where(switching, costs[labels[stops]], 0)
        to_go = np.repeat(rest, np.diff(stops, prepend=-1)) - spent
        following = np.arange(1, 1 + len(labels), dtype=np.int32)
        following[stops] = np.where(switching, self.starts[labels[stops]], stops)
        return Table(following, to_go.astype(np.float32) / np.float32(STEP), targets)

    @property
    def targets(self) -> Int32s:
        """The vertex where the route from each vertex ends."""
        return self.table.targets

    def _stops(self) -> tuple[Int64s, Bools, Int64s]:
        """Return the rows up to which recordings are followed, whether the route switches there (or ends), and which of
        them comes first on the route from each vertex that it does not end in.
        """
        switches = np.unpackbits(self.switches, count=len(self.graph.labels)).view(bool)
        moving = self.starts >= 0
        stopping = switches | ~moving[self.graph.labels]
        stopping[self.stops] = True
        stops = np.flatnonzero(stopping)
        return stops, switches[stops], np.searchsorted(stops, self.starts[moving])

    def _after(self, left: Int64s, switching: Bools) -> Int32s:
        """Return the vertex where the route from each one leaves its first recording; that and the number of vertices
        where it ends there.
        """
        n = len(self.starts)
        after = np.arange(n, 2 * n, dtype=np.int32)
        after[self.starts >= 0] = self.graph.labels[left] + np.where(switching, 0, n)
        return after

    def _spent(self) -> Int64s:
        """What the recorded steps before each row cost in all, were they one recording."""
        steps = np.full(len(self.graph.counts), self.usual, np.int64)
        steps[self.slots] = self.costs
        spent = np.zeros(len(self.graph.labels), np.int64)
        spent[self.graph.arrivals] = steps[self.graph.slots]
        return np.cumsum(spent)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the table, which is made again where it is read."""
        return {name: value for name, value in self.__dict__.items() if name != "table"}

    # --- on disk -----------------------------------------------------------------------------------------------------

    def arrays(self) -> dict[str, np.ndarray]:
        """Return values, the entry each vertex leads to (itself, or the number of vertices plus a row), and costs."""
        n = len(self.starts)
        first_entries = np.where(self.starts < 0, np.arange(n), n + self.starts).astype(np.int32)
        kept = {"switch_cost": self.switch_cost, "changes": self.switches, "usual": self.usual}
        arrays = {"values": self.values, "hops": first_entries, **kept, "slots": self.slots, "costs": self.costs}
        arrays |= {"stops": self.stops} if len(self.stops) else {}
        arrays |= self.finals.arrays() if self.finals else {}
        return {name: np.asarray(value) for name, value in arrays.items()}

    @classmethod
    def from_arrays(cls, graph: "MemoryGraph", arrays: Mapping[str, np.ndarray]) -> Self:
        """Put routes back in place if they fit the graph, stay in their recordings and switch where they lie."""
        first_entries, n = arrays["hops"], graph.n_vertices
        entries = first_entries.shape == (n,) and are_indices(first_entries, n + len(graph.labels))
        if not entries or not are_values(arrays["values"], n):
            raise VMGError("the tables of its routes do not fit the graph")
        routes = cls(
            graph, arrays["values"], _starts(first_entries), float(arrays["switch_cost"]), arrays["changes"],
            int(arrays["usual"]), arrays["slots"], arrays["costs"], arrays.get("stops", np.zeros(0, np.int32)),
            FinalStates.from_arrays(arrays, graph),
        )  # fmt: skip
        if not routes._is_sound(first_entries) or not routes._comes_to_an_end():
            raise VMGError("its routes do not fit the recordings of the graph")
        return routes

    def _is_sound(self, first_entries: Int32s) -> bool:
        graph, n_rows, moving = self.graph, len(self.graph.labels), self.starts >= 0
        ended = first_entries == np.arange(len(first_entries))
        if graph.recordings is None or self.switches.shape != ((n_rows + 7) // 8,) or self.switches.dtype != np.uint8:
            return False
        stopping = np.unpackbits(self.switches, count=n_rows).view(bool) | ended[graph.labels]
        if self.stops.ndim != 1 or not are_indices(self.stops, n_rows):
            return False
        stopping[self.stops] = True
        return bool(
            (moving | ended).all()
            and self.slots.shape == self.costs.shape == (len(self.slots),)
            and 0 <= self.usual <= MOST_STEPS * STEP
            and 0 <= self.switch_cost <= 1e6  # as settings have it
            and are_indices(self.slots, len(graph.counts))
            and are_indices(self.costs, MOST_STEPS * STEP + 1)
            and (graph.labels[self.starts[moving]] == np.flatnonzero(moving)).all()
            and stopping[np.cumsum(graph.lengths + 1) - 1].all()
        )

    def _comes_to_an_end(self) -> bool:
        """Say whether the route from every vertex gets to one that it ends in."""
        stops, switching, left = self._stops()
        after, n = self._after(stops[left], switching[left]), len(self.starts)
        return bool((followed_to_end(np.concatenate([after, np.arange(n, 2 * n)]))[:n] >= n).all())


def slot_costs(graph: "MemoryGraph", rewards: EdgeRewards, path_weights: PathWeights) -> Int64s:
    """What a recorded step costs in each slot: `STEP` without any of the reward, nothing with all of it."""
    gaps = np.ones(len(graph.counts))
    if rewards.slots is not None and path_weights == "rewards" and len(graph.slots):
        paid = rewards.slots[graph.counts > 0]
        if (extent := spread(paid)) > 0:
            gaps = (paid.max() - rewards.slots) / extent
    if rewards.penalties is not None:
        gaps = np.minimum(gaps + rewards.penalties, MOST_STEPS)
    return np.rint(gaps * STEP).astype(np.int64)


def switch_costs(offsets: Float64s, switch_cost: float) -> Int64s:
    """Whole-number cost of a switch at observations so far from their vertices: that of its half."""
    return np.rint(switch_cost * offsets * STEP).astype(np.int64)


def _starts(first_entries: Int32s) -> Int32s:
    """The row each vertex starts at, from the entries it leads to; below 0 where the route ends there."""
    n = len(first_entries)
    return np.where(first_entries == np.arange(n), -1, first_entries - n).astype(np.int32)
