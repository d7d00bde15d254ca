"""PointMaze and AntMaze: goals named by x and y, the first two columns of the state."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from vmg.base.types import Bools, Float32s
from vmg.data.mazes import ENVIRONMENTS, corridor_distances, free_cells, maze_map
from vmg.envs.arranging import set_joints
from vmg.envs.disturbances import Disturbance, MovedStart, Pushed
from vmg.envs.families.common import add_tasks, paper_settings, program_settings
from vmg.envs.task import Task, TaskGoal

GOAL = TaskGoal(columns=(0, 1), tolerance=0.45)

PAPER = paper_settings(0.8, 0.8, 1, None)
PROGRAM = program_settings(PAPER)


POINT_DISTURBANCES = {
    "start": Disturbance("m, normal, in x and in y", partial(MovedStart, positions=(0, 1)), (0.1, 0.3)),
    "push": Disturbance("m/s, normal, in x and in y, once", partial(Pushed, velocities=(0, 1)), (1, 2, 4)),
}
ANT_DISTURBANCES = {
    "start": Disturbance("rad, normal, on each joint of the legs", MovedStart, (0.1, 0.2, 0.4)),
    "push": POINT_DISTURBANCES["push"],
}


def far_goals(maze: str, least: int, seed: int) -> dict[str, Any]:
    """Start in the first corner; the goal is any cell at least `least` corridor cells away."""
    cells = maze_map(maze)
    free, distances = free_cells(cells), corridor_distances(cells)[0]
    far = np.flatnonzero(distances >= least)
    return {"reset_cell": free[0], "goal_cell": free[np.random.default_rng(seed).choice(far)]}


def upside_down(states: Float32s) -> Bools:
    """Say whether an ant lies on its back; its state begins with x, y, z and a quaternion, the real part first."""
    lying: Bools = states[:, 4] ** 2 + states[:, 5] ** 2 > 0.5
    return lying


@dataclass(frozen=True)
class _FarGoals:
    maze: str
    least: int

    def __call__(self, seed: int) -> dict[str, Any]:
        return far_goals(self.maze, self.least, seed)


def _point_maze(maze: str, horizon: int, least: int) -> Task:
    return Task(
        name=f"pointmaze-{maze}",
        environment=ENVIRONMENTS[maze],
        options={"continuing_task": False},
        endless={"continuing_task": True},
        data=f"pointmaze:{maze}",
        get=f"nothing to download: pass pointmaze:{maze}, and it is made on the spot",
        horizon=horizon,
        keys=("observation",),
        begin=_FarGoals(maze, least),
        fields={"position": (0, 1), "velocity": (2, 3)},
        arrange=set_joints,
        disturbances=POINT_DISTURBANCES,
        protocol=f"From one corner to goals at least {least} corridor cells away, named by the environment in each "
        f"episode; reached within 0.45 m in {horizon} steps counts.",
        goal=GOAL,
        presets={"paper": PAPER, "program": PROGRAM},
    )


def _ant_maze(kind: str) -> Task:
    maze = kind.partition("-")[0]
    name = {"umaze": "UMaze", "medium": "Medium", "large": "Large"}[maze]
    horizon = 700 if maze == "umaze" else 1000
    return Task(
        name=f"antmaze-{kind}",
        environment=f"AntMaze_{name}-v4",
        options={"continuing_task": False},
        endless={"continuing_task": True},
        data=f"minari:D4RL/antmaze/{kind}-v1",
        also=(f"minari:*antmaze/{kind}-v*",),
        get=f"minari download D4RL/antmaze/{kind}-v1",
        keys=("achieved_goal", "observation"),
        fields={"position": (0, 1), "body": tuple(range(2, 29))},
        arrange=set_joints,
        fallen=upside_down,
        disturbances=ANT_DISTURBANCES,
        horizon=horizon,
        protocol="The goal is drawn up to 1 m off its cell's centre and named by the environment in each episode "
        f"(D4RL keeps it fixed); reached within 0.45 m in {horizon} steps counts.",
        goal=GOAL,
        presets={"paper": PAPER, "program": PROGRAM},
    )


add_tasks(
    _point_maze("umaze", 300, 4),
    _point_maze("medium", 600, 8),
    _point_maze("large", 800, 8),
    *map(_ant_maze, ("umaze", "umaze-diverse", "medium-play", "medium-diverse", "large-play", "large-diverse")),
)
