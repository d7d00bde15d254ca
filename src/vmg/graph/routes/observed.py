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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from vmg.base.types import Bools, Float32s, Float64s, Int64s
from vmg.graph.routes.base import ROUTES, Tracker
from vmg.graph.routes.keeping import GIVE_UP, WINDOW, KeptRecording
from vmg.graph.routes.recordings import RecordingRoutes

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
APART = 8.0
"""Recorded steps that a number of an object may come to differ by from the recording that is followed, and a body that
comes no nearer."""
AGAIN = 10
"""Steps in a row of more than that, after which it is entered anew."""
TRIES = 2
"""Times that a number of an object did not move as it was recorded, after which it no longer counts."""
FAILED, BESIDE = 100.0, 20
"""Unrewarded steps that it costs to enter a piece that an episode failed on before, or up to so many rows before it."""
STILL = 0.2
"""A number that changes in fewer than this share of the steps stands still unless something is handled."""
BLOCK = 2**16
"""Rows whose offsets are computed at once."""


@ROUTES.register("observed")
@dataclass(frozen=True, eq=False)
class ObservedRoutes(RecordingRoutes):
    """Routes along recordings whose gaps are measured in observations."""

    kind: ClassVar[str] = "observed"

    @staticmethod
    def offsets(graph: "MemoryGraph") -> Float64s:
        """Return how far each observation is from its vertex's, in recorded steps."""
        observations, steps, found = graph.recorded.observations, usual_steps(graph), np.zeros(len(graph.labels))
        for first in range(0, len(found), BLOCK):
            rows = slice(first, first + BLOCK)
            found[rows] = gaps(observations[rows], graph.states[graph.labels[rows]], steps)
        return found

    @cached_property
    def steps(self) -> Float32s:
        """By how much each number usually changes in a step."""
        return usual_steps(self.graph)

    @cached_property
    def widths(self) -> Float32s:
        """How far apart each number ever was in the recordings: farther off is no less like them."""
        widths: Float32s = np.ptp(self.graph.recorded.observations, axis=0)
        return widths

    @cached_property
    def objects(self) -> Bools:
        """Which numbers are those of objects, not of the body."""
        return standing_still(self.graph, self.steps)

    def entry_like(
        self, observation: Float32s, failed: Sequence[tuple[int, int]] = (), counts: Bools | None = None
    ) -> int:
        """Return the row to enter at, of those in vertices near: where the route, and what differs, costs least.

        To enter a piece, from its first row to its last, that failed before costs more. `counts`: the numbers that do.
        """
        rows = self._rows_near(observation, counts)
        apart = self._gaps(self.graph.recorded.observations.take(rows, 0), observation, counts)
        costs = self.switch_cost * apart + self.table.costs.take(rows)
        for first, last in failed:
            costs += FAILED * ((rows >= first - BESIDE) & (rows <= last))
        return int(rows[costs.argmin()])

    def apart(self, rows: Int64s | list[int], observation: Float32s) -> Float64s:
        """Return how far each number of an observation is from recorded ones, in recorded steps."""
        return differences(self.graph.recorded.observations.take(rows, 0), observation, self.steps, self.widths)

    def off(self, apart: Float64s) -> Float64s:
        """Return how far bodies are off, of which every number is so far apart."""
        body = (self.steps > 0) & ~self.objects
        return root_mean_square(apart[:, body])

    def tracker(self, subgoal_steps: int) -> Tracker:
        """Keep to a recording until at its end, too long in one place, or in another world than it was."""
        return _LookingAtRecording(self)

    def _rows_near(self, observation: Float32s, counts: Bools | None) -> Int64s:
        first, members = self.graph.members
        apart = self._gaps(self.graph.states, observation, counts)
        near = np.argpartition(apart, min(NEAR, len(apart)) - 1)[:NEAR]
        return np.concatenate([members[first[vertex] : first[vertex + 1]] for vertex in near])

    def _gaps(self, observations: Float32s, observation: Float32s, counts: Bools | None) -> Float64s:
        apart = differences(observations, observation, self.steps, self.widths)
        return root_mean_square((apart if counts is None else apart * counts)[:, self.steps > 0])


@dataclass
class _LookingAtRecording(KeptRecording):
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

    def __post_init__(self) -> None:
        n = len(self.routes.steps)
        self.alike: Float64s = np.full(n, np.inf)
        """The least that each number of objects differed by since it was entered."""
        self.wrong: Bools = np.zeros(n, bool)
        """Which of them differ by far more now."""
        self.tries: Int64s = np.zeros(n, np.int64)
        """How often each of them did so until the recording was given up."""

    def look(self, observation: Float32s) -> None:
        self.seen = observation

    def locate(self, feature: Float32s, vertex: int) -> tuple[int, int]:
        """Wait for the body, move on along the recording, or enter anew."""
        assert self.seen is not None  # it is shown before
        if self.entry < 0 or not self._keep(self.seen):
            self._enter(self.seen)
        return self.entry, 0

    @property
    def _counts(self) -> Bools:
        return self.tries < TRIES

    def _enter(self, observation: Float32s) -> None:
        if self.differed >= AGAIN:
            self.tries += self.wrong
        if self.differed >= AGAIN or self.waited >= GIVE_UP:
            self.failed.append((self.first, self.entry))
        self.entry = self.first = self.routes.entry_like(observation, self.failed, self._counts)
        self.waited, self.differed, self.patience = 0, 0, PAUSE
        self.nearest = np.inf
        self.alike[:] = np.inf

    def _keep(self, observation: Float32s) -> bool:
        """Keep to the recording; False: there is nothing to keep to."""
        near = self._next_rows()
        if near[1] == self.entry:
            return False
        apart = self.routes.apart(near, observation)
        off, on = self.routes.off(apart), int(root_mean_square(apart * self._counts).argmin())
        waits = self._waits(off[0])
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

    def _waits(self, off: float) -> bool:
        """Say whether the recording waits for a body so far off it: as long as it comes nearer."""
        if off > self.nearest + PUSHED:
            self.nearest = np.inf
        self.patience = PAUSE if off < NEARER * self.nearest else self.patience - 1
        self.nearest = min(off, self.nearest)
        return off > OFF and self.patience > 0

    def _differs(self, off: float, apart: Float64s) -> bool:
        """Say whether the world has been another for long: the body is elsewhere, or an object did not move along."""
        objects = apart * (self.routes.objects & self._counts)
        self.alike = np.minimum(objects, self.alike)
        self.wrong = objects > self.alike + APART
        self.differed = self.differed + 1 if off > APART or self.wrong.any() else 0
        return self.differed >= AGAIN


def usual_steps(graph: "MemoryGraph") -> Float32s:
    """Return by how much each number of an observation changes in a recorded step: the root of the mean square."""
    total = np.zeros(graph.recorded.observations.shape[1])
    for changes in _changes(graph):
        total += np.square(changes).sum(0)
    return np.sqrt(total / max(len(graph.arrivals), 1)).astype(np.float32)


def standing_still(graph: "MemoryGraph", steps: Float32s) -> Bools:
    """Say which numbers stand still unless something is handled: in most steps they change by next to nothing."""
    moved = np.zeros(len(steps))
    for changes in _changes(graph):
        moved += (np.abs(changes) > 0.1 * steps).sum(0)
    still: Bools = (steps > 0) & (moved < STILL * len(graph.arrivals))
    return still


def _changes(graph: "MemoryGraph") -> Iterator[Float64s]:
    """Yield by how much observations change in recorded steps, a block of rows at a time."""
    observations, arrivals = graph.recorded.observations, graph.arrivals
    for first in range(0, len(arrivals), BLOCK):
        rows = arrivals[first : first + BLOCK]
        yield observations[rows].astype(np.float64) - observations[rows - 1]


def gaps(observations: Float32s, others: Float32s, steps: Float32s) -> Float64s:
    """Return what differs between observations: the root of the mean square over numbers that ever change, in steps."""
    return root_mean_square(differences(observations, others, steps)[..., steps > 0])


def differences(
    observations: Float32s, others: Float32s, steps: Float32s, widths: Float32s | float = np.inf
) -> Float64s:
    """Return how far apart each number is, up to its width, in steps; 0 for numbers that never change."""
    apart = np.minimum(np.abs(observations - others), widths)
    found: Float64s = np.divide(apart, steps, out=np.zeros(apart.shape), where=steps > 0)
    return found


def root_mean_square(apart: Float64s) -> Float64s:
    """Return the root of the mean square of what differs in the numbers of each row; 0 without any."""
    found: Float64s = np.sqrt(np.square(apart).sum(-1) / max(apart.shape[-1], 1))
    return found
