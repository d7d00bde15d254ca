"""Extending a graph by a hundredth beside building it anew: cost in proportion to what is new."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

import numpy as np

from benchmarks.generators import EPISODE, RADIUS, revisiting_walks
from benchmarks.rows import Bar, Level, Row, check
from benchmarks.timing import compare
from vmg.data.episodes import Episodes
from vmg.graph import MemoryGraph, build, extend

SHARE = 100
"""One part in so many is new."""


@dataclass(frozen=True)
class Size:
    """Walks of 201 states each, and how often both are timed."""

    walks: tuple[int, ...]
    rounds: int


SIZES: dict[Level, Size] = {"full": Size((500, 5_000), 7), "quick": Size((500,), 3), "tiny": Size((4,), 1)}


def measure(level: Level) -> Iterator[Row]:
    """With the search tree of the vertices at hand, as after acting or an evaluation, and without."""
    size = SIZES[level]
    for n_walks in size.walks:
        episodes = _walks(n_walks)
        n_before = n_walks - max(1, n_walks // SHARE)
        first = episodes.subset(range(n_before))
        graph = build(first.observations, first, RADIUS)
        bar = Bar("times the peer", 20.0) if level == "full" and n_walks == max(size.walks) else None
        row = Row(
            family="extend",
            name="",
            size=f"{len(first.observations):,} + {(n_walks - n_before) * EPISODE:,} states",
            amount=n_walks * EPISODE,
            peer_name="build",
        )
        yield _row(replace(row, name="extend by 1 %", bar=bar), graph, episodes, size.rounds, at_hand=True)
        yield _row(replace(row, name="extend by 1 %, search tree too"), graph, episodes, size.rounds, at_hand=False)


def _row(row: Row, graph: MemoryGraph, episodes: Episodes, rounds: int, *, at_hand: bool) -> Row:
    def extended() -> MemoryGraph:
        before = graph if at_hand else replace(graph)  # a copy has none of what is made once
        return extend(before, episodes.observations, episodes)

    found = compare(extended, lambda: build(episodes.observations, episodes, RADIUS), rounds)
    same = check(_are_same(found.our_result, found.peer_result), "the graphs are identical, bit for bit")
    return replace(row, ours=found.ours, peer=found.peer, checked=same)


def _walks(n_walks: int) -> Episodes:
    n_steps = n_walks * (EPISODE - 1)
    return Episodes(
        observations=revisiting_walks(n_walks * EPISODE, 10, seed=0),
        actions=np.zeros((n_steps, 1), np.float32),
        rewards=np.zeros(n_steps),
        lengths=np.full(n_walks, EPISODE - 1),
        terminated=np.zeros(n_walks, bool),
        truncated=np.ones(n_walks, bool),
        source="walks",
    )


def _are_same(one: MemoryGraph, other: MemoryGraph) -> bool:
    return all(np.array_equal(getattr(one, each.name), getattr(other, each.name)) for each in fields(one))
