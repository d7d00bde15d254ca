"""How fast the explorer's server answers, and how much memory plans take: `python -m benchmarks.explorer`.

Each size is a run with untrained networks, served by `vmg explore` in a process of its own. A stroke is a disc of
vertices near one another, painted as a goal and, in half of the strokes, beside a disc that is forbidden. What is
measured is what a page waits for: from sending it to having the values of all vertices.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.agents import synthetic_agent
from benchmarks.machine import describe_machine
from vmg.base.console import say
from vmg.base.files import write_json
from vmg.base.types import Int64s
from vmg.data import save
from vmg.runs import Run, save_run
from vmg.view.explorer.frames import unframed

SIZES = (2_000, 30_000, 100_000)
STEPS_PER_VERTEX = 3.65
STROKES, BRUSH = 40, 200
"""Strokes that are timed, and vertices under the brush."""
PLANS, MOST = 1_000, 30_000_000
"""Plans after which memory is looked at, and the vertices in all of them together, so that it takes minutes."""


def main() -> None:
    """Measure all sizes and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, default=Path("results/explorer-server.json"), help="file to write")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="vertices")
    parser.add_argument("--plans", type=int, default=PLANS, help="plans after which memory is looked at")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [measured(Path(folder), vertices, given.plans) for vertices in given.sizes]
    write_json(given.json, {"machine": describe_machine(), "rows": rows})


def measured(folder: Path, vertices: int, plans: int) -> dict[str, Any]:
    """Serve a run of this size and time what a page asks for."""
    run, places = make_run(folder / str(vertices), vertices)
    with served(run) as (ask, process, begun):
        facts = json.loads(ask("GET", "/api/graphs/0"))
        for path in ("layouts/pca", "edges"):
            ask("GET", f"/api/graphs/0/{path}")
        first, _ = painted(ask, places, 0)
        first_answer = time.perf_counter() - begun
        worked = worked_for(process)
        strokes = [painted(ask, places, number) for number in range(1, STROKES + 1)]
        worked = worked_for(process) - worked
        before, plans = resident(process), min(plans, MOST // vertices)
        for number in range(STROKES, plans):
            painted(ask, places, number)
        after = resident(process)
    free, beside = [t for t, avoids in strokes if not avoids], [t for t, avoids in strokes if avoids]
    row = {
        "command": "python -m benchmarks.explorer",
        "vertices": facts["vertices"],
        "edges": facts["edges"],
        "steps": facts["steps"],
        "first_answer_s": round(first_answer, 2),
        "first_plan_ms": round(first, 1),
        "stroke_ms": summary(free),
        "stroke_beside_forbidden_ms": summary(beside),
        "stroke_cpu_ms": round(1000 * worked / STROKES, 1),
        "plans": plans,
        "memory_mb": {"after_strokes": before, "after_plans": after},
    }
    say(json.dumps(row))
    return row


def make_run(folder: Path, vertices: int) -> tuple[Path, np.ndarray]:
    """Write a run with about this many vertices; return its folder and where its vertices lie."""
    agent, episodes = synthetic_agent(int(STEPS_PER_VERTEX * vertices), vertices)
    folder.mkdir(parents=True)
    save(episodes, folder / "data.npz")
    save_run(Run(data=f"npz:{folder / 'data.npz'}", config=agent.config, returns=(0.0, 1.0), folder=folder))
    agent.save(folder / "seed_0")
    return folder, agent.built.features


@contextmanager
def served(run: Path) -> Iterator[tuple[Any, int, float]]:
    """Serve a run; yields what asks, the process and when it was started."""
    begun = time.perf_counter()
    command = [sys.executable, "-m", "vmg", "explore", str(run), "--no-open"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            port = int(process.stderr.readline().partition("127.0.0.1:")[2].partition("/")[0])
            connection = HTTPConnection("127.0.0.1", port)

            def ask(method: str, path: str, body: bytes | None = None) -> bytes:
                connection.request(method, path, body, {"content-type": "application/json"})
                answer = connection.getresponse()
                content = answer.read()
                assert answer.status == 200, content[:300]
                return content

            yield ask, process.pid, begun
        finally:
            process.kill()


def painted(ask: Any, places: np.ndarray, number: int) -> tuple[float, bool]:
    """Paint a disc and return the milliseconds until its values are there, and whether it had something forbidden."""
    rng = np.random.default_rng(number)
    goal, forbidden = (disc(places, int(each)) for each in rng.choice(len(places), 2, replace=False))
    want: dict[str, Any] = {"goals": [{"vertices": goal.tolist()}]}
    if avoids := number % 2 == 1:
        want["avoid"] = [{"vertices": np.setdiff1d(forbidden, goal).tolist()}]
    body = json.dumps({"want": want}).encode()
    begun = time.perf_counter()
    content = ask("POST", "/api/graphs/0/plans", body)
    milliseconds = 1000 * (time.perf_counter() - begun)
    assert len(unframed(content)[1]["values"]) == len(places)
    return milliseconds, avoids


def disc(places: np.ndarray, centre: int) -> Int64s:
    """The vertices nearest to one."""
    gaps = np.linalg.norm(places - places[centre], axis=1)
    found: Int64s = np.argpartition(gaps, BRUSH)[:BRUSH]
    return found


def resident(process: int) -> int:
    """Megabytes of a process in memory; nothing where the system does not say."""
    status = Path(f"/proc/{process}/status")
    lines = status.read_text(encoding="utf-8").splitlines() if status.exists() else []
    return next((int(line.split()[1]) // 1024 for line in lines if line.startswith("VmRSS")), 0)


def worked_for(process: int) -> float:
    """Seconds that a process has worked for, however busy the machine is besides."""
    status = Path(f"/proc/{process}/stat")
    if not status.exists():
        return 0.0
    user, system = status.read_text(encoding="utf-8").rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def summary(times: list[float]) -> dict[str, float]:
    """The median and what nine in ten stay below."""
    return {"median": round(statistics.median(times), 1), "p90": round(float(np.percentile(times, 90)), 1)}


if __name__ == "__main__":
    main()
