"""Value iteration: sweeps, and between them the best edges followed."""

from typing import Any

import numpy as np

from vmg.graph.kernels.compiling import jit

ROUNDING = 2.0**-49
"""Differences this small, relative to the largest number summed, are rounding: eight units in its last place."""
MOST_ROUNDS = 1000
"""Policies that are tried: some ten do, and where rounding lets equal edges take turns it ends here."""


@jit
def iterate_values(
    first_edge: Any, heads: Any, edge_rewards: Any, settled: Any, values: Any, discount: float, stop: float
) -> int:
    """V(j) = max over edges of R_G + discount · V, in place, until a sweep over all edges moves no value by `stop`.

    Vertices that are `settled` (loops, whose value is known in closed form, and dead ends) keep the value they came
    with. New values are used at once (Gauss-Seidel): the sweep is still a contraction by the discount, so the bound on
    the error holds. Between two such sweeps values are those of following the best edges alone, exactly (policy
    iteration); started below the solution, values only rise, and end at it. Where best edges stay the best, values were
    exact, and what still moves is rounding: that ends it, too, as do changes that no larger value could show. Returns
    the sweeps.
    """
    n = len(values)
    best_edge = np.zeros(n, np.int64)
    gains, biases = values * (1 - discount), np.zeros(n)
    walked, seen_from = np.empty(n, np.int32), np.empty(n, np.int32)
    sweeps = 0
    while True:
        change, moved = 0.0, sweeps == 0
        for i in range(n):
            vertex = i if sweeps % 2 else n - 1 - i
            if settled[vertex]:
                continue
            best, before = -np.inf, best_edge[vertex]
            for edge in range(first_edge[vertex], first_edge[vertex + 1]):
                value = edge_rewards[edge] + discount * values[heads[edge]]
                if value > best:
                    best = value
                    best_edge[vertex] = edge
            moved |= best_edge[vertex] != before
            change = max(change, abs(best - values[vertex]))
            values[vertex] = best
        sweeps += 1
        if change <= max(stop, ROUNDING * np.max(np.abs(values))) or not moved or sweeps == MOST_ROUNDS:
            return sweeps
        _follow_best(heads, edge_rewards, settled, best_edge, discount, gains, biases, walked, seen_from)
        for vertex in range(n):
            if not settled[vertex]:
                values[vertex] = gains[vertex] / (1 - discount) + biases[vertex]


@jit
def refine_values(
    first_edge: Any, heads: Any, edge_rewards: Any, settled: Any, worth: Any, values: Any, discount: float
) -> float:
    """Policy iteration from these values on, in place, to the last digits that float64 has.

    Near a discount of 1 values are huge and nearly equal, and what tells two edges apart is lost in their rounding.
    Gains and biases (see `_follow_best`) are as small as the rewards: they are compared instead. `worth` is what a
    settled vertex earns by a step on the spot. Returns the largest reward on the way: sums are as exact as it is.
    """
    n = len(values)
    best_edge = np.zeros(n, np.int64)
    gains, biases = worth.copy(), np.zeros(n)
    walked, seen_from = np.empty(n, np.int32), np.empty(n, np.int32)
    for vertex in range(n):
        best = -np.inf
        for edge in range(first_edge[vertex], first_edge[vertex + 1]):
            value = edge_rewards[edge] + discount * values[heads[edge]]
            if value > best:
                best = value
                best_edge[vertex] = edge
    for _ in range(MOST_ROUNDS):
        _follow_best(heads, edge_rewards, settled, best_edge, discount, gains, biases, walked, seen_from)
        largest = 0.0
        for vertex in range(n):
            largest = max(largest, abs(worth[vertex] if settled[vertex] else edge_rewards[best_edge[vertex]]))
        if not _improve(first_edge, heads, edge_rewards, settled, best_edge, discount, gains, biases, largest):
            break
    for vertex in range(n):
        values[vertex] = gains[vertex] / (1 - discount) + biases[vertex]
    return largest


@jit
def _improve(
    first_edge: Any,
    heads: Any,
    edge_rewards: Any,
    settled: Any,
    best_edge: Any,
    discount: float,
    gains: Any,
    biases: Any,
    largest: float,
) -> bool:
    """Take better edges where there are any, by more than rounding; say whether there were."""
    improved = False
    for vertex in range(len(gains)):
        if settled[vertex]:
            continue
        followed = best_edge[vertex]
        here = edge_rewards[followed] - gains[vertex] + discount * biases[heads[followed]]
        most = 0.0
        for edge in range(first_edge[vertex], first_edge[vertex + 1]):
            reward, gain, bias = edge_rewards[edge], gains[heads[edge]], biases[heads[edge]]
            more = reward - gain + discount * bias - here
            if abs(gain - gains[vertex]) > ROUNDING * largest:
                more += (gain - gains[vertex]) / (1 - discount)
            if more > most and more > ROUNDING * (abs(reward) + abs(gain) + abs(bias) + abs(here)):
                most, improved = more, True
                best_edge[vertex] = edge
    return improved


@jit
def _follow_best(
    heads: Any,
    edge_rewards: Any,
    settled: Any,
    best_edge: Any,
    discount: float,
    gains: Any,
    biases: Any,
    walked: Any,
    seen_from: Any,
) -> None:
    """Follow the best edges for ever, from each vertex: they lead to a settled vertex or in a circle.

    The value of that is given in two parts, V = gain/(1 − discount) + bias. The gain is the (discounted) mean reward
    of the circle, the bias what is earned on the way there beside it. A settled vertex has its own gain, and no bias.
    """
    seen_from[:] = -1
    for start in range(len(gains)):
        depth, vertex = 0, start
        while not settled[vertex] and seen_from[vertex] < 0:
            seen_from[vertex] = start
            walked[depth] = vertex
            depth += 1
            vertex = heads[best_edge[vertex]]
        circle = -1
        if not settled[vertex] and seen_from[vertex] == start and depth > 0:
            circle = vertex
            total, weight, factor = 0.0, 0.0, 1.0
            while weight == 0.0 or vertex != circle:
                total += factor * edge_rewards[best_edge[vertex]]
                weight += factor
                factor *= discount
                vertex = heads[best_edge[vertex]]
            gains[circle], biases[circle] = total / weight, 0.0
        for i in range(depth - 1, -1, -1):
            vertex = walked[i]
            if vertex != circle:
                edge = best_edge[vertex]
                gain = gains[heads[edge]]
                gains[vertex] = gain
                biases[vertex] = edge_rewards[edge] - gain + discount * biases[heads[edge]]
