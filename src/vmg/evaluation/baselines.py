"""Baselines in the same harness: behaviour cloning (BC) and goal-conditioned behaviour cloning (GCBC).

Same data, same network shape, same batch and number of updates as the agent they stand beside. They see the whole
state, scaled as the low-level policy's inputs are. GCBC is trained with goals drawn uniformly from the rest of the
episode. It is asked for the goal that the task names or, where none is named, for the last observation of the recorded
episode with the highest return.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from vmg import learn
from vmg.base.types import Float32s
from vmg.data.episodes import Episodes
from vmg.envs.task import TaskGoal
from vmg.goals.objectives import Objective
from vmg.learn.config import LearnConfig, Training
from vmg.networks.cloning import clone
from vmg.networks.weights import Weights


@dataclass
class CloningActor:
    """Acts as a cloned network says."""

    weights: Weights
    low: Float32s
    high: Float32s
    goal: Float32s | None = None
    """What to head for; None: not conditioned on a goal."""

    def begin(self, observation: Any, objective: Objective | None) -> None:
        """Head for the goal of this episode, where it has one."""
        if self.goal is not None and objective is not None and objective.place:
            self.goal = objective.place.numbers.astype(np.float32)

    def act(self, state: Float32s) -> Float32s:
        """Return the cloned action."""
        goals = None if self.goal is None else self.goal[None]
        action: Float32s = np.clip(clone(self.weights, state[None], goals)[0], self.low, self.high)
        return action


def cloning_actors(
    trainings: Sequence[Training], config: LearnConfig, goal: TaskGoal | None, *, show_progress: bool | None = None
) -> list[dict[str, list[CloningActor]]]:
    """Train both baselines for each data set, one model per seed, side by side, in folders within the trainings'."""
    columns = goal.columns if goal else tuple(range(trainings[0].episodes.observation_size))
    plain, aimed = (
        learn.fit_cloning(
            [replace(each, folder=each.folder and Path(each.folder) / name) for each in trainings],
            config,
            goal_columns=goal_columns,
            show_progress=show_progress,
        )
        for name, goal_columns in (("BC", ()), ("GCBC", columns))
    )
    return [
        _actors(training.episodes, columns, *models) for training, *models in zip(trainings, plain, aimed, strict=True)
    ]


def _actors(
    episodes: Episodes, columns: tuple[int, ...], plain: list[Weights], aimed: list[Weights]
) -> dict[str, list[CloningActor]]:
    best = episodes[int(np.argmax(episodes.returns))].observations[-1]
    low, high = episodes.actions.min(0), episodes.actions.max(0)
    return {
        "BC": [CloningActor(weights, low, high) for weights in plain],
        "GCBC": [CloningActor(weights, low, high, best[list(columns)]) for weights in aimed],
    }
