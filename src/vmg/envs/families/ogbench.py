"""OGBench's mazes: five tasks each, whose goal is named in `info`, brought to the form of other goal environments."""

import warnings
from dataclasses import dataclass, replace
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

TASKS_EACH = 5
POSITION = (0, 1)
HEAD, STANDING = 23, 1.4
"""The column of a humanoid's state that has the height of its head, and that height when it stands, in metres."""


@dataclass(frozen=True)
class MakeOgbench:
    """Makes one of OGBench's environments by its gymnasium id, "antmaze-large-v0"."""

    columns: tuple[int, ...]
    """Those in which its goals are named."""

    def __call__(self, name: str, **options: Any) -> "OgbenchEnvironment":
        gymnasium = require("gymnasium", "envs")
        require("ogbench", "envs")
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*precision lowered by casting")  # of the action space's bounds
            return OgbenchEnvironment(gymnasium.make(name, disable_env_checker=True, **options), self.columns)


def five_tasks(seed: int) -> dict[str, Any]:
    """Reset options: OGBench's tasks 1 to 5 in turn."""
    return {"task_id": 1 + seed % TASKS_EACH}


class OgbenchEnvironment(Wrapped):
    """An environment whose observation is a dict: the state, the observation that is wanted, and its goal columns.

    OGBench draws starts and goals from numpy's global generator, so a reset with a seed seeds that, too. `info` says
    which task it is.
    """

    def __init__(self, env: Any, columns: tuple[int, ...]) -> None:
        super().__init__(env)
        _keep_action_space(env.unwrapped)
        self._columns = list(columns)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        if seed is not None:
            np.random.seed(seed)  # noqa: NPY002
            self.env.action_space.seed(seed)
        observation, info = self.env.reset(seed=seed, options=options)
        self._wanted = np.asarray(info["goal"])
        return self._named(observation), info

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = self.env.step(action)
        info = {**info, "task_id": self.env.unwrapped.cur_task_id}
        return self._named(observation), reward, terminated, truncated, info

    def observed(self) -> dict[str, Any]:
        """Return what the environment shows now."""
        world = self.env.unwrapped
        return self._named(world.get_ob() if hasattr(world, "get_ob") else world.compute_observation())

    def _named(self, observation: Any) -> dict[str, Any]:
        goal = self._wanted[self._columns]
        return {"observation": observation, "wanted_observation": self._wanted, "desired_goal": goal}


def _keep_action_space(world: Any) -> None:
    """Give an environment that makes another action space whenever it is asked a single one, which can be seeded.

    A reset draws actions from it to settle the arm, so that without this no seed would decide an episode.
    """
    kind = type(world)
    if isinstance(getattr(kind, "action_space", None), property):
        world.__class__ = type(kind.__name__, (kind,), {"action_space": world.action_space})


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
    """A maze of OGBench's. Its settings are those of the other mazes."""
    name, near_enough = f"{body}maze-{maze}", 1.0 if body == "point" else 0.5
    kinds = ("navigate", "stitch", "explore")
    return Task(
        name=f"ogbench-{name}",
        environment=f"{name}-v0",
        make_with=MakeOgbench(POSITION),
        endless={"terminate_at_goal": False},
        data=f"ogbench:{name}-navigate-v0.npz",
        also=tuple(f"ogbench:{folder}{name}-{kind}-v0.npz" for kind in kinds for folder in ("", "*/")),
        get=f"ogbench.download_datasets(['{name}-navigate-v0']) in Python, then pass ogbench:PATH",
        keys=("observation",),
        fields={"position": POSITION},
        disturbances=POINT_DISTURBANCES if body == "point" else BODY_DISTURBANCES,
        horizon=horizon,
        begin=five_tasks,
        fallen=FALLS[body],
        report=("task_id",),
        protocol=f"OGBench's five tasks in turn, episode by episode, each with its own start and goal; reached within "
        f"{near_enough:g} m in {horizon} steps counts.",
        goal=TaskGoal(columns=POSITION, tolerance=near_enough),
        presets={"paper": mazes.PAPER, "program": mazes.PROGRAM},
    )


add_tasks(
    *(_maze(body, maze) for body in ("point", "ant") for maze in ("medium", "large", "giant", "teleport")),
    *(_maze("humanoid", maze, steps) for maze, steps in (("medium", 2000), ("large", 2000), ("giant", 4000))),
)
