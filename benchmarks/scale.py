"""Features on disk to a graph and a plan: time and peak memory of each stage, as the number of states grows.

Each size runs in a process of its own, whose peak counts everything that it holds, the pages of the mapped file too.
`python -m benchmarks.scale 500000` measures another size than the suite's: half a million walks, 100 million states.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from benchmarks.clusterings import TUNED, merge
from benchmarks.generators import EPISODE, RADIUS, sparse_rewards, write_walks
from benchmarks.growth import dict_edges, dict_rewards
from benchmarks.memory import RESET, peak
from benchmarks.rows import Bar, Level, Row, check
from benchmarks.tables import markdown
from vmg.base.console import show
from vmg.data.episodes import Episodes
from vmg.graph import MemoryGraph, connect, reward, solve
from vmg.graph.needs import memory_to_build

ROOT = Path(__file__).parents[1]
DIMENSIONS, DISCOUNT = 10, 0.95
MIB, PROGRAM = 2.0**20, 400
"""Bytes, and MiB that the program itself takes with what it imports and compiles."""
T = TypeVar("T")


@dataclass(frozen=True)
class Size:
    """Walks of 201 states each, and up to how many the naive twins are asked, too."""

    walks: tuple[int, ...]
    naive: int


SIZES: dict[Level, Size] = {
    "full": Size((500, 5_000, 15_000, 50_000), 500),
    "quick": Size((500, 1_500), 500),
    "tiny": Size((5,), 5),
}
STAGES = ("merge", "edges", "rewards", "plan")


def measure(level: Level) -> Iterator[Row]:
    """Rows of seconds and of memory for each stage."""
    size = SIZES[level]
    for n_walks in size.walks:
        yield from rows(n_walks, naive=n_walks <= size.naive, barred=level == "full" and n_walks == max(size.walks))


def rows(n_walks: int, *, naive: bool = False, barred: bool = False) -> Iterator[Row]:
    """Measure one size; at most as much memory as was said beforehand."""
    n = n_walks * EPISODE
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "features.npy"
        write_walks(path, n_walks, DIMENSIONS, seed=0)
        command = [sys.executable, "-m", "benchmarks.scale", str(path), str(int(naive))]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    size = f"{n:,} × {DIMENSIONS}-d → {found['vertices']:,}"
    note = f"{found['vertices'] / n:.3f} vertices per state; features in a memory map; processor seconds"
    row = Row(family="scale", name="", size=size, amount=n, note=note, checked=found["checked"])
    for stage in STAGES:
        yield replace(row, name=f"{stage}, from disk", ours=found["seconds"][stage])
    said = memory_to_build(n, DIMENSIONS).largest / MIB + PROGRAM
    for stage in STAGES if RESET.exists() else ():
        bar = Bar("at most", said) if barred else None
        more = f"peak of the whole process; {said:,.0f} MiB were said beforehand"
        yield replace(
            row, name=f"{stage}, memory of the stage", unit="MiB", ours=found["peaks"][stage] / MIB, bar=bar, note=more
        )


def report(n_walks: int) -> None:
    """Measure one size and print its table."""
    show(markdown(list(rows(n_walks))))


def run(path: str, naive: bool) -> None:
    """Run every stage on the features of a file, after a run on a few of them that compiles everything."""
    features = np.load(path, mmap_mode="r")
    _stages(features[: 3 * EPISODE], {}, {})
    seconds: dict[str, float] = {}
    peaks: dict[str, int] = {}
    graph, episodes = _stages(features, seconds, peaks)
    found = {"vertices": graph.n_vertices, "seconds": seconds, "peaks": peaks}
    sys.stdout.write(json.dumps({**found, "checked": _checked(graph, episodes) if naive else _cover(graph, features)}))


def _stages(features: Any, seconds: dict[str, float], peaks: dict[str, int]) -> tuple[MemoryGraph, Episodes]:
    def measured(stage: str, work: Callable[[], T]) -> T:
        if RESET.exists():
            RESET.write_text("5", encoding="utf-8")  # the peak so far is forgotten
        began = time.process_time()  # the cores may be shared with others, and each stage runs on one
        result = work()
        seconds[stage], peaks[stage] = time.process_time() - began, peak() if RESET.exists() else 0
        return result

    merging = measured("merge", lambda: merge(features, RADIUS))
    episodes = _episodes(features)
    graph = measured("edges", lambda: connect(merging, episodes))
    paid = measured("rewards", lambda: reward(graph, episodes))
    measured("plan", lambda: solve(graph, paid, DISCOUNT))
    return graph, episodes


def _episodes(features: Any) -> Episodes:
    n_walks = len(features) // EPISODE
    n_steps = n_walks * (EPISODE - 1)
    return Episodes(
        observations=features,
        actions=np.zeros((n_steps, 1), np.float32),
        rewards=sparse_rewards(n_steps, seed=0),
        lengths=np.full(n_walks, EPISODE - 1),
        terminated=np.zeros(n_walks, bool),
        truncated=np.ones(n_walks, bool),
        source="walks on disk",
    )


def _checked(graph: MemoryGraph, episodes: Episodes) -> str:
    """Hold every stage against its naive twin."""
    rows = TUNED.run(np.asarray(episodes.observations), RADIUS, 0)
    counts = dict_edges(graph.labels)
    edges = list(zip(graph.tails.tolist(), graph.heads.tolist(), strict=True))
    same = np.array_equal(graph.rows, rows) and set(edges) == {pair for pair in counts if pair[0] != pair[1]}
    paid = dict_rewards(graph.labels, episodes.rewards, counts)
    same = same and np.allclose(reward(graph, episodes).edges, [paid[edge] for edge in edges])
    return check(bool(same), "the vertices, edges and rewards of the naive twins")


def _cover(graph: MemoryGraph, features: Any) -> str:
    """What Alg. 1 promises, for one state in a thousand."""
    some = slice(None, None, 1000)
    gaps = np.linalg.norm(features[some] - graph.features[graph.labels[some]], axis=1)
    return check(bool(gaps.max() <= graph.radius * (1 + 1e-5)), "states lie within the radius of their vertices")


if __name__ == "__main__":
    report(int(sys.argv[1])) if sys.argv[1].isdigit() else run(sys.argv[1], sys.argv[2] == "1")
