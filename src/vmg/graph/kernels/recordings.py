"""Cheapest ways along recordings."""

from typing import Any

import numpy as np

from vmg.graph.kernels.compiling import jit

_NEVER = np.iinfo(np.int64).max
_FINAL, _ENDS, _STOPS = -3, -2, -1
"""Instead of a step's cost: ways end here and change to here, they end here, or the recording is not followed on."""
_BEST = np.dtype([("cost", "i8"), ("hops", "i4"), ("follow", "i4")])
"""The best way on from a vertex: what it costs, its hops, and the observation whose recording it follows."""


@jit
def along_recordings(
    labels: Any, leaving: Any, slot_costs: Any, switch_costs: Any, targets: Any, ends: Any, absorbing: Any, final: Any
) -> Any:
    """Cheapest ways from every recorded observation to the target of its vertex, along recordings.

    From observation x the recording leads to x + 1, at what the slot leaving[x] costs (below 0 where it ends), and the
    vertex of x to any observation y in it, at switch_costs[x] + switch_costs[y]. Returned is the entry each vertex
    leads to, n + y for its best observation y or itself where ways end; whether the way from each observation changes
    to that one; and whether any way goes on along each slot. `targets`, `ends` and `absorbing` are as in `next_hops`:
    every observation of a way shares the way's target. Where ways end in a vertex with `final` observations, they end
    at one of these, and stay in the vertex until then; in other vertices they end at any.

    Ways are compared by (cost, hops). Recordings are swept backwards until nothing becomes cheaper: every sweep settles
    ways with at least one change more, and good ways change seldom. From sweep to sweep only what is best for each
    vertex is kept, which the cache holds; the recordings are read in order, which no cache needs to.
    """
    n_rows, n = len(labels), len(targets)
    steps, has_final = np.empty(n_rows, np.int32), np.zeros(n, np.bool_)
    for x in range(n_rows):
        has_final[labels[x]] |= final[x]
    for x in range(n_rows):
        vertex = labels[x]
        if ends[vertex] and (final[x] or not has_final[vertex]):
            steps[x] = _FINAL if final[x] else _ENDS
        elif leaving[x] < 0 or targets[vertex] != targets[labels[x + 1]]:
            steps[x] = _STOPS
        else:
            leaves = (ends[vertex] or absorbing[vertex]) and labels[x + 1] != vertex
            steps[x] = _STOPS if leaves else slot_costs[leaving[x]]
    best, changes = np.empty(n, _BEST), np.empty(n_rows, np.bool_)
    for vertex in range(n):
        best[vertex].cost = _NEVER
        best[vertex].hops = 0
        best[vertex].follow = -1
    while _sweep_back(labels, steps, switch_costs, best, changes):
        pass
    first_entries, taken = np.arange(n).astype(np.int32), np.zeros(len(slot_costs), np.bool_)
    for vertex in range(n):
        if best[vertex].follow >= 0:
            first_entries[vertex] = n + best[vertex].follow
    for x in range(n_rows):
        if leaving[x] >= 0 and steps[x] > _ENDS and not changes[x]:
            taken[leaving[x]] = True
    return first_entries, changes, taken


@jit
def _sweep_back(labels: Any, steps: Any, switch_costs: Any, best: Any, changes: Any) -> bool:
    """Go back along all recordings once; say whether any vertex has found a better way."""
    improved = False
    cost, hops = np.int64(_NEVER), np.int32(0)
    for x in range(len(labels) - 1, -1, -1):
        changes[x] = False
        if steps[x] == _ENDS:
            cost, hops = np.int64(0), np.int32(0)
            continue
        here, switch = best[labels[x]], switch_costs[x]
        if steps[x] == _STOPS or (steps[x] != _FINAL and cost == _NEVER):
            cost = np.int64(_NEVER)
        else:
            if steps[x] == _FINAL:
                cost, hops = np.int64(0), np.int32(0)
            else:
                cost, hops = cost + steps[x], np.int32(hops + 1)
            over = cost + switch
            if over < here.cost or (
                over == here.cost and (hops < here.hops or (hops == here.hops and x < here.follow))
            ):
                here.cost = over
                here.hops = hops
                here.follow = x
                improved = True
        if here.cost != _NEVER:
            through = here.cost + switch
            if through < cost or (through == cost and here.hops + 1 < hops):
                cost, hops, changes[x] = through, np.int32(here.hops + 1), True
    return improved
