"""Values, and with them the tables of all paths, beside numpy, scipy and networkx, as graphs grow."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from benchmarks.generators import recorded_graph
from benchmarks.networkx_peer import NetworkxGraph
from benchmarks.rows import Bar, Level, Row, check
from benchmarks.scipy_peer import Tables, solve_tables, sweep_values
from benchmarks.timing import compare
from vmg.base.types import Float64s
from vmg.graph import EdgeRewards, MemoryGraph, Routes, iterate_values, solve

DISCOUNT, ERROR = 0.95, 1e-6
LARGEST_NETWORKX = 100_000  # vertices: ten times as many would take it minutes
PATHS = 200  # compared with the peer's


@dataclass(frozen=True)
class Size:
    """Vertices, with five edges each, and how often ours is timed."""

    vertices: tuple[int, ...]
    rounds: int


SIZES: dict[Level, Size] = {
    "full": Size((10_000, 100_000, 1_000_000), 5),
    "quick": Size((10_000,), 5),
    "tiny": Size((200,), 1),
}


def measure(level: Level) -> Iterator[Row]:
    """Rewards lie on one edge in a hundred.

    Dead ends loop and soon settle what leads to them; without them all values rest on cycles.
    """
    size = SIZES[level]
    for n in size.vertices:
        for dead_ends in (True, False) if n <= 100_000 else (True,):
            graph = recorded_graph(n, 5 * n, seed=0, dead_ends=dead_ends)
            rewards = sparse_edges(graph)
            row = Row(
                family="values",
                name="value iteration" + ("" if dead_ends else ", no dead ends"),
                size=f"{graph.n_vertices:,} vertices, {graph.n_edges:,} edges",
                amount=n,
                bar=Bar("at most", 0.5) if level == "full" and n == 100_000 else None,
            )
            yield from _values(row, graph, rewards, size.rounds)
            if dead_ends:
                yield _tables(replace(row, name="planning tables", bar=None), graph, rewards, size.rounds)


def sparse_edges(graph: MemoryGraph) -> EdgeRewards:
    """Pay 1 on one edge in a hundred."""
    paid = np.random.default_rng(1).random(graph.n_edges) < 0.01
    return EdgeRewards(paid.astype(np.float64), np.zeros(graph.n_vertices, bool))


def check_values(ours: Float64s, theirs: Float64s) -> str:
    """Either may be off by the error asked for, so that they may differ by twice that."""
    return check(bool(np.abs(ours - theirs).max() <= 2 * ERROR), f"all values equal to {2 * ERROR:g}")


def check_tables(graph: MemoryGraph, rewards: EdgeRewards, ours: Routes, theirs: Tables) -> str:
    """Values and targets must be the same, and paths must cost the same: of equally cheap ones either may be taken."""
    same = check_values(ours.values, theirs.values)
    check(bool((ours.targets == theirs.targets).all()), "all targets are the same")
    edges = zip(graph.tails.tolist(), graph.heads.tolist(), strict=True)
    weights = dict(zip(edges, (rewards.edges.max() - rewards.edges).tolist(), strict=True))
    for vertex in np.random.default_rng(2).choice(graph.n_vertices, min(PATHS, graph.n_vertices), replace=False):
        cost = sum(weights[hop] for hop in pairwise(ours.path(int(vertex))))
        check(bool(np.isclose(cost, theirs.costs[vertex], atol=1e-5)), f"the paths from {vertex} cost the same")
    return f"{same}, all targets the same, {PATHS} paths cost the same"


def _values(row: Row, graph: MemoryGraph, rewards: EdgeRewards, rounds: int) -> Iterator[Row]:
    """Beside numpy and, where that ends within a minute, networkx."""
    peers = {"numpy": lambda: sweep_values(graph, rewards, DISCOUNT, ERROR)}
    if graph.n_vertices <= LARGEST_NETWORKX:
        in_networkx = NetworkxGraph(graph, rewards)
        peers["networkx"] = lambda: in_networkx.values(DISCOUNT, ERROR)
    for name, peer in peers.items():
        found = compare(
            lambda: iterate_values(graph, rewards, DISCOUNT, tolerance=ERROR),
            peer,
            rounds,
            peer_rounds=3 if name == "numpy" and graph.n_vertices <= LARGEST_NETWORKX else 1,
        )
        yield replace(
            row,
            ours=found.ours,
            peer_name=name,
            peer=found.peer,
            checked=check_values(found.our_result.values, found.peer_result),
            note=f"discount {DISCOUNT}, error {ERROR:g}, {found.our_result.sweeps} sweeps of ours",
        )


def _tables(row: Row, graph: MemoryGraph, rewards: EdgeRewards, rounds: int) -> Row:
    _ = graph.incoming  # kept with the graph, whatever it is solved for
    found = compare(
        lambda: solve(graph, rewards, DISCOUNT, tolerance=ERROR),
        lambda: solve_tables(graph, rewards, DISCOUNT, ERROR),
        rounds,
        peer_rounds=1,
    )
    return replace(
        row,
        ours=found.ours,
        peer_name="scipy",
        peer=found.peer,
        checked=check_tables(graph, rewards, found.our_result, found.peer_result),
        note="values, best reachable vertex and next hop of every vertex",
    )
