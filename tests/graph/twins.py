"""Slow, obvious twins of the graph's kernels, written from the equations and sharing no code with them."""

import heapq
from fractions import Fraction

import numpy as np


def naive_merge(features, radius, *, online=False):
    """Alg. 1, one row of distances per state; then each state to its nearest vertex, lowest index on ties."""
    vertices, rows, labels = [], [], []
    for row, x in enumerate(features):
        distances = float32_distances(vertices, x)
        if not vertices or distances.min() > np.float32(radius):
            vertices.append(x)
            rows.append(row)
        labels.append(int(np.argmin(float32_squares(vertices, x))))
    if not online:
        labels = [int(np.argmin(float32_squares(vertices, x))) for x in features]
    return rows, labels


def float32_squares(vertices, x):
    squares = np.zeros(len(vertices), np.float32)
    for k in range(len(x)):
        gap = np.array([v[k] for v in vertices], np.float32) - np.float32(x[k])
        squares = squares + gap * gap
    return squares


def float32_distances(vertices, x):
    return np.sqrt(float32_squares(vertices, x))


def steps_of(episodes, labels):
    """(tail, head, reward) of every step."""
    row = step = 0
    for length in episodes.lengths:
        for t in range(length):
            yield int(labels[row + t]), int(labels[row + t + 1]), float(episodes.rewards[step + t])
        row, step = row + length + 1, step + length


def brute_rewards(episodes, labels, variant):
    """Eq. 4-6 by going through the steps once for every edge."""
    combine = {"max": max, "sum": sum}.get(variant, lambda rewards: sum(rewards) / len(rewards))
    steps = list(steps_of(episodes, labels))

    def between(a, b):
        rewards = [r for tail, head, r in steps if (tail, head) == (a, b)]
        return combine(rewards) if rewards else 0.0

    half_tail = 0.0 if variant in ("rm", "rm_h") else 0.5
    half_head = 0.0 if variant in ("rm", "rm_t") else 0.5
    edges = sorted({(a, b) for a, b, _ in steps if a != b})
    return {(a, b): half_tail * between(a, a) + between(a, b) + half_head * between(b, b) for a, b in edges}


def exact_values(n, edges, discount, absorbing, loop_worth, dead_ends):
    """Howard's policy iteration, each policy evaluated by a linear solve in float64: no value iteration anywhere."""
    moves = {v: [] for v in range(n)}
    for (a, b), reward in edges.items():
        if not absorbing[a]:
            moves[a].append((b, reward))
    for v in range(n):
        if absorbing[v]:
            moves[v] = [(v, loop_worth)]
        elif not moves[v]:
            incoming = [r for (a, b), r in edges.items() if b == v and not absorbing[a]]
            moves[v] = [(v, max(incoming, default=0.0) if dead_ends == "loop" else 0.0)]
    policy = [0] * n
    while True:
        system, right = np.eye(n), np.zeros(n)
        for v in range(n):
            head, reward = moves[v][policy[v]]
            system[v, head] -= discount
            right[v] = reward
        values = np.linalg.solve(system, right)
        improved = list(policy)
        for v in range(n):
            worth = [r + discount * values[h] for h, r in moves[v]]
            if max(worth) > worth[policy[v]] + 1e-12:
                improved[v] = int(np.argmax(worth))
        if improved == policy:
            return values
        policy = improved


def reachable(n, edges, absorbing, start, steps):
    """Vertices within `steps` edges of start (None: any number), by breadth-first search."""
    seen, frontier, walked = {start}, {start}, 0
    while frontier and (steps is None or walked < steps):
        frontier = {b for a, b in edges if a in frontier and not absorbing[a]} - seen
        seen |= frontier
        walked += 1
    return seen


def cheapest(edges, weights, absorbing, start, target):
    """(weight, hops) of the cheapest path by a plain forward Dijkstra over exact fractions."""
    queue, done = [(Fraction(0), 0, start)], set()
    while queue:
        weight, hops, vertex = heapq.heappop(queue)
        if vertex == target:
            return weight, hops
        if vertex in done or absorbing[vertex]:
            continue
        done.add(vertex)
        for (a, b), w in zip(edges, weights, strict=True):
            if a == vertex:
                heapq.heappush(queue, (weight + Fraction(int(w)), hops + 1, b))
    return None


def costs_to_end(labels, steps, switches, ends):
    """What is left from each recorded observation, found by trying every hop until nothing changes; None: no way."""
    n = len(labels)
    used = [x for x in range(n) if switches[x] >= 0]
    left = [int(ends[x]) if x in used and ends[x] < np.iinfo(np.int64).max else None for x in range(n)]
    changed = True
    while changed:
        changed = False
        for x in used:
            on = [(x + 1, steps[x])] if x + 1 < n and steps[x] >= 0 else []
            over = [(y, switches[x] + switches[y]) for y in used if labels[y] == labels[x]]
            for y, cost in on + over:
                if left[y] is not None and (left[x] is None or left[y] + cost < left[x]):
                    left[x], changed = int(left[y] + cost), True
    return left
