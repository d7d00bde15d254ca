"""What a build needs is reckoned beforehand: enough, not far too much, and refused where it is not there."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from vmg.base import memory
from vmg.base.errors import VMGError
from vmg.graph import merge_greedily
from vmg.graph.needs import memory_to_build

MEASURE = """
import numpy as np
from pathlib import Path
from vmg.data import Episodes
from vmg.graph import build, reward, solve

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

def plan(n_episodes, recordings):
    n = 100 * n_episodes
    points = np.random.default_rng(0).normal(size=(n + n_episodes, 10)).cumsum(0).astype(np.float32) % 9
    lengths, ends = np.full(n_episodes, 100), np.ones(n_episodes, bool)
    episodes = Episodes(points, np.zeros((n, 1)), np.arange(n) % 7, lengths, ~ends, ends)
    Path("/proc/self/clear_refs").write_text("5")
    before = peak()
    graph = build(points, episodes, 9.0, recordings=recordings)
    solve(graph, reward(graph, episodes), 0.9, paths="recordings" if recordings else "edges")
    return peak() - before

for recordings in (False, True):
    plan(30, recordings)
    print(plan(5_000, recordings))
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux tells the peak of a stretch of work")
def test_as_much_is_said_as_is_taken():
    done = subprocess.run([sys.executable, "-c", MEASURE], capture_output=True, text=True, check=True)
    n_rows = 505_000
    for taken, recordings in zip(map(int, done.stdout.split()), (False, True), strict=True):
        said = memory_to_build(n_rows, 10, 10, recordings=recordings).largest - 40 * n_rows  # the features were there
        assert 0.3 * said < taken < said


def test_what_does_not_fit_is_refused_with_a_cure(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 10_000)
    with pytest.raises(VMGError, match=r"A graph of 200 observations needs .* are free\. Close other"):
        merge_greedily(np.zeros((200, 10), np.float32), 1.0)


def test_free_memory_is_less_than_there_is():
    assert 0 < memory.free_memory() < 2**50
