"""Random data sets, everything computed twice: by the package, and by `exact_twin` in exact fractions.

python tests/trust/exact.py --seconds 300 --seed 0 --json results/trust/exact.json
"""

import argparse
import json
import sys
import time
import warnings
from collections import Counter
from fractions import Fraction
from pathlib import Path

import exact_twin as twin
import numpy as np
from twins import float32_squares, naive_merge

import vmg
from vmg.base.versions import versions
from vmg.graph import build, goal, iterate_values, reward, solve

DISCOUNTS = (0.0, 0.3, 0.5, 0.9, 0.95, 0.99, 0.999, 0.999999, 0.9999999)
TOLERANCE = Fraction(1, 10**6)
SWITCH_COSTS = (0.0, 0.1, 2.0, 30.0)
RADII = (0.0, 0.5, 0.5, 1.0)


def features(rng, n):
    """Points on a lattice, repeated or scattered, at any scale that float32 holds; and the radius that suits them."""
    dimensions, scale = int(rng.integers(1, 4)), 10.0 ** rng.choice([0, 0, 0, -20, -6, 6, 15])
    kind = rng.choice(["lattice", "scattered", "mixed scales"])
    points = rng.integers(-3, 4, (n, dimensions)) * 0.5 if kind == "lattice" else rng.normal(size=(n, dimensions))
    if kind == "mixed scales":
        points *= 10.0 ** rng.integers(-12, 12, (n, 1))
    return (points * scale).astype(np.float32), float(np.float32(rng.choice(RADII) * scale))


def rewards(rng, n):
    """Whole numbers, quarters, tenths, scattered, huge beside small, a millionth apart, all equal, sparse."""
    return [
        lambda: rng.integers(0, 4, n).astype(float),
        lambda: rng.integers(-4, 5, n) / 4,
        lambda: rng.integers(-10, 11, n) / 10,
        lambda: rng.normal(size=n),
        lambda: rng.choice([-1e6, 1e6, 0.0, 1.0], n),
        lambda: 1 + rng.integers(0, 3, n) * 1e-6,
        lambda: np.full(n, rng.choice([0.0, 1.0, -1.0, 0.3])),
        lambda: (rng.random(n) < 0.1).astype(float),
    ][rng.integers(8)]()


def episodes(rng):
    """A few short episodes, and where each observation lies in the metric space."""
    lengths = rng.integers(1, 10, rng.integers(1, 6))
    points, radius = features(rng, int(lengths.sum() + len(lengths)))
    paid, row, step, parts = rewards(rng, int(lengths.sum())), 0, 0, []
    for length in lengths:
        parts.append((points[row : row + length + 1], np.zeros((length, 1)), paid[step : step + length], False, True))
        row, step = row + length + 1, step + length
    return vmg.Episodes.from_list(parts), points, radius


class Comparison:
    """Counts what was compared, and keeps what differed."""

    def __init__(self):
        self.counts, self.failures = Counter(), []

    def same(self, what, found, expected, where):
        """Hold one answer against the twin's."""
        self.counts[what] += 1
        if found != expected:
            self.failures.append(f"{what}: {found} instead of {expected} ({where})")

    def data_set(self, seed):
        """Everything, for one random data set."""
        rng = np.random.default_rng(seed)
        recorded, points, radius = episodes(rng)
        online = bool(rng.random() < 0.3)
        graph = build(points, recorded, radius, labelling="online" if online else "nearest", recordings=True)
        self.counts["data sets"] += 1
        rows, labels = naive_merge(points, radius, online=online)
        self.same("vertices", graph.rows.tolist(), rows, seed)
        self.same("labels", graph.labels.tolist(), labels, seed)
        self.nearest(graph, points, rng, seed)
        found = twin.slots(graph.labels, recorded.lengths, recorded.rewards)
        self.edges(graph, recorded, found, seed)
        self.solving(graph, recorded, found, rng, seed)
        self.goals(graph, recorded, rng, seed)

    def nearest(self, graph, points, rng, seed):
        """The nearest vertex of points, one by one and all at once."""
        asked = np.concatenate([points, (points[:5] * rng.uniform(0.5, 2)).astype(np.float32)])
        together = graph.nearest_vertices(asked)
        for i, point in enumerate(asked):
            expected = int(np.argmin(float32_squares(graph.features, point)))
            self.same("nearest vertices", (int(together[i]), int(graph.nearest_vertices(point[None])[0])),
                      (expected, expected), seed)  # fmt: skip

    def edges(self, graph, recorded, found, seed):
        """Edges, counts, and their rewards in six variants."""
        pairs = list(zip(graph.tails.tolist(), graph.heads.tolist(), strict=True))
        counts = {pair: len(steps) for pair, steps in found.items() if pair[0] != pair[1]}
        self.same("edges with their counts", dict(zip(pairs, graph.counts.tolist(), strict=False)), counts, seed)
        for variant in twin.HALVES:
            paid, expected = reward(graph, recorded, variant=variant).edges, twin.edge_rewards(found, variant)
            scale = max([1, *map(abs, recorded.rewards)]) * 20
            for pair, r in zip(pairs, paid.tolist(), strict=True):
                self.same("edge rewards", abs(r - float(expected[pair])) <= 1e-14 * scale, True, (seed, variant, pair))

    def solving(self, graph, recorded, found, rng, seed):
        """Values, targets, paths and subgoals; at last the ways along recordings."""
        variant, discount = str(rng.choice(list(twin.HALVES))), float(rng.choice(DISCOUNTS))
        dead_ends = str(rng.choice(["loop", "zero"]))
        given, edges = reward(graph, recorded, variant=variant), twin.edge_rewards(found, variant)
        absorbing = np.zeros(graph.n_vertices, bool)
        moves, looping = twin.moves(graph.n_vertices, edges, absorbing, 1.0, dead_ends)
        worth = twin.values(moves, discount)
        at = (seed, variant, discount, dead_ends)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            values = iterate_values(graph, given, discount, dead_ends=dead_ends).values
        self.values(values, worth, at, said)
        costs = twin.edge_costs(edges, absorbing)
        for steps in (None, 1, 3):
            routes = solve(graph, given, discount, search_steps=steps, dead_ends=dead_ends)
            self.routes(routes, costs, (moves, looping, worth, steps), (*at, steps))
        self.recordings(graph, given, found, variant, discount, rng, at)

    def values(self, values, worth, at, said=()):
        """Within the tolerance, or a warning was given."""
        for vertex, exact in worth.items():
            error = abs(Fraction(float(values[vertex])) - exact)
            self.same("values", error <= TOLERANCE or len(said) == 1, True, (*at, vertex, float(error)))
            self.counts["of them, beyond the tolerance with a warning"] += error > TOLERANCE

    def routes(self, routes, costs, problem, at):
        """Targets, and the path to each: cheapest, then of fewest edges, then lowest."""
        moves, looping, worth, steps = problem
        clear = twin.is_clear(worth, TOLERANCE)
        for vertex in moves:
            target = int(routes.targets[vertex])
            if clear:
                expected = twin.target(worth, looping, twin.reach(moves, vertex, steps))
                self.same("targets", target, expected, (*at, vertex))
            path = routes.path(vertex)
            self.same("paths", path, twin.path(costs, twin.costs_to(costs, target), vertex, target), (*at, vertex))
            for ahead in (1, 2, 9):
                found = int(routes.vertices(routes.ahead(np.array([vertex]), ahead))[0])
                self.same("subgoals", found, path[min(ahead, len(path) - 1)], (*at, vertex))

    def recordings(self, graph, given, found, variant, discount, rng, at):
        """What each way along recordings costs, and that the way costs what it says."""
        price = float(rng.choice(SWITCH_COSTS))
        routes = solve(graph, given, discount, paths="recordings", switch_cost=price)
        ends = routes.targets == np.arange(graph.n_vertices)
        targets = solve(graph, given, discount).targets
        steps, over = twin.step_costs(graph, found, variant), [price * each for each in twin.offsets(graph)]
        expected = twin.costs_along(graph, steps, over, targets, ends)
        for row, exact in enumerate(expected):
            unit = 2.0**-20 * (2 + len(routes.route(row)))  # costs are kept in parts of a step
            near = abs(routes.table.costs[row] - exact) <= unit + 1e-6 * exact
            self.same("ways along recordings", bool(near), True, (*at, price, row, routes.table.costs[row], exact))

    def goals(self, graph, recorded, rng, seed):
        """The vertices of a goal, what it pays, and the values with it."""
        asked, kind = recorded.observations[rng.integers(len(graph.labels))], str(rng.choice(["reach", "stay"]))
        distances = np.linalg.norm(np.subtract(recorded.observations, asked, dtype=np.float64), axis=1)
        found = goal(graph, distances, float(rng.choice([0.0, 0.6, 1.1])), kind=kind)
        vertices = twin.goal_vertices(graph, distances, found.tolerance)
        self.same("goals", np.flatnonzero(found.vertices).tolist(), sorted(vertices), seed)
        paid = (distances[graph.arrivals] <= found.tolerance).astype(float)
        edges = twin.edge_rewards(twin.slots(graph.labels, recorded.lengths, paid), "mean")
        loop = max([1, *(r for (a, b), r in edges.items() if b in vertices and a not in vertices)])
        absorbing = found.vertices if kind == "reach" else np.zeros(graph.n_vertices, bool)
        moves, _ = twin.moves(graph.n_vertices, edges, absorbing, loop, "loop")
        values = iterate_values(graph, found.rewards, 0.95).values
        self.values(values, twin.values(moves, 0.95), (seed, "goal", kind))


def compare(seconds, seed, most=10**9):
    """Random data sets until time is up, or so many were compared."""
    comparison, began = Comparison(), time.perf_counter()
    for number in range(most):
        if time.perf_counter() - began > seconds:
            break
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # radii that merge nothing, goals that nothing reaches
            comparison.data_set((seed, number))
    return comparison


def main():
    """Compare, say what differed, and write the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    began = time.perf_counter()
    found = compare(asked.seconds, asked.seed)
    result = {
        "command": f"make exact SECONDS={asked.seconds:g} SEED={asked.seed}",
        "seed": asked.seed,
        "seconds": round(time.perf_counter() - began, 1),
        "versions": versions(),
        "counts": dict(found.counts),
        "failures": len(found.failures),
    }
    sys.stdout.write("\n".join([*found.failures[:20], json.dumps(result["counts"], indent=2), ""]))
    if asked.json:
        asked.json.parent.mkdir(parents=True, exist_ok=True)
        asked.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    return 1 if found.failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
