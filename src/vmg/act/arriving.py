"""Arriving: where a route ends, a policy heads for recorded states that fulfil what is wanted."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vmg.act.body import Body, Recorded
from vmg.base.types import Bools, Float32s, Float64s, Int32s, Int64s
from vmg.goals.objectives import Objective, Place
from vmg.graph.memory import MemoryGraph
from vmg.graph.nearest import VertexIndex
from vmg.graph.rewards import Goal
from vmg.graph.routes import Routes
from vmg.graph.routes.base import distances_to
from vmg.graph.routes.finals import FinalStates, some_of
from vmg.graph.routes.observed import ObservedRoutes
from vmg.networks.encoder import embed

if TYPE_CHECKING:
    from vmg.act.plan import Plan

PATIENCE = 15
"""After so many decisions that bring it no nearer, another final state is tried."""
NEARER = 0.98
"""Nearer is at most this share of what was nearest before."""
BEST_PAID = 0.02
"""What is paid less than the most by no more than this share of the range is as good."""
NEARLY, FIFTH = 0.03, 0.2
"""A place to stay in that leaves to be desired no more of what can be had than this share is as good as the best; but
where even the best leaves more than a fifth, nothing recorded stayed and was paid: it was paid in passing."""
BESIDE = 100
"""Recorded states nearest to a place that none of them reaches, which say how to go on towards it."""
MOVING = 0.36
"""A column that changes on fewer edges than this share stands still unless something moves it."""
COMMON = 0.5
"""States have a column in common if it varies among them less than this share of how it varies among all; and it is
elsewhere than in others if it differs by more."""
SOME_EDGES = 4000
"""Edges looked at, about, to see which columns stand still."""
AROUND, LONG = 3, 10
"""Recorded steps before and after a state that say whether it is easy to stay there; for rewards more of them, where
anything recorded stayed for so long."""


class Heading(NamedTuple):
    """Where each row is on its route, and what it heads for."""

    vertices: Int32s
    entries: Int32s
    targets: Int32s
    subgoals: Int32s
    goals: Float32s


def fulfilling(body: Body, recorded: Recorded, objective: Objective, found: Goal, distances: Float64s) -> FinalStates:
    """Return recorded states that fulfil a goal, the nearest to it before others; or what stands for it.

    In a region all are equally near; those that stay in it longest leave least to be desired. Where only the vertices'
    states are at hand, those of the goal's vertices are taken.
    """
    if recorded.observations is None:
        shortfalls = distances / max(found.tolerance, found.distance, np.finfo(np.float64).tiny)
        return _finals(body, body.graph.rows[found.vertices], shortfalls, body.graph.states[found.vertices])
    if found.distance > objective.tolerance:
        rows = np.array([np.argmin(distances)])
        state = recorded.observations[rows[0]]
        if objective.place:
            state = moved_towards(objective.place, state, recorded.observations[_nearest(distances)])
        return _finals(body, rows, np.zeros(len(distances)), state[None])
    rows = np.flatnonzero(distances <= objective.tolerance)
    shortfalls = distances / objective.tolerance if objective.tolerance else distances
    if not distances[rows].any():
        shortfalls = around((distances > 0).astype(np.float64), body.graph.lengths)
    rows = some_of(rows, body.graph.labels[rows], shortfalls[rows])
    return _finals(body, rows, shortfalls, recorded.observations[rows])


def moved_towards(place: Place, state: Float32s, others: Float32s) -> Float32s:
    """Move a state to a place outside of the recorded ones, and all its columns as they change with that place.

    How they change is what least squares say of other states beside it. It is moved no farther than those lie apart.
    """
    columns = list(place.columns)
    apart = others.astype(np.float64) - state
    way = place.numbers - state[columns]
    changes, *_ = np.linalg.lstsq(apart[:, columns], apart, rcond=0.1)
    reach = np.linalg.norm(apart[:, columns], axis=1).max(initial=0.0)
    share = min(1.0, reach / max(float(np.linalg.norm(way)), np.finfo(np.float64).tiny))
    moved: Float32s = (state + share * way @ changes).astype(np.float32)
    return moved


def _nearest(distances: Float64s) -> Int64s:
    """Return the rows that come nearest to a goal, up to `BESIDE`."""
    rows: Int64s = np.argpartition(distances, min(BESIDE, len(distances) - 1))[:BESIDE]
    return rows[np.isfinite(distances[rows])]


def best_paid(body: Body, recorded: Recorded, rewards: Float64s) -> tuple[FinalStates | None, Bools | None]:
    """Return the recorded states that are paid best, and the vertices to stay in; None where all is paid the same.

    What is paid around a state too leaves least to be desired: there it is easy to stay. Where anything stayed for
    long where it is paid, and ties go to the nearest, the nearest place that is paid nearly as well as any is taken.
    """
    graph = body.graph
    pay = np.full(len(graph.labels), -np.inf)
    pay[graph.arrivals] = np.where(graph.slots < graph.n_edges + graph.n_vertices, rewards, -np.inf)
    paid = pay[np.isfinite(pay)]
    if recorded.observations is None or not len(paid) or np.ptp(paid) == 0:
        return None, None
    missing = (paid.max() - pay) / np.ptp(paid)
    missing = np.minimum(missing, 1.0)
    rows, stays = np.flatnonzero(missing <= BEST_PAID), None
    shortfalls = around(missing, graph.lengths, LONG)
    if shortfalls.min() > FIFTH:
        shortfalls = around(missing, graph.lengths)
    elif body.solving.ties == "nearest":
        least = _least_in(graph, shortfalls)
        stays = least <= least.min() + NEARLY * (1 - least.min())
        rows = np.flatnonzero(stays[graph.labels] & (shortfalls <= least[graph.labels] + BEST_PAID))
    rows = some_of(rows, graph.labels[rows], shortfalls[rows])
    return _finals(body, rows, shortfalls, recorded.observations[rows]), stays


def _least_in(graph: MemoryGraph, numbers: Float64s) -> Float64s:
    """The least number of the observations in each vertex."""
    least = np.ones(graph.n_vertices)
    np.minimum.at(least, graph.labels, numbers)
    return least


def around(numbers: Float64s, lengths: Int64s, steps: int = AROUND) -> Float64s:
    """The mean over the recorded observations within so many steps of each, in its own episode."""
    row, counts = np.arange(len(numbers)), lengths + 1
    first = np.repeat(np.cumsum(counts) - counts, counts)
    low, high = np.maximum(row - steps, first), np.minimum(row + steps, first + np.repeat(lengths, counts))
    sums = np.concatenate([[0.0], np.cumsum(numbers)])
    means: Float64s = (sums[high + 1] - sums[low]) / (high + 1 - low)
    return means


def _finals(body: Body, rows: Int32s | Int64s, shortfalls: Float64s, states: Float32s) -> FinalStates:
    features = embed(body.weights, states)
    return FinalStates(rows.astype(np.int32), states, features, shortfalls[rows].astype(np.float32))


@dataclass
class _Waiting:
    """How near an episode has come to a final state, for how long it has not come nearer, and what it gave up."""

    nearest: float = np.inf
    decisions: int = 0
    given_up: list[int] = field(default_factory=list)

    def is_over(self, gap: float) -> bool:
        """Say whether a final state so far away is to be given up."""
        nearer = gap < NEARER * self.nearest
        self.nearest, self.decisions = (gap, 0) if nearer else (self.nearest, self.decisions + 1)
        return self.decisions >= PATIENCE


class Arrival:
    """Heads for the final states of a plan; remembers how long each row has come no nearer.

    Of the final states the nearest in the metric space is taken, where what it leaves to be desired counts as one more
    dimension, a radius wide. It is headed for at the end of the route, and straight where it is no farther than the
    route's subgoal and nothing has to be handled. Who comes no nearer for long is given another one or, on the straight
    way, goes by the route.
    """

    def __init__(self, plan: "Plan", finals: FinalStates) -> None:
        self._objective, self._radius = plan.objective, plan.graph.radius
        self._finals, self._vertices = finals, plan.graph.labels[finals.rows]
        self._points = np.hstack([finals.features, plan.graph.radius * finals.shortfalls[:, None]])
        self._index = VertexIndex(self._points)
        self._ends = plan.goal_vertices if plan.has_goal else _leading_in(plan.graph, self._vertices)
        self._by_itself = can_go_straight(plan.graph, finals.states)
        seen = None if plan.has_goal else plan.routes  # who is there is known then, and who comes no nearer gives up
        self._goes_straight = can_go_straight(plan.graph, finals.states, seen)
        self._goes_straight &= not plan.objective.avoided and not plan.objective.penalties
        self._by_the_route: set[int] = set()
        self._gave_up: set[int] = set()
        self._waiting: dict[int, _Waiting] = {}

    def headed(
        self, rows: Sequence[int], observations: Float32s, features: Float32s, heading: Heading, ahead: Float32s,
        missing: Collection[int] = (),
    ) -> tuple[Heading, set[int]]:  # fmt: skip
        """Put final states in place of the subgoals of rows that arrive, and say which rows are there.

        `ahead` is where the subgoals lie; `missing`: rows whose routes ended elsewhere than where they are. Those that
        have given up a final state, too, go by their routes alone from then on: to the states that are seen alike.
        """
        points = np.zeros((len(features), features.shape[1] + 1), np.float32)
        points[:, :-1] = features
        finals = self._index.nearest(points)
        gaps = _lengths(self._points.take(finals, 0) - points)
        ending = (heading.subgoals == heading.targets) & self._ends.take(heading.targets)
        straight = gaps <= (_lengths(ahead - features) if self._goes_straight else -1.0)
        if astray := [row for row in missing if row in self._gave_up]:
            free = ~np.isin(rows, astray)
            ending, straight = ending & free, straight & free
        has_goal = self._objective.distance is not None
        there = self._objective.reached(observations) if has_goal else gaps <= self._radius
        on_the_way = ((ending | straight) & ~there).nonzero()[0].tolist()
        self._waiting = {rows[i]: self._waiting.get(rows[i]) or _Waiting() for i in on_the_way}
        for i in on_the_way:
            if ending[i]:
                finals[i] = self._next(self._waiting[rows[i]], points[i], heading.targets[i])
                self._gave_up.update(rows[i : i + 1] if self._waiting[rows[i]].given_up else ())
            else:
                straight[i] = self._is_free(rows[i], float(gaps[i]))
        taken = (ending | straight | (there & has_goal)).nonzero()[0]
        arrived = {rows[i] for i in there.nonzero()[0].tolist()}
        if not len(taken):
            return heading, arrived
        subgoals = heading.subgoals.copy()
        subgoals[taken] = self._vertices.take(finals[taken])
        heading.goals[taken] = self._finals.states.take(finals[taken], 0)
        return heading._replace(subgoals=subgoals), arrived

    def _is_free(self, row: int, gap: float) -> bool:
        """Say whether the straight way still brings an episode nearer; if not, it goes by the route from now on."""
        if row not in self._by_the_route and self._waiting[row].is_over(gap):
            self._by_the_route.add(row)
        return row not in self._by_the_route

    def _next(self, waiting: _Waiting, point: Float32s, target: int) -> int:
        """Return the nearest final state that is not given up; where something is handled, of those at the target."""
        gaps = distances_to(self._points, point)
        elsewhere = self._vertices != target
        if not self._by_itself and not elsewhere.all():
            gaps[elsewhere] = np.inf
        choice = int(np.isfinite(gaps).sum())
        if len(waiting.given_up) >= choice:
            waiting.given_up.clear()
        gaps[waiting.given_up] = np.inf
        final = int(gaps.argmin())
        if choice == 1 or not waiting.is_over(float(gaps[final])):
            return final
        waiting.given_up.append(final)
        waiting.nearest, waiting.decisions = np.inf, 0
        return self._next(waiting, point, target)


def can_go_straight(graph: MemoryGraph, states: Float32s, routes: Routes | None = None) -> bool:
    """Say whether these states can be headed for straight: whether what they ask for moves all the time.

    An object stands still unless it is handled. Where it has to be elsewhere than episodes begin with it, the recorded
    way is followed, on which it is handled: to head for the nearest state in which it is there does not bring it there.
    Routes that look at recordings, if they are given, know objects by single steps, too: on edges of many steps most
    things have moved.
    """
    edges = np.arange(0, graph.n_edges, 1 + graph.n_edges // SOME_EDGES)
    if not len(edges):
        return True
    changes = np.abs(graph.states[graph.heads[edges]] - graph.states[graph.tails[edges]])
    usual, spread = np.sqrt(np.square(changes, dtype=np.float64).mean(0)), graph.states.std(0)
    still = (usual > 0) & ((changes > 0.1 * usual).mean(0) < MOVING)
    if isinstance(routes, ObservedRoutes):
        still |= routes.sight.objects
    begun = graph.states[graph.labels[np.cumsum(graph.lengths + 1) - (graph.lengths + 1)]]
    elsewhere = np.median(np.abs(begun - states.mean(0)), axis=0) > COMMON * spread
    return not bool((still & elsewhere & (states.std(0) < COMMON * spread)).any())


def _leading_in(graph: MemoryGraph, vertices: Int32s) -> Bools:
    """Say which vertices are among these, or have an edge to one of them."""
    inside = np.zeros(graph.n_vertices, bool)
    inside[vertices] = True
    leading = inside.copy()
    leading[graph.tails[inside[graph.heads]]] = True
    return leading


def _lengths(vectors: Float32s) -> Float32s:
    lengths: Float32s = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return lengths
