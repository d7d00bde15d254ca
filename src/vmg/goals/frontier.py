"""The frontier of a graph: where it knows least, and an episode would teach it most.

A vertex is the more worth a visit, the fewer recorded states it has, the farther apart those around it are, the more of
its edges were tried only once, and most if recordings ended there: nobody knows what lies behind.
"""

from typing import NamedTuple

import numpy as np

from vmg.base.lazy import LazyModule
from vmg.base.types import Float32s, Float64s
from vmg.goals.objectives import Objective
from vmg.goals.vertices import in_vertices
from vmg.graph.evidence import hops_from
from vmg.graph.memory import MemoryGraph
from vmg.networks.weights import Weights

spatial = LazyModule("scipy.spatial")

DEAD_END = 2.0
"""What a dead end counts, in edges that were tried once."""
AROUND = 16
"""Other vertices that are looked at around one."""
SHARPNESS = 2.0
"""How much likelier a vertex of twice the novelty is chosen: twice to this power."""


class Frontier(NamedTuple):
    """Somewhere to go: the vertex, how many edges lead there, and the objective to be there."""

    vertex: int
    hops: int
    objective: Objective


def novelty(graph: MemoryGraph) -> Float64s:
    """How much a visit of each vertex would teach: untried ways over recorded states."""
    states = np.bincount(graph.labels, minlength=graph.n_vertices)
    tried_once = graph.tails[graph.counts[: graph.n_edges] == 1]
    once = np.bincount(tried_once, minlength=graph.n_vertices)
    dead_ends = np.diff(graph.first_edge) == 0
    worth: Float64s = (1 + once + DEAD_END * dead_ends) / np.maximum(states, 1)
    return worth * sparseness(graph.features)


def sparseness(points: Float32s) -> Float64s:
    """How far the nearest other points are from each, on average, as a share of what is usual.

    Where every state is a vertex of its own, this tells a corridor that was passed once from one passed every day.
    """
    others = min(AROUND, len(points) - 1)
    if others < 1:
        return np.ones(len(points))
    distances, _ = spatial.cKDTree(points).query(points, k=others + 1)
    apart: Float64s = distances[:, 1:].mean(1)
    usual = float(np.median(apart))
    return apart / usual if usual > 0 else np.ones(len(points))


def frontier(graph: MemoryGraph, weights: Weights, start: int, rng: np.random.Generator) -> Frontier:
    """Draw a vertex that can be reached from this one, the more novel the likelier."""
    hops = hops_from(graph, start)
    chances = np.where(hops >= 0, novelty(graph) ** SHARPNESS, 0.0)
    vertex = int(rng.choice(graph.n_vertices, p=chances / chances.sum()))
    return Frontier(vertex, int(hops[vertex]), in_vertices(graph, weights, [vertex]))
