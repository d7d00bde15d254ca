"""Cost as data grow while the graph does not: merging, edges and rewards at a fixed number of vertices."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.clusterings import TUNED, merge
from benchmarks.generators import EPISODE, RADIUS, revisiting_walks, sparse_rewards
from benchmarks.rows import Level, Row, check
from benchmarks.timing import compare, median_seconds
from vmg.base.types import Float64s
from vmg.data.episodes import Episodes
from vmg.graph import MemoryGraph, Merging, connect, reward

ROOM = 2_000.0
"""Volume of the room, small enough that a few dozen walks have been almost everywhere in it."""


@dataclass(frozen=True)
class Size:
    """Walks of 201 states each, and how often ours is timed."""

    walks: tuple[int, ...]
    rounds: int


SIZES: dict[Level, Size] = {
    "full": Size((50, 150, 500, 1_500, 5_000), 5),
    "quick": Size((50, 150), 3),
    "tiny": Size((3,), 1),
}
LARGEST_NAIVE = 300_000  # states: half a minute


def measure(level: Level) -> Iterator[Row]:
    """Beside the naive merge and beside Python dicts, one step after another."""
    size = SIZES[level]
    all_walks = walks(max(size.walks))
    for n_walks in size.walks:
        episodes = all_walks.subset(range(n_walks))
        merging = merge(episodes.observations, RADIUS)
        n = len(merging.labels)
        row = Row(family="growth", name="", size=f"{n:,} states, {len(merging.rows):,} vertices", amount=n)
        yield _merging(replace(row, name="merge, fixed room"), episodes, size.rounds)
        yield _edges(replace(row, name="edges, fixed room"), merging, episodes, size.rounds)
        yield _rewards(replace(row, name="rewards, fixed room"), connect(merging, episodes), episodes, size.rounds)


def walks(n_walks: int) -> Episodes:
    """Return walks through one room, whose observations are their features."""
    n_states, n_steps = n_walks * EPISODE, n_walks * (EPISODE - 1)
    return Episodes(
        observations=revisiting_walks(n_states, 10, seed=0, room=ROOM / n_states),
        actions=np.zeros((n_steps, 1), np.float32),
        rewards=sparse_rewards(n_steps, seed=0),
        lengths=np.full(n_walks, EPISODE - 1),
        terminated=np.zeros(n_walks, bool),
        truncated=np.ones(n_walks, bool),
        source="walks through one room",
    )


def dict_edges(labels: np.ndarray) -> Counter[tuple[int, int]]:
    """Count the steps from vertex to vertex, one after another; steps that stay in a vertex too."""
    by_walk = labels.reshape(-1, EPISODE)
    return Counter(zip(by_walk[:, :-1].ravel().tolist(), by_walk[:, 1:].ravel().tolist(), strict=True))


def dict_rewards(
    labels: np.ndarray, rewards: Float64s, counts: Counter[tuple[int, int]]
) -> dict[tuple[int, int], float]:
    """R_G of every edge (eq. 4-6), from sums by edge."""
    by_walk, sums = labels.reshape(-1, EPISODE), defaultdict[tuple[int, int], float](float)
    steps = zip(by_walk[:, :-1].ravel().tolist(), by_walk[:, 1:].ravel().tolist(), strict=True)
    for step, paid in zip(steps, rewards.tolist(), strict=True):
        sums[step] += paid
    mean = {step: total / counts[step] for step, total in sums.items()}
    return {(a, b): 0.5 * mean.get((a, a), 0.0) + mean[a, b] + 0.5 * mean.get((b, b), 0.0) for a, b in mean if a != b}


def _merging(row: Row, episodes: Episodes, rounds: int) -> Row:
    features = episodes.observations
    if len(features) > LARGEST_NAIVE:
        return replace(row, ours=median_seconds(lambda: merge(features, RADIUS), rounds))
    found = compare(
        lambda: merge(features, RADIUS), lambda: TUNED.run(features, RADIUS, 0), rounds, peer_rounds=1
    )  # fmt: skip
    same = np.array_equal(found.our_result.rows, found.peer_result)
    checked = check(same, "the vertices are identical")
    return replace(row, ours=found.ours, peer_name=TUNED.name, peer=found.peer, checked=checked)


def _edges(row: Row, merging: Merging, episodes: Episodes, rounds: int) -> Row:
    found = compare(lambda: connect(merging, episodes), lambda: dict_edges(merging.labels), rounds)
    same = check(_counts(found.our_result) == found.peer_result, "the same edges with the same counts")
    return replace(row, ours=found.ours, peer_name="Python dicts", peer=found.peer, checked=same)


def _rewards(row: Row, graph: MemoryGraph, episodes: Episodes, rounds: int) -> Row:
    counts = _counts(graph)
    found = compare(
        lambda: reward(graph, episodes), lambda: dict_rewards(graph.labels, episodes.rewards, counts), rounds
    )
    theirs = [found.peer_result[edge] for edge in zip(graph.tails.tolist(), graph.heads.tolist(), strict=True)]
    same = check(np.allclose(found.our_result.edges, theirs), "the same reward on every edge")
    return replace(row, ours=found.ours, peer_name="Python dicts", peer=found.peer, checked=same)


def _counts(graph: MemoryGraph) -> Counter[tuple[int, int]]:
    inside = graph.counts[graph.n_edges :]
    between = zip(graph.tails.tolist(), graph.heads.tolist(), strict=True)
    stays = {(v, v): int(count) for v, count in enumerate(inside) if count}
    return Counter(dict(zip(between, graph.counts[: graph.n_edges].tolist(), strict=True)) | stays)
