"""The greedy scan on several cores, exactly: states are cut into shards, each with a search tree and a thread.

    shard 0   scan ───────┐ V0                cover V1 ────    cover V2 ────
    shard 1   cover V0 ───┴─ scan ───────┐ V1                  cover V2 ────
    shard 2   cover V0 ───   cover V1 ───┴─ scan ──────────┐ V2

A state of a later shard can only become a vertex once it was held against all earlier vertices. So shards are scanned
one after the other, and what one finds is at once held against the states of all others, side by side. Each shard sees
the vertices in the order of their numbers, as a scan of all states does: the result is the same, bit for bit.
"""

from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack

import numpy as np

from vmg.base.types import Float32s, Int32s
from vmg.graph import kernels

AT_ONCE = 16_384
"""States that are scanned until the other shards hear of the vertices found."""


def merge_in_shards(points: Float32s, threshold: np.float32, n_shards: int, *, online: bool) -> tuple[Int32s, Int32s]:
    """Return (points that become vertices, label of every point), as `kernels.merging.merge_greedily` finds them.

    `threshold` is the largest float32 square that counts as within the radius. There are at most as many shards as
    points. Memory: as for one shard of all points.
    """
    labels, squares = np.full(len(points), -1, np.int32), np.full(len(points), np.inf, np.float32)
    parts = zip(*(np.array_split(each, n_shards) for each in (points, labels, squares)), strict=True)
    with ExitStack() as threads:
        shards = [_Shard(own, names, apart, threshold, threads) for own, names, apart in parts]
        return _merge(shards, online), labels


def _merge(shards: list["_Shard"], online: bool) -> Int32s:
    """Scan one shard after the other, each after it has taken in what it was told by those before."""
    rows: list[Int32s] = []
    told: list[Future[None]] = []
    first_row = n_vertices = 0
    for number, shard in enumerate(shards):
        others = shards[number + 1 :] if online else shards[:number] + shards[number + 1 :]
        for first in range(0, len(shard.points), AT_ONCE):
            found = shard.scan(first, online, n_vertices)
            told += [other.cover(shard.points[found], n_vertices) for other in others if len(found)]
            rows.append(found + np.int32(first_row))
            n_vertices += len(found)
        first_row += len(shard.points)
    for each in told:
        each.result()
    return np.concatenate(rows)


class _Shard:
    """Points with their search tree. One thread does all that is asked, in order."""

    def __init__(
        self, points: Float32s, labels: Int32s, squares: Float32s, threshold: np.float32, threads: ExitStack
    ) -> None:
        self.points, self._labels, self._squares, self._threshold = points, labels, squares, threshold
        self._thread = ThreadPoolExecutor(1)
        threads.callback(self._thread.shutdown, cancel_futures=True)
        self._tree = self._thread.submit(kernels.merging.build_tree, points)

    def scan(self, first: int, online: bool, n_before: int) -> Int32s:
        """Return which of some points, from `first` on, become vertices."""
        return self._thread.submit(self._scan, first, online, n_before).result()

    def cover(self, centres: Float32s, n_before: int) -> Future[None]:
        """Hold vertices of another shard against its points, when those told earlier have been."""
        return self._thread.submit(self._cover, centres, n_before)

    def _scan(self, first: int, online: bool, n_before: int) -> Int32s:
        end = min(first + AT_ONCE, len(self.points))
        rows: Int32s = kernels.merging.scan(
            self.points, first, end, self._tree.result(), self._threshold, online, self._labels, self._squares, n_before
        )
        return rows

    def _cover(self, centres: Float32s, n_before: int) -> None:
        kernels.merging.cover(centres, self._tree.result(), self._threshold, self._labels, self._squares, n_before)
