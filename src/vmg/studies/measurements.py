"""Measurements beside the scores: environment steps per graph step (App. G) and training curves (App. F)."""

from dataclasses import replace
from typing import Any

import numpy as np

from vmg.base.errors import VMGError
from vmg.studies.ablations import PAPER, Bench
from vmg.studies.paper import RATIOS
from vmg.studies.study import described, row_command
from vmg.view.charts import SHOWN, read_losses

POINTS = 150  # of a curve, evenly over its updates: enough to draw it


def ratio(bench: Bench) -> dict[str, Any]:
    """Count environment steps per graph step; no simulator is needed."""
    if missing := bench.untrained(bench.config):
        return {"task": bench.task.name, "missing": missing}
    graphs = bench.graphs(bench.config)
    return _described("ratio", bench) | {
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
    return _described("curves", bench) | {
        "steps": steps[rows].astype(int).tolist(),
        "losses": {
            name: [[float(f"{loss:.4g}") for loss in columns[name][rows]] for columns in models] for name in SHOWN
        },
    }


def _described(name: str, bench: Bench) -> dict[str, Any]:
    made_by = row_command(name, bench.study, bench.task.name)
    row = described(replace(bench.run, seeds=bench.seeds), bench.episodes, bench.run.find_task(), made_by)
    return row | {
        "task": bench.task.name,
        "preset": PAPER,
        "checkpoint": f"step {bench.steps}",
        "settings": bench.config.to_dict(),
    }
