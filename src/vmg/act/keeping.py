"""Keeping a path, as the published program does: an option, since planning anew at every step measured better."""

from dataclasses import dataclass, field

import numpy as np

from vmg.graph import Solution
from vmg.types import Float32s

LOST = 2.0  # this far from the path in the metric space is lost
PATIENCE = 10  # this many steps without progress is stuck


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
        distances: Float32s = np.linalg.norm(ahead - feature, axis=1).astype(np.float32)
        return distances
