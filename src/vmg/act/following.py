"""Following a plan: where an episode is on its route, and what it heads for."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from vmg.act.arriving import Arrival, Heading
from vmg.act.placing import placing
from vmg.act.rules import StraightWays
from vmg.act.settings import ActConfig
from vmg.act.struggling import LONG, Struggles
from vmg.base.types import Bools, Float32s, Int32s, Int64s
from vmg.goals.combinations import Either
from vmg.goals.objectives import Together
from vmg.graph.nearest import VertexIndex
from vmg.graph.ranking import TIE
from vmg.graph.routes import LookingTracker, Tracker
from vmg.graph.routes.observed import LookingAtRecording, ObservedRoutes
from vmg.networks.lowlevel import Act, Doubting

if TYPE_CHECKING:
    from vmg.act.plan import Plan


_Unsure: TypeAlias = Callable[[Float32s, Float32s], Bools]


class Follower:
    """A plan that is being followed, with what is remembered from one decision to the next."""

    def __init__(self, plan: "Plan", settings: ActConfig, act: Act) -> None:
        self.plan, self._settings = plan, settings
        actor = cast("object", act)
        self._unsure = actor.unsure if isinstance(actor, Doubting) else None
        self._trackers: dict[int, Tracker] = {}
        self._asked = 0
        self._table: Int32s | None = None
        finals = plan.routes.finals if plan.has_goal or settings.paid_states else None
        self._arrival = Arrival(plan, finals) if finals else None
        self._placing = placing(plan)
        watched = settings.keep_path and isinstance(plan.routes, ObservedRoutes)
        watched = watched and (not self._placing or self._placing.at_once)
        self._struggles = Struggles(plan.graph.sight) if watched and settings.noise_when == "stuck" else None

    def heading(self, rows: Sequence[int], batch: Float32s, features: Float32s, vertices: Int32s) -> Heading:
        """Where each of these rows is on its route, and what it heads for."""
        plan, routes, settings = self.plan, self.plan.routes, self._settings
        if (plan.has_goal or self._arrival) and not plan.objective.avoided:  # it may lie between
            vertices = self._rejoined(features, vertices)
        if settings.keep_path and not self._placing:  # or else no recording is kept to
            entries, ahead = self._kept(rows, batch, features, vertices)
        else:
            entries = routes.enter(features, vertices)
            ahead = self._ahead(entries)
        if self._unsure:
            ahead = self._nearer(batch, entries, ahead, self._unsure)
        heading = Heading(vertices, entries, routes.ends(entries), routes.vertices(ahead), routes.states(ahead))
        if self._placing:
            heading = self._placing.headed(rows, batch, heading)
            if self._struggles:
                done = self.plan.objective.reached(batch)
                self._struggles.note(rows, batch, heading.goals, {rows[i] for i in done.nonzero()[0].tolist()})
            return heading
        there: set[int] = set()
        if self._arrival:
            missing = [row for row in rows if self._missed(row)] if plan.has_goal and plan.known else []
            heading, there = self._arrival.headed(rows, batch, features, heading, routes.features(ahead), missing)
        if self._struggles:
            self._struggles.note(rows, batch, heading.goals, there)
        return heading

    def is_stuck(self, row: int) -> bool:
        """Tell whether a row keeps to its route but does not move on along it."""
        return row in self._trackers and self._trackers[row].stuck

    def push(self, row: int, action: Float32s, draw: Callable[[], Float32s]) -> Float32s | None:
        """Return what gets a row off that stands still though it has somewhere to go; None for others."""
        if self._struggles and self._placing:
            return self._struggles.push(row, LONG, action, draw)
        tracker = self._trackers.get(row)
        if self._struggles is None or not isinstance(tracker, LookingAtRecording):
            return None
        return self._struggles.push(row, tracker.idle, action, draw)

    def _missed(self, row: int) -> bool:
        """Tell whether a row came to the end of a route and stayed elsewhere than where that ends."""
        tracker = self._trackers.get(row)
        return isinstance(tracker, LookingAtRecording) and tracker.missed > 0

    def _ahead(self, entries: Int32s) -> Int32s:
        """The subgoal's entry from each vertex; along edges all are looked up once, if they are asked for again."""
        routes, steps = self.plan.routes, self._settings.subgoal_steps
        self._asked += 1
        if routes.kind != "edges" or self._asked == 1:
            return routes.ahead(entries, steps)
        if self._table is None:
            self._table = routes.ahead(np.arange(len(routes.values), dtype=np.int32), steps)
        return self._table.take(entries)

    def _nearer(self, batch: Float32s, entries: Int32s, ahead: Int32s, unsure: _Unsure) -> Int32s:
        """Halve how far ahead subgoals lie until the low-level policy is sure, or they are the next on the route."""
        routes, steps = self.plan.routes, self._settings.subgoal_steps
        while steps > 1 and len(rows := np.flatnonzero(unsure(batch, routes.states(ahead)))):
            steps //= 2
            ahead[rows] = routes.ahead(entries[rows], steps)
        return ahead

    def _kept(
        self, rows: Sequence[int], batch: Float32s, features: Float32s, vertices: Int32s
    ) -> tuple[Int32s, Int32s]:
        """Where each row is on the route it keeps to, and the subgoal's entry."""
        routes, steps = self.plan.routes, self._settings.subgoal_steps
        entries, ahead = np.empty_like(vertices), np.empty_like(vertices)
        for i, (row, feature, vertex) in enumerate(zip(rows, features, vertices, strict=True)):
            tracker = self._trackers.get(row) or self._track(row)
            if isinstance(tracker, LookingTracker):
                tracker.look(batch[i])
            entries[i], further = tracker.locate(feature, int(vertex))
            ahead[i] = routes.ahead(entries[i : i + 1], steps + further)[0]
        return entries, ahead

    def _track(self, row: int) -> Tracker:
        """Begin to keep a row on its route. What a single goal is about always counts: without it nothing is left."""
        plan, objective = self.plan, self.plan.objective
        steps = self._settings.subgoal_steps
        tracker = self._trackers[row] = plan.routes.tracker(steps)
        if not isinstance(tracker, LookingAtRecording):
            return tracker
        if not isinstance(objective.distance, Together | Either):
            tracker.wanted[list(objective.columns or ())] = True
        if objective.avoided:
            tracker.barred = StraightWays(objective.avoided, plan.routes, steps)
            tracker.joining = int(plan.can_reach.argmax()) if plan.has_goal and plan.can_reach.any() else None
        return tracker

    def _rejoined(self, features: Float32s, vertices: Int32s) -> Int32s:
        """Where nothing leads on to the goal, or to any reward, take the nearest vertex from which something does."""
        plan = self.plan
        if plan.has_goal and plan.goal_vertices.take(plan.routes.targets.take(vertices)).all():
            return vertices  # all their routes end there: what else leads there need not be searched for
        leading = self._leading.take(vertices)
        if leading.all():
            return vertices
        joining, index = self._joining
        vertices = vertices.copy()
        vertices[~leading] = joining.take(index.nearest(features[~leading]))
        return vertices

    @cached_property
    def _joining(self) -> tuple[Int64s, VertexIndex]:
        """The vertices from which something leads on, and what finds the nearest of them."""
        joining = np.flatnonzero(self._leading)
        return joining, VertexIndex(self.plan.graph.features[joining])

    @cached_property
    def _leading(self) -> Bools:
        """The vertices from which something leads to the goal or, for rewards, that are worth more than the least."""
        if self.plan.has_goal:
            return self.plan.can_reach
        worth = self.plan.values - self.plan.values.min()
        leading: Bools = (worth > TIE * worth.max()) | (worth.max() == 0)
        return leading
