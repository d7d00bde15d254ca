"""The tables of docs/cluster.md, made from what `python -m benchmarks.workers` wrote under results/cluster."""

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[2] / "results"
NOT_YET = "Not measured yet: `python -m benchmarks.workers --json results/cluster/two-cores.json` measures it."
RUNS, EPISODES, UPDATES, STEPS = 500, 100, 800_000, 1_000_000_000
"""A large study: runs, episodes and updates of each; and a billion steps in the environment."""
MACHINES = 10


def measured() -> list[Any]:
    return [json.loads(file.read_text(encoding="utf-8")) for file in sorted((RESULTS / "cluster").glob("*.json"))]


def workers() -> str:
    """Every row, with the machine it was measured on."""
    if not measured():
        return NOT_YET
    lines = [
        "| machine | work | on | workers | seconds | until the first episode | times as fast |",
        "|---|---|---|---|---|---|---|",
    ]
    for found in measured():
        machine = f"{found['machine']['cores']} cores, load {found['machine']['load']:.0f}"
        for row in found["rows"]:
            first = f"{row['first']:.1f}" if "first" in row else ""
            cells = (machine, row["what"], row["on"], row["workers"], f"{row['seconds']:.1f}", first)
            lines.append(f"| {' | '.join(map(str, cells))} | {row['faster']:.2f} |")
    return "\n".join([*lines, "", *(f"`{found['command']}`  " for found in measured())])


def arithmetic() -> str:
    """How long a large study takes, from the rates above and that of training on a GPU."""
    if not measured():
        return NOT_YET
    gpu = json.loads((RESULTS / "benchmarks-gpu.json").read_text(encoding="utf-8"))
    trained = max(row["ours"] for row in gpu["rows"] if row["name"] == "training, models side by side")
    rows = [row for found in measured() for row in found["rows"] if row["what"].startswith("evaluation")]
    best = max(rows, key=rate)
    episode = best["steps"] / episodes_of(best)
    acted = RUNS * EPISODES * episode
    lines = [
        f"| work | rate | with what was measured | with {MACHINES} times as much |",
        "|---|---|---|---|",
        line(
            f"{RUNS} runs of {UPDATES:,} updates, trained",
            RUNS * UPDATES / trained,
            f"{trained:,.0f} updates/s, one GPU",
        ),
        line(f"{RUNS} runs of {EPISODES} episodes of {episode:,.0f} steps, scored", acted / rate(best), spoken(best)),
        line(f"{STEPS:,} steps in the environment", STEPS / rate(best), spoken(best)),
    ]
    return "\n".join(lines)


def rate(row: Any) -> float:
    """Steps per second once all workers have begun: what is left after the first episode, without its steps."""
    episodes = episodes_of(row)
    return row["steps"] * (episodes - 1) / episodes / max(row["seconds"] - row["first"], 1e-9)


def episodes_of(row: Any) -> int:
    return int(row["what"].split(",")[-1].split()[0])


def spoken(row: Any) -> str:
    return f"{rate(row):,.0f} steps/s, {row['workers']} workers ({row['on']})"


def line(work: str, seconds: float, how: str) -> str:
    return f"| {work} | {how} | {in_words(seconds)} | {in_words(seconds / MACHINES)} |"


def in_words(seconds: float) -> str:
    return f"{seconds / 3600:,.1f} h" if seconds < 48 * 3600 else f"{seconds / 86400:,.1f} days"


CLUSTER = {"cluster_workers": workers, "cluster_arithmetic": arithmetic}
