"""Routes along recordings that look at what is observed, not at the metric space alone.

States that are near in the metric space can differ in what matters: the arm is where it was recorded, but the microwave
is shut. Here a gap between recordings, or between a recording and an episode, is what differs in the observations, each
number in units of its usual change in a step. Switches are priced by that, so that a route does not pass from a
recording where something is still to be done to one where it is done.

An episode that is pushed off its recording comes back to it first: the recording waits for the body. Where objects do
not move as they were recorded it enters anew, at what was recorded most like its world. It remembers which pieces it
failed on, so that it begins earlier, or with another recording; and what it could not move twice no longer counts, so
that a kettle that was knocked over does not keep the lights from being turned on.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np

from vmg.base.types import Bools, Float32s, Float64s, Int64s
from vmg.graph.ranking import TIE
from vmg.graph.routes.base import ROUTES, Tracker
from vmg.graph.routes.keeping import GIVE_UP, WINDOW, KeptRecording
from vmg.graph.routes.recordings import RecordingRoutes
from vmg.graph.sight import APART, Sight, root_mean_square

if TYPE_CHECKING:
    from vmg.graph.memory import MemoryGraph

NEAR = 64
"""Vertices near an episode whose recordings it may enter."""
OFF = 1.5
"""Recorded steps that a body may be off the recording it follows; farther off, the recording waits for it."""
PUSHED = 3.0
"""Recorded steps by which a body that was pushed is farther off than before."""
NEARER, PAUSE = 0.97, 3
"""It waits while the body comes nearer, at least to this share, for so many steps more."""
AGAIN = 10
"""Steps in a row of more than that, after which it is entered anew."""
TRIES = 2
"""Times that a number of an object did not move as it was recorded, after which it no longer counts."""
FAILED, BESIDE = 100.0, 20
"""Unrewarded steps that it costs to enter a piece that an episode failed on before, or up to so many rows before it."""
BARRED = 1000.0
"""Unrewarded steps that it costs to enter where a body would have to pass what it is to keep off: more than any way."""

Barred: TypeAlias = Callable[[Float32s, Int64s], Bools]
"""Says to which of these rows the straight way from an observation passes what is to be avoided."""


@ROUTES.register("observed")
@dataclass(frozen=True, eq=False)
class ObservedRoutes(RecordingRoutes):
    """Routes along recordings whose gaps are measured in observations."""

    kind: ClassVar[str] = "observed"

    @staticmethod
    def offsets(graph: "MemoryGraph") -> Float64s:
        """Return how far each observation is from its vertex's, in recorded steps."""
        return graph.sight.offsets

    @property
    def sight(self) -> Sight:
        """What recorded observations are like."""
        return self.graph.sight

    def entry_like(
        self, observation: Float32s, vertex: int, failed: Sequence[tuple[int, int]] = (),
        counts: Bools | None = None, barred: Barred | None = None,
    ) -> int:  # fmt: skip
        """Return the row to enter at, of those near that lead to as much as this vertex does.

        It is where the route, and what differs, costs least. To enter a piece, from its first row to its last, that
        failed before costs more. `counts`: the numbers that do; others are as if they were alike.
        """
        shares = self.sight.shares if counts is None else self.sight.shares * counts
        rows = self._rows_near(observation, vertex, shares)
        apart = self.sight.gaps(self.graph.recorded.observations.take(rows, 0), observation, shares)
        costs = self.switch_cost * apart + self.table.costs.take(rows)
        for first, last in failed:
            costs += FAILED * ((rows >= first - BESIDE) & (rows <= last))
        if barred:
            costs += BARRED * barred(observation, rows)
        return int(rows[costs.argmin()])

    def apart(self, rows: Int64s | list[int], observation: Float32s) -> Float32s:
        """Return how far each number of an observation is from recorded ones, in recorded steps."""
        return self.sight.apart(self.graph.recorded.observations.take(rows, 0), observation)

    def tracker(self, subgoal_steps: int) -> Tracker:
        """Keep to a recording until at its end, too long in one place, or in another world than it was."""
        return LookingAtRecording(self)

    def _rows_near(self, observation: Float32s, vertex: int, shares: Float32s) -> Int64s:
        """Return the rows of the vertices most like an observation, of those that lead to as much as the given one."""
        first, members = self.graph.members
        leading = np.flatnonzero((self._worth >= self._worth[vertex]) & (np.diff(first) > 0))
        apart = self.sight.gaps(self.graph.states[leading], observation, shares)
        near = leading[np.argpartition(apart, min(NEAR, len(apart)) - 1)[:NEAR]]
        return np.concatenate([members[first[each] : first[each + 1]] for each in near])

    @cached_property
    def _worth(self) -> Float64s:
        """The value of where the route from each vertex ends, ties alike."""
        values = self.values[self.targets]
        return np.rint(values / (TIE * max(float(np.abs(values).max()), 1e-300)))


@dataclass
class LookingAtRecording(KeptRecording):
    """Where on a recording one episode is, as far as its world is still the recording's."""

    routes: ObservedRoutes
    seen: Float32s | None = None
    first: int = -1
    """The row at which the recording was entered, or switched to."""
    failed: list[tuple[int, int]] = field(default_factory=list)
    """Pieces that were given up in this episode, from their first row to the last."""
    nearest: float = np.inf
    """How near the body came to the row that waits for it."""
    patience: int = 0
    """Steps for which that row still waits."""
    differed: int = 0
    """Steps in a row in which the world was another."""
    missed: int = 0
    """How often the body came to the end of its route and stayed elsewhere than where that ends."""
    idle: int = 0
    """Steps in a row in which the body neither moved on along the recording nor came nearer to it."""
    barred: Barred | None = None
    """What the straight way to where a recording is entered must not pass."""
    joining: int | None = None
    """A vertex that leads on, if what is left out of the graph may have cut off those that do not."""

    def __post_init__(self) -> None:
        n = len(self.routes.sight.steps)
        self.alike: Float64s = np.full(n, np.inf)
        """The least that each number of objects differed by since it was entered."""
        self.wrong: Bools = np.zeros(n, bool)
        """Which of them differ by far more now."""
        self.tries: Int64s = np.zeros(n, np.int64)
        """How often each of them did so until the recording was given up."""
        self.wanted: Bools = np.zeros(n, bool)
        """Numbers that the goal itself is about: they count however often they did not move."""

    def look(self, observation: Float32s) -> None:
        self.seen = observation

    def locate(self, feature: Float32s, vertex: int) -> tuple[int, int]:
        """Wait for the body, move on along the recording, or enter anew."""
        assert self.seen is not None  # it is shown before
        if self.entry < 0 or not self._keep(self.seen):
            self._enter(self.seen, vertex)
        return self.entry, 0

    @property
    def _counts(self) -> Bools:
        return (self.tries < TRIES) | self.wanted

    def _enter(self, observation: Float32s, vertex: int) -> None:
        if self.differed >= AGAIN:
            self.tries += self.wrong
        if self.differed >= AGAIN or self.waited >= GIVE_UP:
            self.failed.append((self.first, self.entry))
        self.entry = self.first = self._entry_from(observation, vertex)
        self.waited, self.differed, self.patience = 0, 0, PAUSE
        self.nearest = np.inf
        self.alike[:] = np.inf

    def _entry_from(self, observation: Float32s, vertex: int) -> int:
        """Return the row to enter at; of those that lead on, if a straight way to any is free."""
        known = (self.failed, self._counts, self.barred)
        if self.barred and self.joining is not None:
            row = self.routes.entry_like(observation, self.joining, *known)
            if not self.barred(observation, np.array([row]))[0]:
                return row
        return self.routes.entry_like(observation, vertex, *known)

    def _keep(self, observation: Float32s) -> bool:
        """Keep to the recording; False: there is nothing to keep to."""
        near = self._next_rows()
        apart = self.routes.apart(near, observation)
        if near[1] == self.entry:
            return self._keep_at_end(apart[:1])
        off, on = self.routes.sight.off(apart), int(root_mean_square(apart * self._counts, 1).argmin())
        waits = self._waits(off[0])
        self.idle = 0 if waits or on else self.idle + 1
        if self._differs(0.0 if waits else off[0], apart[on]):
            return False
        if waits:
            return True
        kept = self._move_on(near, on)
        if self.entry != near[0]:
            self.nearest = off[near.index(self.entry)]
        if not 0 <= self.entry - near[0] <= WINDOW:  # the route switches to another recording
            self.first = self.entry
        return kept

    def _keep_at_end(self, apart: Float32s) -> bool:
        """Stay at the end of the route for a while; who is elsewhere then has failed on the piece that led there."""
        self.idle += 1
        self.waited += 1
        if self.waited < AGAIN:
            return True
        objects = apart[0] * (self.routes.sight.objects & self._counts)
        if self.routes.sight.off(apart)[0] > OFF or objects.max(initial=0.0) > OFF:
            self.failed.append((self.first, self.entry))
            self.missed += 1
        return False

    def _waits(self, off: float) -> bool:
        """Say whether the recording waits for a body so far off it: as long as it comes nearer."""
        if off > self.nearest + PUSHED:
            self.nearest = np.inf
        self.patience = PAUSE if off < NEARER * self.nearest else self.patience - 1
        self.nearest = min(off, self.nearest)
        return off > OFF and self.patience > 0

    def _differs(self, off: float, apart: Float32s) -> bool:
        """Say whether the world has been another for long: the body is elsewhere, or an object did not move along."""
        objects = apart * (self.routes.sight.objects & self._counts)
        self.alike = np.minimum(objects, self.alike)
        self.wrong = objects > self.alike + APART
        self.differed = self.differed + 1 if off > APART or self.wrong.any() else 0
        return self.differed >= AGAIN
