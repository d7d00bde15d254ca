"""Value iteration beside sweeps of the same equation in numpy alone."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.generators import recorded_graph
from benchmarks.rows import Bar, Level, Row, check
from benchmarks.timing import compare
from vmg.graph import EdgeRewards, MemoryGraph, iterate_values
from vmg.types import Float64s

DISCOUNT, ERROR = 0.95, 1e-6


@dataclass(frozen=True)
class Size:
    """Vertices, edges, and how often each side is timed."""

    vertices: int
    edges: int
    rounds: int


SIZES: dict[Level, Size] = {
    "full": Size(100_000, 500_000, 7),
    "quick": Size(10_000, 50_000, 5),
    "tiny": Size(200, 1_000, 1),
}


def measure(level: Level) -> Iterator[Row]:
    """With dead ends, which loop and soon settle what leads to them, and without, where all values rest on cycles."""
    for dead_ends in (True, False):
        yield _row(level, dead_ends)


def sweep_values(graph: MemoryGraph, rewards: EdgeRewards, discount: float, error: float) -> Float64s:
    """V(j) = max over edges of R_G + discount · V, all vertices at once; dead ends and goals loop."""
    n, stop = graph.n_vertices, error * (1 - discount) / discount
    followed = np.flatnonzero(~rewards.absorbing[graph.tails])
    tails, heads, edge_rewards = graph.tails[followed], graph.heads[followed], rewards.edges[followed]
    moving, starts = np.unique(tails, return_index=True)
    values = np.zeros(n)
    settled = np.setdiff1d(np.arange(n), moving)
    values[settled] = _loop_worth(n, heads, edge_rewards, rewards)[settled] / (1 - discount)
    while True:
        swept = np.maximum.reduceat(edge_rewards + discount * values[heads], starts)
        change = np.abs(swept - values[moving]).max()
        values[moving] = swept
        if change <= stop:
            return values


def check_values(ours: Float64s, theirs: Float64s) -> str:
    """Both may err by the error asked for, so that they may differ by twice that."""
    return check(bool(np.abs(ours - theirs).max() <= 2 * ERROR), f"all values equal to {2 * ERROR:g}")


def _row(level: Level, dead_ends: bool) -> Row:
    """Rewards lie on one edge in a hundred."""
    size = SIZES[level]
    graph = recorded_graph(size.vertices, size.edges, seed=0, dead_ends=dead_ends)
    paid = np.random.default_rng(1).random(graph.n_edges) < 0.01
    rewards = EdgeRewards(paid.astype(np.float64), np.zeros(graph.n_vertices, bool))
    found = compare(
        lambda: iterate_values(graph, rewards, DISCOUNT, tolerance=ERROR),
        lambda: sweep_values(graph, rewards, DISCOUNT, ERROR),
        size.rounds,
    )
    return Row(
        family="values",
        name="value iteration" + ("" if dead_ends else ", no dead ends"),
        size=f"{graph.n_vertices:,} vertices, {graph.n_edges:,} edges",
        ours=found.ours,
        peer_name="numpy",
        peer=found.peer,
        bar=Bar("at most", 0.5) if level == "full" else None,
        checked=check_values(found.our_result.values, found.peer_result),
        note=f"discount {DISCOUNT}, error {ERROR:g}, {found.our_result.sweeps} sweeps of ours",
    )


def _loop_worth(n: int, heads: np.ndarray, edge_rewards: Float64s, rewards: EdgeRewards) -> Float64s:
    """Best reward that leads into each vertex, 0 where none does; a goal's own worth."""
    by_head = np.argsort(heads, kind="stable")
    entered, starts = np.unique(heads[by_head], return_index=True)
    worth = np.zeros(n)
    worth[entered] = np.maximum.reduceat(edge_rewards[by_head], starts)
    worth[rewards.absorbing] = rewards.loop
    return worth
