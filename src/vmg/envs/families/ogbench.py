"""OGBench's mazes: five tasks each, whose goal is named in `info`, brought to the form of other goal environments."""

import warnings
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from vmg.base.errors import require
from vmg.base.types import Bools, Float32s
from vmg.envs.disturbances import Disturbance, MovedStart, Pushed
from vmg.envs.families import mazes
from vmg.envs.families.common import add_tasks
from vmg.envs.task import Task, TaskGoal
from vmg.envs.wrappers import Wrapped

TASKS_PER_MAZE = 5
HEAD, STANDING = 23, 1.4
"""The column of a humanoid's state that has the height of its head, and that height when it stands, in metres."""


def make_ogbench_maze(name: str, **options: Any) -> "OgbenchMaze":
    """Make one of OGBench's mazes, "antmaze-large-v0", by its gymnasium id."""
    gymnasium = require("gymnasium", "envs")
    require("ogbench", "envs")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*precision lowered by casting")  # of the action space's bounds
        return OgbenchMaze(gymnasium.make(name, disable_env_checker=True, **options))


def five_tasks(seed: int) -> dict[str, Any]:
    """Reset options: OGBench's tasks 1 to 5 in turn."""
    return {"task_id": 1 + seed % TASKS_PER_MAZE}


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

    def observed(self) -> dict[str, Any]:
        """Return what the maze shows now."""
        return self._named(self.env.unwrapped.get_ob())

    def _named(self, observation: Any) -> dict[str, Any]:
        return {"observation": observation, "desired_goal": self._goal}


def lies(states: Float32s) -> Bools:
    """Say whether a humanoid's head is lower than half of where it is when it stands."""
    lying: Bools = states[:, HEAD] < STANDING / 2
    return lying


FALLS = {"point": None, "ant": mazes.upside_down, "humanoid": lies}


def observed(env: Any) -> dict[str, Any]:
    """Return what a maze of OGBench's shows now."""
    shown: dict[str, Any] = env.observed()
    return shown


# A point is set to its place in each step, so that it has no velocity to change.
POINT_DISTURBANCES = {
    "start": Disturbance("m, normal, in x and in y", partial(MovedStart, positions=(0, 1), look=observed), (0.1, 0.3)),
    "push": Disturbance("m, normal, in x and in y, once", partial(Pushed, positions=(0, 1), look=observed), (0.5, 1)),
}
BODY_DISTURBANCES = {
    name: replace(mazes.ANT_DISTURBANCES[name], wrap=partial(wrap, look=observed))
    for name, wrap in (("start", MovedStart), ("push", partial(Pushed, velocities=(0, 1))))
}


def _maze(body: str, maze: str, horizon: int = 1000) -> Task:
    """A maze of OGBench's. Its settings are those of the other mazes: nothing was looked at here."""
    name, near_enough = f"{body}maze-{maze}", 1.0 if body == "point" else 0.5
    kinds = ("navigate", "stitch", "explore")
    return Task(
        name=f"ogbench-{name}",
        environment=f"{name}-v0",
        make_with=make_ogbench_maze,
        endless={"terminate_at_goal": False},
        data=f"ogbench:{name}-navigate-v0.npz",
        also=tuple(f"ogbench:{folder}{name}-{kind}-v0.npz" for kind in kinds for folder in ("", "*/")),
        get=f"ogbench.download_datasets(['{name}-navigate-v0']) in Python, then pass ogbench:PATH",
        keys=("observation",),
        fields={"position": (0, 1)},
        disturbances=POINT_DISTURBANCES if body == "point" else BODY_DISTURBANCES,
        horizon=horizon,
        begin=five_tasks,
        fallen=FALLS[body],
        report=("task_id",),
        protocol=f"OGBench's five tasks in turn, episode by episode, each with its own start and goal; reached within "
        f"{near_enough:g} m in {horizon} steps counts.",
        goal=TaskGoal(columns=(0, 1), tolerance=near_enough),
        presets={"paper": mazes.PAPER, "program": mazes.PROGRAM, "ours": mazes.POINT if body == "point" else mazes.ANT},
    )


add_tasks(
    *(_maze(body, maze) for body in ("point", "ant") for maze in ("medium", "large", "giant", "teleport")),
    *(_maze("humanoid", maze, steps) for maze, steps in (("medium", 2000), ("large", 2000), ("giant", 4000))),
)
