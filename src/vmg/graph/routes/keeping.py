"""Keeping to a recording: where on it an episode is, step by step."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vmg.base.types import Float32s
from vmg.graph.routes.base import distances_to

if TYPE_CHECKING:
    from vmg.graph.memory import MemoryGraph
    from vmg.graph.routes.recordings import RecordingRoutes

WINDOW = 3  # recorded steps that one step may move on along a recording
LOST_RADII, LOST_STEPS = 4.0, 8.0  # so many radii, and recorded steps, from the recording is lost
WAIT = 5  # after this many steps in one place the recording goes on by itself, a step at a time
GIVE_UP = 35  # after this many it is entered anew


@dataclass
class KeptRecording:
    """Where on a recording one episode is. A recording that is followed is not left for one that merely looks alike."""

    routes: "RecordingRoutes"
    entry: int = -1
    waited: int = 0

    @property
    def stuck(self) -> bool:
        """Whether the recording has had to go on by itself for a while."""
        return self.waited >= 2 * WAIT

    def locate(self, feature: Float32s, vertex: int) -> tuple[int, int]:
        """Move on along the recording, or enter anew."""
        if self.entry < 0 or not self._move(feature):
            self.entry, self.waited = self.routes.entry(feature, vertex), 0
        return self.entry, 0

    def _move(self, feature: Float32s) -> bool:
        """Move on to where the episode is now; False: there is nothing to keep to."""
        near, graph = self._next_rows(), self.routes.graph
        if near[1] == self.entry:
            return False
        apart = distances_to(graph.recorded.features.take(np.array(near), 0), feature)
        on = int(apart.argmin())
        return not apart[on] > lost_from(graph) and self._move_on(near, on)

    def _next_rows(self) -> list[int]:
        """Return the row it is at, and those to which one step may move on."""
        rows, following = [self.entry], self.routes.table.following
        for _ in range(WINDOW):
            rows.append(following.item(rows[-1]))
        return rows

    def _move_on(self, near: list[int], on: int) -> bool:
        """Move on to one of these rows; False: it was too long in one place."""
        self.waited = 0 if on else self.waited + 1
        if self.waited >= GIVE_UP:
            return False
        self.entry = near[max(on, 1) if self.waited >= WAIT else on]
        return True


def lost_from(graph: "MemoryGraph") -> float:
    """How far from a recording an episode has lost it.

    In a fine graph a few radii are less than a body strays on its way; entered anew each time, it hardly gets on.
    """
    return max(LOST_RADII * graph.radius, LOST_STEPS * graph.step_length)
