"""What is left to do from every recorded observation, where ways may end at some of them at a price."""

from typing import Any

import numpy as np

from vmg.graph.kernels.compiling import jit

NEVER = np.iinfo(np.int64).max


@jit
def costs_to_end(labels: Any, step_costs: Any, switch_costs: Any, end_costs: Any, n: int) -> Any:
    """Cheapest cost from every observation to one where a way ends, the price of ending there included.

    From observation x the recording leads to x + 1 at step_costs[x] (below 0: it does not), a way ends at x for
    end_costs[x] (NEVER: it does not), and x changes to any y of its vertex at switch_costs[x] + switch_costs[y]; below
    0: x is not used. Returned are the cost of each observation and the observation where its way ends, the cost of each
    of n vertices from its middle, and where that ends. Recordings are swept backwards until nothing becomes cheaper.
    """
    n_rows = len(labels)
    costs, ends = np.full(n_rows, NEVER), np.full(n_rows, -1)
    best, best_end = np.full(n, NEVER), np.full(n, -1)
    improved = True
    while improved:
        improved = False
        for x in range(n_rows - 1, -1, -1):
            if switch_costs[x] < 0:
                continue
            cost, end, vertex = end_costs[x], x, labels[x]
            goes_on = x + 1 < n_rows and step_costs[x] >= 0 and costs[x + 1] != NEVER
            if goes_on and costs[x + 1] + step_costs[x] < cost:
                cost, end = costs[x + 1] + step_costs[x], ends[x + 1]
            if cost != NEVER and cost + switch_costs[x] < best[vertex]:
                best[vertex], best_end[vertex] = cost + switch_costs[x], end
                improved = True
            if best[vertex] != NEVER and best[vertex] + switch_costs[x] < cost:
                cost, end = best[vertex] + switch_costs[x], best_end[vertex]
            if cost < costs[x]:
                costs[x], ends[x] = cost, end
                improved = True
    return costs, ends, best, best_end
