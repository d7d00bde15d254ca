"""How much the states of an episode are like what was recorded, in the metric space and in radii of the graph."""

from dataclasses import dataclass

import numpy as np

from vmg.base.types import Float32s
from vmg.graph.memory import MemoryGraph


@dataclass(frozen=True)
class Likeness:
    """What an episode's states say about the world being as it was when it was recorded."""

    off_graph: float
    """Share of its states that are farther than the radius from everything recorded."""
    start: float
    """Radii from its first state to the nearest vertex."""
    from_starts: float
    """Radii from its first state to the nearest recorded start."""


def likeness(graph: MemoryGraph, features: Float32s) -> Likeness:
    """Compare an episode's states, by their features, with what was recorded."""
    _, distances = graph.nearest(features)
    starts = recorded_starts(graph)
    nearest_start = np.linalg.norm(starts - features[0], axis=1).min()
    return Likeness(
        off_graph=float((distances > graph.radius).mean()),
        start=_radii(distances[0], graph),
        from_starts=_radii(nearest_start, graph),
    )


def recorded_starts(graph: MemoryGraph) -> Float32s:
    """Where recorded episodes began; where the graph does not keep that, their vertices."""
    firsts = np.cumsum(graph.lengths + 1) - (graph.lengths + 1)
    starts: Float32s = graph.recordings.features[firsts] if graph.recordings else graph.features[graph.labels[firsts]]
    return starts


def spread_of_starts(graph: MemoryGraph) -> float:
    """Return how many radii the loneliest recorded start is from the nearest other one; 0 where there is one start."""
    from scipy.spatial import cKDTree

    starts = recorded_starts(graph)
    if len(starts) < 2:
        return 0.0
    distances, _ = cKDTree(starts).query(starts, 2)
    return _radii(distances[:, 1].max(), graph)


def _radii(distance: float, graph: MemoryGraph) -> float:
    return float(distance / graph.radius) if graph.radius > 0 else float(distance)
