"""The paper's own rule: the best of the checkpoints from 500,000 to 800,000 updates, chosen in the environment."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from vmg import learn
from vmg.act.policy import Policy
from vmg.agent.agent import Agent
from vmg.agent.settings import AgentConfig
from vmg.data.episodes import Episodes
from vmg.data.facts import DataFacts
from vmg.envs import Task
from vmg.evaluation import Scores, Summary
from vmg.runs import Run
from vmg.runs.notes import Measured, Trial, scores_together

CHOSEN = (500_000, 800_000)
CHOOSING = 20
FIRST_CHOOSING = 1000
"""Episodes that choose, and the seed of the first: they are others than those that are scored."""


def best_checkpoints(
    run: Run, config: AgentConfig, episodes: Episodes, task: Task, trial: Trial, method: str = "VMG"
) -> dict[str, Any] | None:
    """Choose each model's best checkpoint in the range with these settings, and score it; None: there are none."""
    folder, (first, last) = run.folder / "training" / "checkpoints", CHOSEN
    found = [int(path.stem.removeprefix("step_")) for path in sorted(folder.glob("step_*.safetensors"))]
    steps = [step for step in found if first <= step <= last]
    if not steps:
        return None

    def made(step: int, seed: int) -> Policy:
        models = learn.load_checkpoint(folder / f"step_{step:010d}.safetensors", config.learn.low_level)
        return Agent(config, DataFacts.of(episodes), seed, models[seed]).build(episodes).solve().policy()

    def scored(wanted: Sequence[tuple[int, int]], trial: Trial) -> list[Scores]:
        settings = config.to_dict()
        models = [
            (Measured(run, task, f"{method} at {step}", seed, settings), partial(made, step, seed))
            for step, seed in wanted
        ]
        return scores_together(models, trial)

    looked_at = [(step, seed) for seed in run.seeds for step in steps]
    looks = scored(looked_at, replace(trial, n_episodes=CHOOSING, first_seed=FIRST_CHOOSING))
    by_model = np.reshape([scores.score for scores in looks], (len(run.seeds), len(steps)))
    best = [steps[i] for i in by_model.argmax(1)]
    scores = scored(list(zip(best, run.seeds, strict=True)), trial)
    return Summary.of(scores).to_dict() | {"steps": best, "chosen_on": CHOOSING}
