"""What a graph looks like in numbers, and how well it covers episodes it was not built from."""

from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

import numpy as np

from vmg.base.types import Float32s
from vmg.data.counting import counted
from vmg.data.episodes import Episodes
from vmg.graph.memory import MemoryGraph


@dataclass(frozen=True)
class GraphSummary:
    """The size and shape of a graph."""

    vertices: int
    edges: int
    components: int
    """Weakly connected parts; no path leads from one to another."""
    largest_component: float
    """Share of the vertices in the largest part."""
    dead_ends: int
    """Vertices without an edge out."""
    steps_per_edge: float
    """Environment steps per graph step: steps over steps that change the vertex (App. G)."""
    covered_observations: float | None = None
    """Share of held-out observations within the radius of a vertex."""
    covered_steps: float | None = None
    """Share of held-out steps that stay inside a vertex or follow an edge of the graph."""

    @property
    def in_words(self) -> str:
        """The size and shape in one line."""
        return (
            f"{self.vertices:,} vertices, {counted(self.edges, 'edge')}, {counted(self.components, 'component')}, "
            f"{counted(self.dead_ends, 'dead end')}, {self.steps_per_edge:.1f} steps per edge"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name, ready for JSON, which knows no infinity: None steps per edge if none is taken."""
        return asdict(self) | {"steps_per_edge": self.steps_per_edge if isfinite(self.steps_per_edge) else None}


def summarise(
    graph: MemoryGraph, *, held_out: Episodes | None = None, held_out_features: Float32s | None = None
) -> GraphSummary:
    """Count vertices, edges, parts and dead ends; with held-out episodes and their features, measure coverage too."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    matrix = csr_array(
        (np.ones(graph.n_edges, np.int8), graph.heads, graph.first_edge), shape=(graph.n_vertices, graph.n_vertices)
    )
    n_components, component = connected_components(matrix, directed=True, connection="weak")
    moving = int(graph.counts[: graph.n_edges].sum())
    observations = steps = None
    if held_out is not None and held_out_features is not None:
        observations, steps = _coverage(graph, held_out, held_out_features)
    return GraphSummary(
        vertices=graph.n_vertices,
        edges=graph.n_edges,
        components=int(n_components),
        largest_component=float(np.bincount(component).max() / graph.n_vertices),
        dead_ends=int((np.diff(graph.first_edge) == 0).sum()),
        steps_per_edge=len(graph.slots) / moving if moving else float("inf"),
        covered_observations=observations,
        covered_steps=steps,
    )


def _coverage(graph: MemoryGraph, episodes: Episodes, features: Float32s) -> tuple[float, float]:
    vertex, distance = graph.nearest(features)
    tails, heads = vertex[episodes.step_observation], vertex[episodes.step_observation + 1]
    n = graph.n_vertices
    known = np.isin(tails.astype(np.int64) * n + heads, graph.tails.astype(np.int64) * n + graph.heads)
    return float((distance <= graph.radius).mean()), float((known | (tails == heads)).mean())
