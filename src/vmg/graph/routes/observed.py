"""Routes along recordings that look at what is observed, not at the metric space alone.

States that are near in the metric space can differ in what matters: the arm is where it was recorded, but the microwave
is shut. Here a gap between recordings, or between a recording and an episode, is what differs in the observations, each
number in units of its usual change in a step. Switches are priced by that, so that a route does not pass from a
recording where something is still to be done to one where it is done. And an episode that finds its world other than
its recording has it enters anew, where what was recorded is most like it. It remembers where it was given up, so that
it tries another recording there, and goes on in the end.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from vmg.base.types import Float32s, Float64s, Int64s
from vmg.graph.routes.base import ROUTES, Tracker, distances_to
from vmg.graph.routes.recordings import KeptRecording, RecordingRoutes

if TYPE_CHECKING:
    from vmg.graph.memory import MemoryGraph

NEAR = 32
"""Vertices near an episode whose recordings it may enter."""
APART = 6.0
"""Recorded steps that an observation may differ by from the recording that is followed; as many more per failure."""
FAILED, BESIDE = 100.0, 20
"""Unrewarded steps that it costs to enter where an episode failed before, or up to so many rows from there."""
AGAIN = 10
"""Steps until a recording that was entered may be left because it differs."""
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

    def entry_like(self, observation: Float32s, feature: Float32s, failed: Sequence[int] = ()) -> int:
        """Return the row to enter at, of those in vertices near: where the route, and what differs, costs least.

        To enter where it failed before costs more.
        """
        rows = self._rows_near(feature)
        apart = gaps(self.graph.recorded.observations.take(rows, 0), observation, self.steps)
        costs = self.switch_cost * apart + self.table.costs.take(rows)
        for row in failed:
            costs += FAILED * (np.abs(rows - row) <= BESIDE)
        return int(rows[costs.argmin()])

    def apart(self, entry: int, observation: Float32s) -> float:
        """Return how far an observation is from a recorded one, in recorded steps."""
        return float(gaps(self.graph.recorded.observations[entry], observation, self.steps))

    def tracker(self, subgoal_steps: int) -> Tracker:
        """Keep to a recording until lost, at its end, too long in one place, or in another world than it was."""
        return _LookingAtRecording(self)

    def _rows_near(self, feature: Float32s) -> Int64s:
        first, members = self.graph.members
        near = np.argpartition(distances_to(self.graph.features, feature), min(NEAR, self.graph.n_vertices) - 1)[:NEAR]
        return np.concatenate([members[first[vertex] : first[vertex + 1]] for vertex in near])


@dataclass
class _LookingAtRecording(KeptRecording):
    """Where on a recording one episode is, as far as its world is still the recording's."""

    routes: ObservedRoutes
    seen: Float32s | None = None
    kept: int = 0
    """Steps since it was entered."""
    failed: list[int] = field(default_factory=list)
    """Rows at which recordings were given up in this episode."""

    def look(self, observation: Float32s) -> None:
        self.seen = observation

    def locate(self, feature: Float32s, vertex: int) -> tuple[int, int]:
        """Move on along the recording, or enter anew."""
        assert self.seen is not None  # it is shown before
        self.kept += 1
        if self.entry < 0 or not self._move(feature) or self._differs(self.seen):
            self.failed += [self.entry] * (self.entry >= 0)
            self.entry, self.waited, self.kept = self.routes.entry_like(self.seen, feature, self.failed), 0, 0
        return self.entry, 0

    def _differs(self, observation: Float32s) -> bool:
        limit = APART * (1 + len(self.failed))
        return self.kept >= AGAIN and self.routes.apart(self.entry, observation) > limit


def usual_steps(graph: "MemoryGraph") -> Float32s:
    """Return by how much each number of an observation changes in a recorded step: the root of the mean square."""
    observations, arrivals = graph.recorded.observations, graph.arrivals
    squares = np.zeros(observations.shape[1])
    for first in range(0, len(arrivals), BLOCK):
        rows = arrivals[first : first + BLOCK]
        squares += np.square(observations[rows].astype(np.float64) - observations[rows - 1]).sum(0)
    return np.sqrt(squares / max(len(arrivals), 1)).astype(np.float32)


def gaps(observations: Float32s, others: Float32s, steps: Float32s) -> Float64s:
    """Return what differs between observations: the root of the mean square over numbers that ever change, in steps."""
    changing = steps > 0
    if not changing.any():
        return np.zeros(observations.shape[:-1])
    apart = (observations - others)[..., changing] / steps[changing]
    found: Float64s = np.sqrt(np.square(apart, dtype=np.float64).mean(-1))
    return found
