"""Recorded edges (section 3.2): j1→j2, j1≠j2, where some recorded step goes from vertex j1 to vertex j2."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from vmg.data.episodes import Episodes
from vmg.graph import kernels
from vmg.graph.edges.base import EDGE_SOURCES

if TYPE_CHECKING:
    from vmg.graph.memory import MemoryGraph


@EDGE_SOURCES.register("recorded")
def recorded(graph: "MemoryGraph", episodes: Episodes) -> "MemoryGraph":
    """Join vertices by the steps between them; time and memory linear in the steps."""
    leaves = np.ones(len(graph.labels), bool)
    leaves[episodes.first_observation[1:] - 1] = False  # no step leaves an episode's last observation
    tails, heads = graph.labels[:-1][leaves[:-1]], graph.labels[1:][leaves[:-1]]
    first_edge, heads, counts, slots = kernels.edges.join_steps(tails, heads, graph.n_vertices)
    return replace(graph, first_edge=first_edge, heads=heads, counts=counts, slots=slots)
