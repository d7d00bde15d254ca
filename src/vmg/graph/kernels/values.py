"""Value iteration: sweeps, and between them the best edges followed."""

from typing import Any

import numpy as np

from vmg.graph.kernels.compiling import jit

ROUNDING = 2.0**-49
"""Changes this small, relative to the largest value, are rounding: eight units in its last place."""


@jit
def iterate_values(
    first_edge: Any, heads: Any, edge_rewards: Any, settled: Any, values: Any, discount: float, stop: float
) -> int:
    """V(j) = max over edges of R_G + discount · V, in place, until a sweep over all edges moves no value by `stop`.

    Vertices that are `settled` (loops, whose value is known in closed form, and dead ends) keep the value they came
    with. New values are used at once (Gauss-Seidel): the sweep is still a contraction by the discount, so the bound on
    the error holds. Between two such sweeps values are those of following the best edges alone, exactly (policy
    iteration); started below the solution, values only rise, and end at it. A change that is mere rounding of the
    largest value also ends it. Returns the sweeps.
    """
    n = len(values)
    best_edge = np.zeros(n, np.int64)
    walked, seen_from = np.empty(n, np.int32), np.empty(n, np.int32)
    sweeps = 0
    while True:
        change = 0.0
        for i in range(n):
            vertex = i if sweeps % 2 else n - 1 - i
            if settled[vertex]:
                continue
            best = -np.inf
            for edge in range(first_edge[vertex], first_edge[vertex + 1]):
                value = edge_rewards[edge] + discount * values[heads[edge]]
                if value > best:
                    best = value
                    best_edge[vertex] = edge
            change = max(change, abs(best - values[vertex]))
            values[vertex] = best
        sweeps += 1
        if change <= stop or (sweeps % 16 == 0 and change <= ROUNDING * np.max(np.abs(values))):
            return sweeps
        _follow_best(heads, edge_rewards, settled, best_edge, values, discount, walked, seen_from)


@jit
def _follow_best(
    heads: Any,
    edge_rewards: Any,
    settled: Any,
    best_edge: Any,
    values: Any,
    discount: float,
    walked: Any,
    seen_from: Any,
) -> None:
    """Give each vertex the value of following the best edges for ever: they lead to a settled vertex or in a circle."""
    seen_from[:] = -1
    for start in range(len(values)):
        depth, vertex = 0, start
        while not settled[vertex] and seen_from[vertex] < 0:
            seen_from[vertex] = start
            walked[depth] = vertex
            depth += 1
            vertex = heads[best_edge[vertex]]
        circle = -1
        if not settled[vertex] and seen_from[vertex] == start and depth > 0:
            circle = vertex
            total, factor = 0.0, 1.0
            while factor == 1.0 or vertex != circle:
                total += factor * edge_rewards[best_edge[vertex]]
                factor *= discount
                vertex = heads[best_edge[vertex]]
            values[circle] = total / (1 - factor)
        for i in range(depth - 1, -1, -1):
            vertex = walked[i]
            if vertex != circle:
                edge = best_edge[vertex]
                values[vertex] = edge_rewards[edge] + discount * values[heads[edge]]
