"""What is computed, once more: slow, in exact fractions, from the definitions alone.

Rewards, discounts and values are `Fraction`s of the float64 that were given, so that no tie and no difference is lost.
Only distances are float32, because the definition says so.
"""

import heapq
from fractions import Fraction
from itertools import pairwise

HALVES = {"mean": (1, 1), "max": (1, 1), "sum": (1, 1), "rm": (0, 0), "rm_h": (0, 1), "rm_t": (1, 0)}
NOISE = Fraction(1, 10**12)
"""Of the largest value: sums that should cancel are off by less."""
TIE = Fraction(1, 10**6)


def slots(labels, lengths, rewards):
    """The rewards of the steps from each vertex to each, themselves included."""
    found, row, step = {}, 0, 0
    for length in lengths:
        for t in range(length):
            pair = (int(labels[row + t]), int(labels[row + t + 1]))
            found.setdefault(pair, []).append(Fraction(repr(float(rewards[step + t]))))
        row, step = row + length + 1, step + length
    return found


def combined(rewards, variant):
    """R(a→b)."""
    if not rewards:
        return Fraction(0)
    return {"max": max, "sum": sum}.get(variant, lambda each: sum(each) / len(each))(rewards)


def edge_rewards(found, variant):
    """R_G of every edge."""
    tail, head = (Fraction(half, 2) for half in HALVES[variant])
    return {
        (a, b): tail * combined(found.get((a, a)), variant)
        + combined(steps, variant)
        + head * combined(found.get((b, b)), variant)
        for (a, b), steps in sorted(found.items())
        if a != b
    }


def moves(n, edges, absorbing, loop, dead_ends):
    """Where each vertex can go, and what that pays: its edges, or its loop."""
    found = {v: [(b, r) for (a, b), r in edges.items() if a == v and not absorbing[a]] for v in range(n)}
    looping = {v for v in range(n) if absorbing[v] or (not found[v] and dead_ends == "loop")}
    for v in range(n):
        if absorbing[v]:
            found[v] = [(v, Fraction(float(loop)))]
        elif not found[v]:
            incoming = [r for (a, b), r in edges.items() if b == v and not absorbing[a]]
            found[v] = [(v, max(incoming, default=Fraction(0)) if dead_ends == "loop" else Fraction(0))]
    return found, looping


def values(found, discount):
    """Policy iteration: exact, and it ends because no policy comes back."""
    gamma, policy = Fraction(discount), {v: 0 for v in found}
    while True:
        worth = followed(found, policy, gamma)
        better = {}
        for v, ways in found.items():
            totals = [r + gamma * worth[b] for b, r in ways]
            better[v] = policy[v] if totals[policy[v]] == max(totals) else totals.index(max(totals))
        if better == policy:
            return worth
        policy = better


def followed(found, policy, gamma):
    """What it is worth to follow a policy for ever: it ends in a circle, whose value is a geometric series."""
    worth = {}
    for start in found:
        walk, v = [], start
        while v not in worth and v not in walk:
            walk.append(v)
            v = found[v][policy[v]][0]
        if v not in worth:
            circle = walk[walk.index(v) :]
            paid = sum(found[u][policy[u]][1] * gamma**i for i, u in enumerate(circle))
            worth[v] = paid / (1 - gamma ** len(circle))
        for u in reversed(walk):
            if u not in worth:
                head, reward = found[u][policy[u]]
                worth[u] = reward + gamma * worth[head]
    return worth


def reach(found, start, steps):
    """Vertices within so many edges (None: any number)."""
    seen, frontier, walked = {start}, {start}, 0
    while frontier and (steps is None or walked < steps):
        frontier = {b for v in frontier for b, _ in found[v]} - seen
        seen, walked = seen | frontier, walked + 1
    return seen


def target(worth, looping, within):
    """The best of these vertices: by value with ties, looping ones first, then the lower index."""
    best = max(worth[v] for v in within)
    tied = [v for v in within if best - worth[v] <= TIE * max(abs(best), abs(worth[v]))]
    return min(tied, key=lambda v: (v not in looping, v))


def is_clear(worth, error):
    """Whether no two values are so near that they may be seen otherwise: off by `error` each, or near a tie.

    Or so near 0 beside the largest that float64 loses them.
    """
    ordered = sorted(worth.values())
    seen = max(2 * Fraction(error), NOISE * max(map(abs, ordered)))
    gaps = [(b - a, (b - a) / max(abs(a), abs(b))) for a, b in pairwise(ordered) if a != b]
    return all((gap > seen and share > 10 * TIE) or share < TIE / 1000 for gap, share in gaps)


def edge_costs(edges, absorbing):
    """(max R_G) − R_G over the edges that are followed; 1 where all are equal: fewest edges then."""
    followed = {edge: r for edge, r in edges.items() if not absorbing[edge[0]]}
    if len(set(followed.values())) < 2:
        return dict.fromkeys(followed, Fraction(1))
    return {edge: max(followed.values()) - r for edge, r in followed.items()}


def costs_to(costs, goal):
    """(cost, edges) of the cheapest path from every vertex to one, by Dijkstra backwards."""
    into = {}
    for (a, b), cost in costs.items():
        into.setdefault(b, []).append((a, cost))
    best, queue = {}, [(Fraction(0), 0, goal)]
    while queue:
        cost, edges, v = heapq.heappop(queue)
        if v in best:
            continue
        best[v] = (cost, edges)
        for tail, more in into.get(v, ()):
            heapq.heappush(queue, (cost + more, edges + 1, tail))
    return best


def path(costs, best, start, goal):
    """The cheapest path: ties to fewer edges, then to the lower next vertex."""
    vertices = [start]
    while vertices[-1] != goal:
        here = vertices[-1]
        vertices.append(
            min(
                b
                for (a, b), cost in costs.items()
                if a == here and b in best and (best[b][0] + cost, best[b][1] + 1) == best[here]
            )
        )
    return vertices


def goal_vertices(graph, distances, tolerance):
    """The vertices that hold a state within the tolerance; that of the nearest state where there is none."""
    within = {int(label) for label, distance in zip(graph.labels, distances, strict=True) if distance <= tolerance}
    return within or {int(graph.labels[int(distances.argmin())])}


def step_costs(graph, found, variant):
    """What each observation's step along its recording costs, None where it ends: the gap of its slot's reward."""
    slots = {pair: combined(rewards, variant) for pair, rewards in found.items()}
    low, high = min(slots.values()), max(slots.values())
    costs, row = [], 0
    for length in graph.lengths:
        for here, there in pairwise(graph.labels[row : row + length + 1].tolist()):
            costs.append(float((high - slots[here, there]) / (high - low)) if high > low else 1.0)
        costs.append(None)
        row += length + 1
    return costs


def offsets(graph):
    """How far each observation lies from its vertex, in recorded steps of mean length."""
    points = graph.recordings.features.astype(float)
    arrivals = [row for row in range(1, len(points)) if row not in set((graph.lengths + 1).cumsum().tolist())]
    lengths = [sum((points[row] - points[row - 1]) ** 2) ** 0.5 for row in arrivals]
    mean = sum(lengths) / len(lengths) or 1.0
    middles = graph.features.astype(float)[graph.labels]
    return [float(sum((point - middle) ** 2) ** 0.5 / mean) for point, middle in zip(points, middles, strict=True)]


def costs_along(graph, steps, over, targets, ends):
    """What is left from each observation to its target: on along the recording, or over to another in its vertex."""
    labels, infinite = graph.labels.tolist(), float("inf")
    left = [0.0 if ends[label] else infinite for label in labels]
    changed = True
    while changed:
        changed = False
        for row in reversed(range(len(labels))):
            if ends[labels[row]]:
                continue
            ways = [over[row] + over[y] + left[y] for y in range(len(labels)) if labels[y] == labels[row]]
            if steps[row] is not None and targets[labels[row + 1]] == targets[labels[row]]:
                ways.append(steps[row] + left[row + 1])
            if min(ways) < left[row] - 1e-12 * abs(left[row] if left[row] < infinite else 1):
                left[row], changed = min(ways), True
    return left
