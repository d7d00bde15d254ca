"""A solution: what every vertex is worth, its target and the next hop there; what is kept of it and what is read."""

import weakref
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from vmg.graph.construction import MemoryGraph
from vmg.types import Bools, Float32s, Float64s, Int32s, Int64s, UInt8s

STEP = 2**20
"""Whole-number cost of an unrewarded step along a recording."""


@dataclass(frozen=True, eq=False)
class Ways:
    """The table that is followed: it leads from entry to entry, and an entry that leads to itself ends the path."""

    hops: Int32s
    targets: Int32s
    """The vertex where the path from each vertex ends."""
    to_go: Float32s | None = None
    """What the way from each recorded observation costs, in unrewarded steps; None unless paths follow recordings."""


@dataclass(frozen=True, eq=False)
class Along:
    """What ways along recordings are made from again: where they change, and what their steps cost.

    A bit an observation, and 8 bytes for every slot on a way whose steps do not cost what most do; for a goal that
    is reached, those are the slots that lead into it.
    """

    graph: MemoryGraph
    switch_cost: float
    changes: UInt8s
    """Whether the way changes at each observation to the best recording of its vertex; bits, eight to a byte."""
    usual: int
    """What a step costs in most slots."""
    slots: Int32s
    """The others."""
    costs: Int32s

    @classmethod
    def of(cls, graph: MemoryGraph, switch_cost: float, changes: Bools, taken: Bools, slot_costs: Int64s) -> "Along":
        """Keep where the ways change, and the costs of the slots `taken`, which they go on along."""
        usual = int(np.median(slot_costs[taken])) if taken.any() else STEP
        slots = np.flatnonzero(taken & (slot_costs != usual)).astype(np.int32)
        return cls(graph, switch_cost, np.packbits(changes), usual, slots, slot_costs[slots].astype(np.int32))

    def ways(self, leads: Int32s) -> Ways:
        """Make the table again: the way from every observation; `leads` are the entries that the vertices lead to."""
        labels, strays, n = self.graph.labels, self.graph.strays, self.graph.n_vertices
        stops, changing, left = self._stops(leads)
        moving, spent = leads != np.arange(n), self._spent()
        over = np.where(changing, switch_costs(strays[stops], self.switch_cost), 0)
        firsts, costs = leads[moving] - n, np.zeros(n, np.int64)
        costs[moving] = switch_costs(strays[firsts], self.switch_cost) - spent[firsts] + (spent[stops] + over)[left]
        costs, targets = _summed(costs, self._after(leads, stops[left]))
        rest = spent[stops] + over + np.where(changing, costs[labels[stops]], 0)
        to_go = np.repeat(rest, np.diff(stops, prepend=-1)) - spent
        hops = np.concatenate([leads, np.arange(n + 1, n + 1 + len(labels), dtype=np.int32)])
        hops[n + stops] = np.where(changing, leads[labels[stops]], n + stops)
        return Ways(hops, targets, to_go.astype(np.float32) / np.float32(STEP))

    def targets(self, leads: Int32s) -> Int32s:
        """Return the vertex where the way from each vertex ends, without the rest of the table."""
        stops, _, left = self._stops(leads)
        return _summed(np.zeros(len(leads), np.int64), self._after(leads, stops[left]))[1]

    def _stops(self, leads: Int32s) -> tuple[Int64s, Bools, Int64s]:
        """Return the observations up to which recordings are followed, whether the way changes there (or ends), and
        which of them comes first on the way from each vertex that it does not end in.
        """
        changes = np.unpackbits(self.changes, count=len(self.graph.labels)).view(bool)
        moving = leads != np.arange(len(leads))
        stops = np.flatnonzero(changes | ~moving[self.graph.labels])
        return stops, changes[stops], np.searchsorted(stops, leads[moving] - len(leads))

    def _after(self, leads: Int32s, left: Int64s) -> Int32s:
        """Return the vertex where the way from each one leaves its first recording; itself where it ends."""
        after = np.arange(len(leads), dtype=np.int32)
        after[leads != after] = self.graph.labels[left]
        return after

    def _spent(self) -> Int64s:
        """What the recorded steps before each observation cost in all, were they one recording."""
        slot_costs = np.full(len(self.graph.counts), self.usual, np.int64)
        slot_costs[self.slots] = self.costs
        spent = np.zeros(len(self.graph.labels), np.int64)
        spent[self.graph.arrivals] = slot_costs[self.graph.slots]
        return np.cumsum(spent)


@dataclass(frozen=True, eq=False)
class Solution:
    """What every vertex is worth, where to go from it and how: 16 bytes a vertex, and no more unless search is limited.

    The first entries are the vertices; the others are `passed` vertices on the way. They exist only when search is
    limited (then the way is to somebody else's target), or when paths follow recordings (then there is one for every
    recorded observation, in its order). Along recordings 12 bytes a vertex are kept, values and hops, and `along`: a
    bit an observation. Everything else is made from them when it is read, and lives while somebody holds `ways`.
    """

    values: Float64s
    ends: Int32s | None
    """The target of each vertex; None along recordings."""
    leads: Int32s
    """The entry that each one leads to; along recordings, that each vertex leads to."""
    passed: Int32s
    along: Along | None = None

    @property
    def ways(self) -> Ways:
        """The table to follow; hold it while following it along recordings, or it is made again."""
        if self.ends is not None:
            return Ways(self.leads, self.ends)
        assert self.along is not None
        ways = self._held
        if ways is None:
            ways = self.along.ways(self.leads)
            self.__dict__["_made"] = weakref.ref(ways)
        return ways

    @property
    def _held(self) -> Ways | None:
        made = self.__dict__.get("_made")
        return made() if made else None

    @property
    def targets(self) -> Int32s:
        """The vertex that the path from each vertex leads to."""
        if self.ends is not None:
            return self.ends
        assert self.along is not None
        ways = self._held
        return ways.targets if ways else self.along.targets(self.leads)

    @property
    def hops(self) -> Int32s:
        """The entry that each entry leads to; to itself where the path ends."""
        return self.leads if self.along is None else self.ways.hops

    @property
    def to_go(self) -> Float32s | None:
        """What the way from each recorded observation costs; None unless paths follow recordings."""
        return None if self.along is None else self.ways.to_go

    def path(self, vertex: int) -> list[int]:
        """Return the vertices from `vertex` to its target, both included."""
        return self.path_from(vertex)

    def path_from(self, entry: int) -> list[int]:
        """Return the vertices on the way from an entry, each once where the way stays in it."""
        vertices = self.vertex_of(np.array(self.way_from(entry))).tolist()
        return [vertices[0], *(b for a, b in pairwise(vertices) if a != b)]

    def way_from(self, entry: int) -> list[int]:
        """Return the entries on the way from an entry to where it ends, both included."""
        way, hops = [int(entry)], self.hops
        while hops[way[-1]] != way[-1]:
            way.append(int(hops[way[-1]]))
        return way

    def subgoals(self, vertices: Int32s, subgoal_steps: int) -> Int32s:
        """Return the vertex `subgoal_steps` hops along each path, or its end if that comes first."""
        return self.vertex_of(self.ahead(vertices, subgoal_steps))

    def ahead(self, entries: Int32s, steps: int) -> Int32s:
        """Return the entry so many hops on."""
        entries, hops = np.asarray(entries, dtype=np.int32), self.hops
        for _ in range(steps):
            entries = hops.take(entries)
        return entries

    def vertex_of(self, entries: Int32s) -> Int32s:
        """Return the vertex each entry lies in."""
        n = len(self.values)
        if len(self.passed) == 0:
            return entries
        return np.where(entries < n, entries, self.passed.take(entries - n, mode="clip")).astype(np.int32, copy=False)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the table, which is made again wherever it is read."""
        return {name: value for name, value in self.__dict__.items() if name != "_made"}


def switch_costs(strays: Float64s, switch_cost: float) -> Int64s:
    """Whole-number cost of a change at observations that stray so far from their vertices: that of its half."""
    return np.rint(switch_cost * strays * STEP).astype(np.int64)


def _summed(costs: Int64s, after: Int32s) -> tuple[Int64s, Int32s]:
    """Sum costs along ways, and say where they end: follow one vertex, then two, four, eight, ..."""
    for _ in range(len(after).bit_length()):
        if np.array_equal(after, following := after[after]):
            break
        costs, after = costs + costs[after], following
    return costs, after
