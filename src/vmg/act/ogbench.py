"""OGBench's mazes: five tasks each, whose goal is named in `info`, brought to the form of other goal environments."""

import warnings
from typing import Any

import numpy as np

from vmg.act.wrapping import Wrapped
from vmg.errors import require

TASKS_A_MAZE = 5


def make_ogbench_maze(name: str, **options: Any) -> "OgbenchMaze":
    """Make one of OGBench's mazes, "antmaze-large-v0", by its gymnasium id."""
    gymnasium = require("gymnasium", "envs")
    require("ogbench", "envs")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*precision lowered by casting")  # of the action space's bounds
        return OgbenchMaze(gymnasium.make(name, disable_env_checker=True, **options))


def five_tasks(seed: int) -> dict[str, Any]:
    """Reset options: OGBench's tasks 1 to 5 in turn."""
    return {"task_id": 1 + seed % TASKS_A_MAZE}


class OgbenchMaze(Wrapped):
    """A maze whose observation is a dict with the state and x and y of the goal; `info` says which task it is.

    OGBench draws starts and goals from numpy's global generator, so a reset with a seed seeds that, too.
    """

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        if seed is not None:
            np.random.seed(seed)  # noqa: NPY002
            self.env.action_space.seed(seed)
        observation, info = self.env.reset(seed=seed, options=options)
        self._goal = np.asarray(info["goal"])[:2]
        return self._named(observation), info

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = self.env.step(action)
        info = {**info, "task_id": self.env.unwrapped.cur_task_id}
        return self._named(observation), reward, terminated, truncated, info

    def _named(self, observation: Any) -> dict[str, Any]:
        return {"observation": observation, "desired_goal": self._goal}
