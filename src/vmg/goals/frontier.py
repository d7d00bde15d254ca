"""The frontier of a graph: where it knows least, and an episode would teach it most.

A vertex is the more worth a visit, the fewer recorded states it has, the more of its edges were tried only once, and
most if recordings ended there: nobody knows what lies behind.
"""

from typing import NamedTuple

import numpy as np

from vmg.base.types import Float64s
from vmg.goals.objectives import Objective
from vmg.goals.vertices import in_vertices
from vmg.graph.evidence import hops_from
from vmg.graph.memory import MemoryGraph
from vmg.networks.weights import Weights

DEAD_END = 2.0
"""What a dead end counts, in edges that were tried once."""
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
    return worth


def frontier(graph: MemoryGraph, weights: Weights, start: int, rng: np.random.Generator) -> Frontier:
    """Draw a vertex that can be reached from this one, the more novel the likelier."""
    hops = hops_from(graph, start)
    chances = np.where(hops >= 0, novelty(graph) ** SHARPNESS, 0.0)
    vertex = int(rng.choice(graph.n_vertices, p=chances / chances.sum()))
    return Frontier(vertex, int(hops[vertex]), in_vertices(graph, weights, [vertex]))
