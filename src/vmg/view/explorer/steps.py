"""How many environment steps the ways of a plan take, from every vertex at once."""

import numpy as np

from vmg.act.plan import Plan
from vmg.base.types import Float64s, Int32s, Int64s
from vmg.graph import EdgeRoutes, MemoryGraph, RecordingRoutes


def steps_to_end(plan: Plan) -> Float64s:
    """Return the recorded steps on the route from each vertex to its end; nan where no way leads to the goal."""
    routes = plan.routes
    if isinstance(routes, EdgeRoutes):
        steps = _along_edges(routes)
    elif isinstance(routes, RecordingRoutes):
        steps = _along_recordings(routes)
    else:  # routes of an extension say it for one vertex at a time, which is too slow for all
        steps = np.full(plan.graph.n_vertices, np.nan)
    return np.where(plan.can_reach, steps, np.nan) if plan.has_goal else steps


def _along_edges(routes: EdgeRoutes) -> Float64s:
    graph, following = routes.graph, routes.following
    vertices = routes.vertices(np.arange(len(following), dtype=np.int32))
    costs = np.zeros(len(following))
    moving = vertices[following] != vertices
    edges = edge_numbers(graph, vertices[moving], vertices[following[moving]])
    costs[moving] = graph.edge_steps[edges]
    return summed(costs, following)[: graph.n_vertices]


def _along_recordings(routes: RecordingRoutes) -> Float64s:
    following = routes.table.following
    rows = np.arange(len(following))
    steps = summed((following == rows + 1).astype(np.float64), following)
    return np.where(routes.starts >= 0, steps[routes.starts], 0.0)


def edge_numbers(graph: MemoryGraph, tails: Int32s, heads: Int32s) -> Int64s:
    """Return the number of each of these edges, which must be there."""
    n = graph.n_vertices
    keys = graph.tails.astype(np.int64) * n + graph.heads  # in order: edges lie by tail, then by head
    return np.searchsorted(keys, tails.astype(np.int64) * n + heads)


def summed(costs: Float64s, following: Int32s) -> Float64s:
    """Sum costs along routes, each entry's own included: follow one entry, then two, four, eight, ...

    Where a route ends it leads to itself, and costs nothing.
    """
    costs = np.where(following == np.arange(len(following)), 0.0, costs)
    for _ in range(len(following).bit_length() + 1):
        if np.array_equal(following, twice := following[following]):
            break
        costs, following = costs + costs[following], twice
    return costs + costs[following]
