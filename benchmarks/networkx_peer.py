"""The graph in networkx, as the published program keeps it: values by loops over dicts, paths by Dijkstra."""

from itertools import pairwise
from typing import Any

import numpy as np

from vmg.base.errors import require
from vmg.base.types import Float64s
from vmg.graph import EdgeRewards, MemoryGraph


class NetworkxGraph:
    """A DiGraph with `reward` and `weight` on every edge; building it is not timed."""

    def __init__(self, graph: MemoryGraph, rewards: EdgeRewards) -> None:
        self.networkx = require("networkx", "bench")
        self.graph = self.networkx.DiGraph()
        self.graph.add_nodes_from(range(graph.n_vertices))
        weights = rewards.edges.max() - rewards.edges
        edges = zip(graph.tails.tolist(), graph.heads.tolist(), rewards.edges.tolist(), weights.tolist(), strict=True)
        self.graph.add_edges_from((tail, head, {"reward": r, "weight": w}) for tail, head, r, w in edges)

    def values(self, discount: float, error: float) -> Float64s:
        """V(j) = max over edges of R_G + discount · V; a dead end loops, worth its best incoming reward."""
        moves = {v: [(h, e["reward"]) for h, e in out.items()] for v, out in self.graph.adjacency() if out}
        values = dict.fromkeys(self.graph, 0.0)
        for vertex in self.graph.nodes - moves.keys():
            incoming = (e["reward"] for _, _, e in self.graph.in_edges(vertex, data=True))
            values[vertex] = max(incoming, default=0.0) / (1 - discount)
        change, stop = np.inf, error * (1 - discount) / discount
        while change > stop:
            change = 0.0
            for vertex, out in moves.items():
                best = max([r + discount * values[head] for head, r in out])
                change = max(change, abs(best - values[vertex]))
                values[vertex] = best
        return np.array([values[v] for v in range(len(values))])

    def path(self, vertex: int, target: int) -> list[int]:
        """Return a cheapest path."""
        found: list[int] = self.networkx.dijkstra_path(self.graph, vertex, target, weight="weight")
        return found

    def cost(self, path: list[int]) -> float:
        """Return the sum of a path's weights; every hop must be an edge."""
        edges: Any = self.graph.edges
        return float(sum(edges[hop]["weight"] for hop in pairwise(path)))
