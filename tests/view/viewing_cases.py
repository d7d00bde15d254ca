"""What the tests of pictures share: a watched episode, its floor, and a large graph made of noise."""

from functools import lru_cache

import numpy as np
from acting_cases import agent

from vmg.envs import find_task
from vmg.graph import EdgeRoutes, MemoryGraph
from vmg.view.episodes import watch
from vmg.view.layout import floor_of, floor_plan, lay_out

TASK = find_task("pointmaze-umaze")


@lru_cache
def episode():
    return watch(agent(), TASK, 1)


@lru_cache
def layouts():
    return {"graph": lay_out(agent().built.features), "floor": floor_plan(agent().built, floor_of(TASK, agent().built))}


def noisy_routes(vertices, edges):
    """Routes that go nowhere on a graph made of noise, worth more from vertex to vertex."""
    graph = noisy_graph(vertices, edges)
    return EdgeRoutes(graph, np.linspace(0, 1, vertices), graph.labels, graph.labels, np.zeros(0, np.int32))


def noisy_graph(vertices, edges):
    """A graph along a random walk in ten dimensions, each vertex joined to others near it on the walk."""
    rng = np.random.default_rng(0)
    features = np.cumsum(rng.normal(size=(vertices, 10)), axis=0).astype(np.float32)
    tails = np.sort(rng.integers(0, vertices, edges))
    heads = (tails + rng.integers(1, 30, edges)) % vertices
    nothing = np.zeros(0, np.int32)
    return MemoryGraph(
        features=features,
        states=features,
        rows=np.arange(vertices, dtype=np.int32),
        first_edge=np.searchsorted(tails, np.arange(vertices + 1)).astype(np.int32),
        heads=heads.astype(np.int32),
        counts=np.ones(edges + vertices, np.int32),
        labels=np.arange(vertices, dtype=np.int32),
        slots=nothing,
        lengths=np.zeros(0, np.int64),
        radius=1.0,
    )
