"""Merging: Alg. 1 as it is written, one row of distances a state, and two clusterings that solve a like problem."""

import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.generators import RADIUS, revisiting_walks, scattered
from benchmarks.rows import Bar, Level, Row, check
from benchmarks.timing import compare, median_seconds
from vmg.errors import VMGError, require
from vmg.graph import Merging, merge_greedily
from vmg.types import Float32s, Int32s


@dataclass(frozen=True)
class Size:
    """States in 10 dimensions beside all peers, alone, in 20 and 50 dimensions, and scattered (the worst case)."""

    states: tuple[int, ...]
    alone: int
    wide: int
    worst: int
    rounds: int


SIZES: dict[Level, Size] = {
    "full": Size((10_000, 100_000), 1_000_000, 100_000, 10_000, 5),
    "quick": Size((10_000,), 100_000, 5_000, 2_000, 3),
    "tiny": Size((500,), 1_000, 300, 200, 1),
}
BIRCH_THRESHOLD = 0.5 * RADIUS  # leaves about as many clusters as our radius
KMEANS_ITERATIONS = 20

_MEMORY = """
import sys
import numpy as np
from vmg.graph import merge_greedily
merge_greedily(np.random.default_rng(0).normal(size=(1000, 10)).astype(np.float32), 0.5)
features = np.load(sys.argv[1])
def peak():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # the peak so far is forgotten
before = peak()
merge_greedily(features, float(sys.argv[2]))
print(peak() - before)
"""


def measure(level: Level) -> Iterator[Row]:
    """Yield the rows, from the usual sizes to the worst case."""
    size = SIZES[level]
    for n in size.states:
        bar = Bar("times the peer", 50.0) if n == 100_000 else None
        features = revisiting_walks(n, 10, seed=0)
        yield _beside_naive("merge", features, RADIUS, size.rounds, bar, peer=naive_merge)
        yield _beside_naive("merge", features, RADIUS, size.rounds, bar)
        yield from _beside_clusterings(features, size.rounds)
    alone = revisiting_walks(size.alone, 10, seed=0)
    yield _alone(alone, size.rounds, Bar("at most", 15.0) if level == "full" else None)
    yield _memory(alone, Bar("at most", 2.0) if level == "full" else None)
    for dimensions in (20, 50):
        yield _beside_naive("merge", revisiting_walks(size.wide, dimensions, seed=0), RADIUS, size.rounds)
    for dimensions in (10, 50):
        features = scattered(size.worst, dimensions, seed=0)
        yield _beside_naive("merge, every state a vertex", features, _smallest_gap(features), size.rounds)


def naive_merge(features: Float32s, radius: float) -> Int32s:
    """Alg. 1 as it is written, one vectorised row of distances a state; return the rows that become vertices."""
    vertices = np.empty_like(features)
    rows: list[int] = []
    for row, x in enumerate(features):
        known = len(rows)
        if known == 0 or np.linalg.norm(vertices[:known] - x, axis=1).min() > radius:
            vertices[known] = x
            rows.append(row)
    return np.array(rows, np.int32)


def tuned_merge(features: Float32s, radius: float) -> Int32s:
    """The same as fast as numpy can: vertices in columns, nothing allocated twice, one root.

    The sum over dimensions then adds them one by one in float32, exactly as ours does.
    """
    n, dimensions = features.shape
    vertices, gaps = np.empty((dimensions, n), np.float32), np.empty((dimensions, n), np.float32)
    rows: list[int] = []
    for row, x in enumerate(features):
        known = len(rows)
        gap = np.subtract(vertices[:, :known], x[:, None], out=gaps[:, :known])
        squares = np.multiply(gap, gap, out=gap).sum(0)
        if known == 0 or np.sqrt(squares.min()) > np.float32(radius):
            vertices[:, known] = x
            rows.append(row)
    return np.array(rows, np.int32)


def _beside_naive(
    name: str,
    features: Float32s,
    radius: float,
    rounds: int,
    bar: Bar | None = None,
    *,
    peer: Callable[[Float32s, float], Int32s] = tuned_merge,
) -> Row:
    found = compare(
        lambda: _merge(features, radius), lambda: peer(features, radius), rounds, peer_rounds=_few(features)
    )
    checked = check(np.array_equal(found.our_result.rows, found.peer_result), "the vertices are identical")
    return Row(
        family="merge",
        name=name,
        size=_size(features, len(found.peer_result)),
        ours=found.ours,
        peer_name="naive Alg. 1" if peer is naive_merge else "naive, tuned",
        peer=found.peer,
        bar=bar,
        checked=checked,
        note=f"{_reached(features, found.our_result)}; ours labels every state with its nearest vertex too",
    )


def _beside_clusterings(features: Float32s, rounds: int) -> Iterator[Row]:
    ours = _merge(features, RADIUS)
    for cluster in (_birch, _kmeans):
        try:
            name, run = cluster(features, len(ours.rows))
        except VMGError as error:
            yield Row(family="merge", name=f"merge beside {cluster.__name__[1:]}: skipped", note=str(error))
            continue
        found = compare(lambda: _merge(features, RADIUS), run, rounds, peer_rounds=_few(features))
        yield Row(
            family="merge",
            name="merge",
            size=_size(features, len(ours.rows)),
            ours=found.ours,
            peer_name=name,
            peer=found.peer,
            note=f"another clustering, not the same result: it makes {found.peer_result:,} clusters",
        )


def _birch(features: Float32s, n_clusters: int) -> tuple[str, Callable[[], int]]:
    """scikit-learn's Birch without its last, global clustering; its threshold, not a number, decides how many."""
    cluster = require("sklearn.cluster", "bench")

    def run() -> int:
        fitted = cluster.Birch(threshold=BIRCH_THRESHOLD, n_clusters=None).fit(features)
        return len(fitted.subcluster_centers_)

    return "Birch", run


def _kmeans(features: Float32s, n_clusters: int) -> tuple[str, Callable[[], int]]:
    """faiss k-means with as many clusters as we have vertices."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its bindings are older than this Python
        faiss: Any = require("faiss", "bench")

    def run() -> int:
        kmeans = faiss.Kmeans(
            features.shape[1], n_clusters, niter=KMEANS_ITERATIONS, seed=0, min_points_per_centroid=1
        )  # fmt: skip
        kmeans.train(features)
        kmeans.index.search(features, 1)
        return len(kmeans.centroids)

    return "faiss k-means", run


def _alone(features: Float32s, rounds: int, bar: Bar | None) -> Row:
    merging = _merge(features, RADIUS)
    return Row(
        family="merge",
        name="merge",
        size=_size(features, len(merging.rows)),
        ours=median_seconds(lambda: _merge(features, RADIUS), rounds),
        bar=bar,
        checked=_check_cover(features, merging),
        note=_reached(features, merging),
    )


def _memory(features: Float32s, bar: Bar | None) -> Row:
    """Peak memory of the merge in a process of its own, beyond what the input takes."""
    if not Path("/proc/self/clear_refs").exists():
        return Row(family="merge", name="merge, memory: skipped", note="only Linux tells the peak of a stretch of work")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "features.npy"
        np.save(path, features)
        command = [sys.executable, "-c", _MEMORY, str(path), str(RADIUS)]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return Row(
        family="merge",
        name="merge, memory",
        size=f"{len(features):,} states, 10-d",
        unit="× input",
        ours=1024 * float(said) / features.nbytes,
        bar=bar,
        note="peak beyond the input, in a fresh process, compiled before",
    )


def _check_cover(features: Float32s, merging: Merging) -> str:
    """What Alg. 1 promises and can be checked at any size."""
    gaps = np.linalg.norm(features - merging.features[merging.labels], axis=1)
    tree = require("scipy.spatial", "bench").cKDTree(merging.features)
    apart = tree.query(merging.features, k=[2], workers=-1)[0].min()
    within = gaps.max() <= RADIUS * (1 + 1e-5) and apart > RADIUS * (1 - 1e-5)
    return check(bool(within), "every state lies within the radius of its vertex, no two vertices do")


def _merge(features: Float32s, radius: float) -> Merging:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that every state becomes a vertex is what the worst case is for
        return merge_greedily(features, radius)


def _smallest_gap(features: Float32s) -> float:
    tree = require("scipy.spatial", "bench").cKDTree(features)
    return 0.999 * float(tree.query(features, k=[2], workers=-1)[0].min())


def _few(features: Float32s) -> int:
    return 1 if features.size > 500_000 else 3


def _size(features: Float32s, n_vertices: int) -> str:
    return f"{len(features):,} × {features.shape[1]}-d → {n_vertices:,}"


def _reached(features: Float32s, merging: Merging) -> str:
    return f"{len(merging.rows) / len(features):.3f} vertices a state"
