"""Building on all cores beside building on one: embedding observations and merging states, bit for bit the same."""

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.agents import untrained
from benchmarks.clusterings import merge
from benchmarks.generators import EPISODE, RADIUS, ant_like, revisiting_walks, write_walks
from benchmarks.rows import Level, Row, check
from benchmarks.timing import compare
from vmg.base.types import Float32s
from vmg.graph import Merging
from vmg.learn import LearnConfig
from vmg.networks import embed_alike

DIMENSIONS = 10


@dataclass(frozen=True)
class Size:
    """Walks of 201 states each, through a small and a large room, and embedded ones; and how often all are timed."""

    small: tuple[int, ...]
    large: int
    embedded: int
    rounds: int


SIZES: dict[Level, Size] = {
    "full": Size((5_000, 50_000), 5_000, 1_000, 3),
    "quick": Size((500,), 500, 100, 3),
    "tiny": Size((500,), 5, 30, 1),
}


def measure(level: Level) -> Iterator[Row]:
    """At a hundredth and at a fifth of a vertex per state."""
    size, row = SIZES[level], Row(family="cores", name="")
    yield _embedding(row, size)
    for n_walks in size.small:
        yield _merging(row, _in_a_small_room(n_walks), size.rounds)
    yield _merging(row, revisiting_walks(size.large * EPISODE, DIMENSIONS, seed=0), size.rounds)


def _cores() -> int:
    return os.cpu_count() or 1


def _embedding(row: Row, size: Size) -> Row:
    episodes = ant_like(size.embedded * (EPISODE - 1), seed=0)
    weights, rows = untrained(episodes, LearnConfig()), episodes.observations
    found = compare(
        lambda: embed_alike(weights, rows, workers=_cores()), lambda: embed_alike(weights, rows), size.rounds
    )  # fmt: skip
    same = check(found.our_result.tobytes() == found.peer_result.tobytes(), "the features are identical, bit for bit")
    return replace(
        row,
        name=f"embed on {_cores()} cores",
        size=f"{len(rows):,} × {rows.shape[1]}-d",
        amount=len(rows),
        ours=found.ours,
        peer_name="one block after the other",
        peer=found.peer,
        checked=same,
        note="the peer leaves the cores to the matrix library",
    )


def _merging(row: Row, features: Float32s, rounds: int) -> Row:
    found = compare(lambda: merge(features, RADIUS, workers=_cores()), lambda: merge(features, RADIUS), rounds)
    same = check(_are_same(found.our_result, found.peer_result), "vertices and labels are identical, bit for bit")
    return replace(
        row,
        name=f"merge on {_cores()} cores",
        size=f"{len(features):,} × {DIMENSIONS}-d → {len(found.our_result.rows):,}",
        amount=len(features),
        ours=found.ours,
        peer_name="one core",
        peer=found.peer,
        checked=same,
    )


def _are_same(one: Merging, other: Merging) -> bool:
    return np.array_equal(one.rows, other.rows) and np.array_equal(one.labels, other.labels)


def _in_a_small_room(n_walks: int) -> Float32s:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "features.npy"
        write_walks(path, n_walks, DIMENSIONS, seed=0)
        features: Float32s = np.load(path)
    return features
