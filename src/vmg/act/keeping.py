"""Keeping to a path, instead of planning anew at every step.

Along edges it is what the published program does: an option, since planning anew measured better. Along recordings it
is ours, and measured far better: a recording that is followed to its end is not left for one that merely looks alike.
"""

from dataclasses import dataclass, field

import numpy as np

from vmg.graph import MemoryGraph, Solution
from vmg.types import Float32s

LOST = 2.0  # this far from the path in the metric space is lost
PATIENCE = 10  # this many steps without progress is stuck

WINDOW = 3  # recorded steps that one step may move on along a recording
LOST_RADII = 4.0  # this many radii from the recording is lost
WAIT = 5  # after this many steps in one place the recording goes on by itself, a step at a time
GIVE_UP = 35  # after this many it is looked for anew


@dataclass
class KeptPath:
    """The path one episode follows: kept until lost or stuck, looking farther ahead the longer nothing moves."""

    vertices: Float32s
    """Features of all vertices of the graph."""
    path: list[int] = field(default_factory=list)
    position: int = 0
    waited: int = 0

    def subgoal(self, feature: Float32s, vertex: int, solution: Solution, subgoal_steps: int) -> int:
        """Return the vertex to head for from here."""
        if not self.path or self._is_lost(feature) or self.waited >= PATIENCE:
            self.path, self.position, self.waited = solution.path(vertex), 0, 0
        reached = self._nearest_ahead(feature)
        self.waited = 0 if reached > self.position else self.waited + 1
        self.position = reached
        return self.path[min(self.position + subgoal_steps + self.waited, len(self.path) - 1)]

    def _nearest_ahead(self, feature: Float32s) -> int:
        return self.position + int(np.argmin(self._distances(feature)))

    def _is_lost(self, feature: Float32s) -> bool:
        return bool(self._distances(feature).min() > LOST)

    def _distances(self, feature: Float32s) -> Float32s:
        ahead = self.vertices[self.path[self.position :]]
        return gaps(ahead, feature)


@dataclass
class KeptRecording:
    """Where on a way along recordings one episode is: on it until lost, at its end, or too long in one place."""

    solution: Solution | None = None
    entry: int = 0
    waited: int = 0

    def move(self, feature: Float32s, solution: Solution, graph: MemoryGraph) -> bool:
        """Move on to where the episode is now; False: there is nothing to keep to, and it is to begin anew."""
        if self.solution is not solution:
            return False
        near, hops = [self.entry], solution.hops
        for _ in range(WINDOW):
            near.append(hops.item(near[-1]))
        if near[1] == self.entry:
            return False
        apart = gaps(graph.recorded.features.take(np.array(near) - graph.n_vertices, 0), feature)
        on = int(apart.argmin())
        self.waited = 0 if on else self.waited + 1
        if apart[on] > LOST_RADII * graph.radius or self.waited >= GIVE_UP:
            return False
        self.entry = near[max(on, 1) if self.waited >= WAIT else on]
        return True

    def begin(self, entry: int, solution: Solution) -> None:
        """Follow this solution from this entry on."""
        self.solution, self.entry, self.waited = solution, entry, 0


def gaps(points: Float32s, point: Float32s) -> Float32s:
    """Distance of one point to each of many: what `np.linalg.norm` gives, without all it looks at first."""
    apart = points - point
    apart *= apart
    distances: Float32s = np.sqrt(np.add.reduce(apart, axis=1))
    return distances
