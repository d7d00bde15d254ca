"""Measurements beside the scores: environment steps per graph step (App. G) and training curves (App. F)."""

from dataclasses import replace
from typing import Any

import numpy as np

from vmg.errors import VMGError
from vmg.studies.ablations import BASELINE, Bench
from vmg.studies.study import described
from vmg.view.charts import SHOWN, read_losses

RATIOS = {
    "antmaze-umaze": 4.4,
    "antmaze-umaze-diverse": 3.3,
    "antmaze-medium-play": 14.4,
    "antmaze-medium-diverse": 15.1,
    "antmaze-large-play": 10.3,
    "antmaze-large-diverse": 9.7,
    "kitchen-complete": 1.1,
    "kitchen-partial": 2.0,
    "kitchen-mixed": 2.0,
    "pen-human": 1.8,
    "pen-cloned": 4.9,
    "hammer-human": 3.1,
    "hammer-cloned": 9.9,
    "door-human": 1.0,
    "door-cloned": 1.5,
}
"""The paper's environment steps per graph step."""
POINTS = 150  # of a curve, evenly over its updates: enough to draw it


def ratio(bench: Bench) -> dict[str, Any]:
    """Count environment steps per graph step; no simulator is needed."""
    if missing := bench.untrained(bench.config):
        return {"task": bench.task.name, "missing": missing}
    graphs = bench.graphs(bench.config)
    return _described(bench) | {
        "paper": RATIOS.get(bench.task.name),
        "ratio": float(np.mean([graph["steps_per_edge"] for graph in graphs])),
        "models": [graph["steps_per_edge"] for graph in graphs],
        "graphs": graphs,
    }


def curves(bench: Bench) -> dict[str, Any]:
    """Gather the losses of the runs while they learned."""
    if missing := bench.untrained(bench.config):
        return {"task": bench.task.name, "missing": missing}
    logged = read_losses(bench.run.folder / "training" / "metrics.csv")
    models = [{name: losses[logged["seed"] == seed] for name, losses in logged.items()} for seed in bench.seeds]
    steps = models[0]["step"]
    rows = np.flatnonzero(steps <= bench.steps)
    if not len(rows):
        raise VMGError(f"{bench.run.folder} logged no losses up to step {bench.steps}: choose more --steps.")
    rows = np.unique(rows[np.linspace(0, len(rows) - 1, POINTS).astype(int)])
    return _described(bench) | {
        "steps": steps[rows].astype(int).tolist(),
        "losses": {
            name: [[float(f"{loss:.4g}") for loss in columns[name][rows]] for columns in models] for name in SHOWN
        },
    }


def _described(bench: Bench) -> dict[str, Any]:
    row = described(replace(bench.run, seeds=bench.seeds), bench.episodes, bench.run.find_task())
    return row | {
        "task": bench.task.name,
        "preset": BASELINE,
        "checkpoint": f"step {bench.steps}",
        "settings": bench.config.to_dict(),
    }
