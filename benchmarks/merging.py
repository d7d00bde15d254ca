"""Merging beside Alg. 1 as it is written and beside clusterings: time and memory as the number of states grows."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.clusterings import CLUSTERINGS, TUNED, Clustering, merge
from benchmarks.generators import RADIUS, revisiting_walks, scattered
from benchmarks.memory import RESET, peak_beyond
from benchmarks.rows import Bar, Level, Row, check
from benchmarks.timing import compare, median_seconds
from vmg.base.errors import VMGError, require
from vmg.base.types import Float32s
from vmg.graph import Merging

MIB = 2.0**20


@dataclass(frozen=True)
class Size:
    """Numbers of states: in 10 dimensions, in 20 and 50, where each becomes a vertex, for memory; rounds of ours."""

    states: tuple[int, ...]
    wide: tuple[int, ...]
    worst: tuple[tuple[int, int], ...]
    """With their dimensions. In 50 of them, without structure, nothing can be left out: all pairs, on either side."""
    memory: tuple[int, ...]
    rounds: int


SIZES: dict[Level, Size] = {
    "full": Size(
        states=(10_000, 30_000, 100_000, 300_000, 1_000_000),
        wide=(10_000, 100_000, 1_000_000),
        worst=((10_000, 10), (100_000, 10), (10_000, 50)),
        memory=(10_000, 100_000, 1_000_000),
        rounds=5,
    ),
    "quick": Size((10_000,), (5_000,), ((2_000, 10), (2_000, 50)), (10_000,), 3),
    "tiny": Size((500,), (300,), ((200, 10), (200, 50)), (20_000,), 1),
}


def measure(level: Level) -> Iterator[Row]:
    """Yield the rows, from the usual sizes to the worst case; a peer goes as far as it gets within a minute or two."""
    size = SIZES[level]
    for n in size.states:
        features = revisiting_walks(n, 10, seed=0)
        beside: list[Clustering | None] = [each for each in CLUSTERINGS if n <= each.largest]
        for each in beside or [None]:
            yield _row("merge", features, RADIUS, size.rounds, each, _bar(level, n, each))
    for dimensions in (20, 50):
        for n in size.wide:
            features, peer = revisiting_walks(n, dimensions, seed=0), TUNED if n <= 100_000 else None
            yield _row(f"merge, {dimensions} dimensions", features, RADIUS, size.rounds, peer)
    for n, dimensions in size.worst:
        features = scattered(n, dimensions, seed=0)
        name = f"merge, every state a vertex, {dimensions} dimensions"
        yield _row(name, features, _smallest_gap(features), size.rounds, TUNED)
    for n in size.memory:
        yield from _memory(revisiting_walks(n, 10, seed=0), level)


def _bar(level: Level, n: int, peer: Clustering | None) -> Bar | None:
    if level == "full" and n == 1_000_000:
        return Bar("at most", 15.0)
    return Bar("times the peer", 50.0) if level == "full" and n == 100_000 and peer and peer.exact else None


def _row(
    name: str, features: Float32s, radius: float, rounds: int, peer: Clustering | None, bar: Bar | None = None
) -> Row:
    merging = merge(features, radius)
    n = len(merging.rows)
    row = Row(
        family="merge",
        name=name,
        size=f"{len(features):,} × {features.shape[1]}-d → {n:,}",
        amount=len(features),
        bar=bar,
        note=f"{n / len(features):.3f} vertices per state",
    )
    if peer is None:
        seconds = median_seconds(lambda: merge(features, radius), rounds)
        return replace(row, ours=seconds, checked=_check_cover(features, merging))
    try:
        peer.run(features[:100], radius, 10)  # so that no import is timed
        found = compare(
            lambda: merge(features, radius),
            lambda: peer.run(features, radius, n),
            rounds,
            peer_rounds=1 if features.size > 500_000 else 3,
        )
    except VMGError as error:
        return Row(family="merge", name=f"{name} beside {peer.name}: skipped", note=str(error))
    beside = replace(row, ours=found.ours, peer_name=peer.name, peer=found.peer)
    if peer.exact:
        same = check(np.array_equal(merging.rows, found.peer_result), "the vertices are identical")
        return replace(beside, checked=same, note=f"{row.note}; ours labels every state with its nearest vertex too")
    note = f"another clustering, not the same result: it makes {len(found.peer_result):,} clusters"
    return replace(beside, note=note)


def _memory(features: Float32s, level: Level) -> Iterator[Row]:
    """Peaks beyond the input, each in a process of its own."""
    if not RESET.exists():
        yield Row(family="merge", name="merge, memory: skipped", note="only Linux tells the peak of a stretch of work")
        return
    n_vertices, input_size = len(merge(features, RADIUS).rows), features.nbytes / MIB
    peak = peak_beyond("ours", features, RADIUS, n_vertices) / MIB
    row = Row(
        family="merge",
        name="merge, memory",
        size=f"{len(features):,} × 10-d, {input_size:.3g} MiB",
        unit="MiB",
        ours=peak,
        amount=len(features),
        bar=Bar("at most", 2 * input_size) if level == "full" and len(features) == 1_000_000 else None,
        note=f"peak beyond the input, {peak / input_size:.2f} times as much; a process of its own, compiled before",
    )
    peers = [peer for peer in CLUSTERINGS[1:] if len(features) <= 100_000]
    for peer in peers if level != "tiny" else peers[:1]:
        yield replace(row, peer_name=peer.name, peer=peak_beyond(peer.name, features, RADIUS, n_vertices) / MIB)
    if not peers:
        yield row


def _check_cover(features: Float32s, merging: Merging) -> str:
    """What Alg. 1 promises and can be checked at any size."""
    gaps = np.linalg.norm(features - merging.features[merging.labels], axis=1)
    tree = require("scipy.spatial", "bench").cKDTree(merging.features)
    apart = tree.query(merging.features, k=[2], workers=-1)[0].min()
    within = gaps.max() <= merging.radius * (1 + 1e-5) and apart > merging.radius * (1 - 1e-5)
    return check(bool(within), "every state lies within the radius of its vertex, no two vertices do")


def _smallest_gap(features: Float32s) -> float:
    tree = require("scipy.spatial", "bench").cKDTree(features)
    return 0.999 * float(tree.query(features, k=[2], workers=-1)[0].min())
