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
from vmg.base.arguments import checked
from vmg.base.errors import VMGError
from vmg.base.types import Float32s
from vmg.data.episodes import Episodes
from vmg.envs.task import TaskGoal
from vmg.goals.objectives import Objective
from vmg.learn.config import LearnConfig, Training
from vmg.networks.angles import turned
from vmg.networks.cloning import clone as cloned_actions
from vmg.networks.cloning import turned_goals
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
        goals = None if self.goal is None else turned_goals(self.weights, self.goal[None], state.shape[-1])
        given = cloned_actions(self.weights, turned(self.weights, state[None]), goals)[0]
        action: Float32s = np.clip(given, self.low, self.high)
        return action


@checked
def clone(
    episodes: Episodes,
    config: LearnConfig | None = None,
    seeds: Sequence[int] = (0,),
    *,
    goal_columns: Sequence[int] = (),
    folder: Path | str | None = None,
    show_progress: bool | None = None,
) -> list[CloningActor]:
    """Learn behaviour cloning, one actor per seed, to be evaluated beside an agent in any task.

    `goal_columns` makes it goal-conditioned: it heads for the goal that an episode names in these columns of the state
    or, where none is named, for where the recorded episode with the highest return ended. With a `folder`, a killed
    training goes on where it was.
    """
    columns = tuple(goal_columns)
    if not all(0 <= column < episodes.observation_size for column in columns):
        raise VMGError(
            f"{episodes.source}: an observation has the columns 0 to {episodes.observation_size - 1}, but goals are "
            f"named in {list(columns)}."
        )
    training = Training(episodes, seeds, folder=folder)
    (models,) = learn.fit_cloning(
        [training], config or LearnConfig(), goal_columns=columns, show_progress=show_progress
    )
    return [_actor(episodes, columns, weights) for weights in models]


def cloning_actors(
    trainings: Sequence[Training], config: LearnConfig, goal: TaskGoal | None, *, show_progress: bool | None = None
) -> list[dict[str, list[CloningActor]]]:
    """Train both baselines for each data set, one model per seed, side by side, in folders within the trainings'."""
    both = cloning_trainings(trainings, goal)
    plain, aimed = (
        learn.fit_cloning(each, config, goal_columns=goal_columns, show_progress=show_progress)
        for goal_columns, each in both
    )
    columns = both[1][0]
    return [
        {
            "BC": [_actor(training.episodes, (), weights) for weights in models],
            "GCBC": [_actor(training.episodes, columns, weights) for weights in goal_models],
        }
        for training, models, goal_models in zip(trainings, plain, aimed, strict=True)
    ]


def cloning_trainings(
    trainings: Sequence[Training], goal: TaskGoal | None
) -> list[tuple[tuple[int, ...], list[Training]]]:
    """Return what is learned for the plain and for the goal-conditioned baseline: goal columns, and their trainings."""
    columns = goal.columns if goal else tuple(range(trainings[0].episodes.observation_size))
    return [
        (goal_columns, [replace(each, folder=each.folder and Path(each.folder) / name) for each in trainings])
        for name, goal_columns in (("BC", ()), ("GCBC", columns))
    ]


def _actor(episodes: Episodes, goal_columns: tuple[int, ...], weights: Weights) -> CloningActor:
    best = episodes[int(np.argmax(episodes.returns))].observations[-1]
    goal = best[list(goal_columns)] if goal_columns else None
    return CloningActor(weights, episodes.actions.min(0), episodes.actions.max(0), goal)
