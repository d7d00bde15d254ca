"""Kitchen and AntMaze in D4RL's own form, beside today's: its states, its mazes and bodies, one goal for all episodes.

kitchen-partial-d4rl             positions (30), then the goal that never changes (30)
kitchen-partial-positions        positions alone
kitchen-partial-d4rl-noise       as the first, with D4RL's noise on the sensors
antmaze-medium-play-d4rl         its maze's cells and offsets, its 10 Hz ant, one goal (or goals `drawn` anew)

`benchmarks/d4rl_data.py` makes the data.
"""

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any
from xml.etree import ElementTree

import numpy as np

from vmg.base.errors import require
from vmg.base.types import Float32s, Float64s
from vmg.data.mazes import import_robotics
from vmg.envs.families.common import add_tasks
from vmg.envs.families.kitchen import (
    D4RL_KITCHEN_FIELDS,
    KINDS,
    KITCHEN_POSITIONS,
    kitchen_positions,
    kitchen_skill,
)
from vmg.envs.families.mazes import PAPER, PROGRAM, upside_down
from vmg.envs.floors import Floor
from vmg.envs.task import TASKS, Task, TaskGoal
from vmg.envs.wrappers import Wrapped

# --- kitchen ----------------------------------------------------------------------------------------------------------

SENSOR_NOISE = 0.1
"""D4RL's share of the noise that the robot's specification allows; FrankaKitchen-v1 has a tenth of it."""


@cache
def kitchen_goal(subtasks: tuple[str, ...]) -> Float32s:
    """The 30 numbers that D4RL puts behind the positions: where these objects belong, and 0 elsewhere."""
    import_robotics()
    goals: Mapping[str, Any] = require("gymnasium_robotics.envs.franka_kitchen.kitchen_env", "envs").OBS_ELEMENT_GOALS
    goal = np.zeros(len(KITCHEN_POSITIONS), np.float32)
    for name in subtasks:
        goal[list(D4RL_KITCHEN_FIELDS[name])] = goals[name]
    return goal


@dataclass(frozen=True)
class PositionsAndGoal:
    """D4RL's kitchen state."""

    subtasks: tuple[str, ...]

    def __call__(self, observation: Mapping[str, Any]) -> Float32s:
        return np.concatenate([kitchen_positions(observation), kitchen_goal(self.subtasks)])


def _kitchen(kind: str, form: str) -> Task:
    task = TASKS.find(f"kitchen-{kind}")
    whole = form != "positions"
    noise = {"robot_noise_ratio": SENSOR_NOISE, "object_noise_ratio": SENSOR_NOISE} if form == "d4rl-noise" else {}
    words = "positions, then a goal that never changes (60 numbers)" if whole else "positions alone (30 numbers)"
    return replace(
        task,
        name=f"kitchen-{kind}-{form}",
        options={**task.options, **noise},
        data=f"npz:kitchen-{kind}-{form}.npz",
        also=(f"npz:*/kitchen-{kind}-{form}.npz",),
        get=_made(f"kitchen-{kind}-{form}", "--from minari:D4RL/kitchen/" + f"{kind}-v2"),
        keys=None,
        state=PositionsAndGoal(tuple(task.options["tasks_to_complete"])) if whole else kitchen_positions,
        fields=D4RL_KITCHEN_FIELDS,
        skill=partial(kitchen_skill, fields=D4RL_KITCHEN_FIELDS),
        protocol="Four subtasks, each paid once, 280 steps; the score is the share of subtasks done. The state is "
        f"D4RL's: {words}. The environment is FrankaKitchen-v1{', with the noise of D4RL’s sensors' if noise else ''}.",
    )


def _made(name: str, options: str) -> str:
    return f"python -m benchmarks.d4rl_data {name} {options}"


# --- AntMaze ----------------------------------------------------------------------------------------------------------

MAZES = {
    "umaze": ("#####",
              "#r..#",
              "###.#",
              "#G..#",
              "#####"),
    "medium": ("########",
               "#r.##..#",
               "#..#..g#",
               "##...###",
               "#..#...#",
               "#g#..#.#",
               "#...#gG#",
               "########"),
    "large": ("############",
              "#r...#g....#",
              "#.##.#.#.#.#",
              "#....g.#..g#",
              "#.####.###.#",
              "#.g#.#.....#",
              "##.#.#.#.###",
              "#..#g.g#.G.#",
              "############"),
}  # fmt: skip
"""D4RL's mazes; r: where an evaluation begins, G: its goal, g: other goals of the sets called `play`."""
CELL = 4.0
"""Metres. Cell (1, 1) lies at the origin, x runs with the columns and y with the rows."""
GOAL_OFFSET = 0.75
"""D4RL draws goals up to 1.5 m off their cell; the one goal here is in the middle of that, in x and y."""
NEAR = 0.5
KINDS_OF_MAZES = ("umaze", "umaze-diverse", "medium-play", "medium-diverse", "large-play", "large-diverse")


def cells_of(maze: str, marks: str) -> list[tuple[int, int]]:
    """Rows and columns of the cells with one of these marks."""
    return [(i, j) for i, row in enumerate(MAZES[maze]) for j, mark in enumerate(row) if mark in marks]


def cell_place(cell: tuple[int, int]) -> Float64s:
    """Where a cell lies: x and y."""
    return CELL * np.array([cell[1] - 1.0, cell[0] - 1.0])


def evaluation_goal(maze: str) -> Float64s:
    """The one goal of a maze's evaluation."""
    return cell_place(cells_of(maze, "G")[0]) + GOAL_OFFSET


def make_ant_maze(name: str, *, maze: str, drawn: bool = False, **options: Any) -> "D4RLAntMaze":
    """Make gymnasium-robotics' AntMaze, `name`, with D4RL's maze and ant."""
    gymnasium = require("gymnasium", "envs")
    import_robotics()
    walls = [[int(mark == "#") for mark in row] for row in reversed(MAZES[maze])]  # its y runs against the rows
    with tempfile.TemporaryDirectory() as folder:
        xml = os.path.join(folder, "ant.xml")
        _d4rl_ant().write(xml)
        env = gymnasium.make(
            name, maze_map=walls, xml_file=xml, include_cfrc_ext_in_observation=False, continuing_task=True,
            disable_env_checker=True, **options,
        )  # fmt: skip
    return D4RLAntMaze(env, maze, drawn=drawn)


def _d4rl_ant() -> Any:
    """Gymnasium's ant with the steps, motors and contacts of D4RL's: 10 decisions a second, a fifth of the torque."""
    mujoco = require("gymnasium.envs.mujoco", "envs")
    tree = ElementTree.parse(os.path.join(mujoco.__path__[0], "assets", "ant.xml"))
    changes = {
        "option": {"timestep": "0.02"},
        "default/geom": {"solimp": ".8 .8 .01"},
        "actuator/motor": {"gear": "30"},
    }
    for path, attributes in changes.items():
        for element in tree.getroot().findall(path):
            element.attrib.update(attributes)
    return tree


class D4RLAntMaze(Wrapped):
    """D4RL's state (x, y, 27 readings) and its goal; where that is drawn, it is named beside the state."""

    def __init__(self, env: Any, maze: str, *, drawn: bool) -> None:
        super().__init__(env)
        self._maze, self._drawn, self._rng = maze, drawn, np.random.default_rng()
        rows, columns = len(MAZES[maze]), len(MAZES[maze][0])
        self.offset = CELL * (np.array([columns, rows]) / 2 - 1.5)  # the origin of gymnasium's maze is its middle
        self.goal = evaluation_goal(maze)

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> Any:
        """Begin at `options["start"]`, x and y, or at the first cell; as D4RL does, a little off and moving."""
        start = (options or {}).get("start", (0.0, 0.0))
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        _, info = self.env.reset(seed=seed)
        ant = self.env.unwrapped.ant_env
        places = ant.init_qpos + self._rng.uniform(-0.1, 0.1, ant.model.nq)
        places[:2] = start - self.offset + self._rng.uniform(-0.1, 0.1, 2)
        ant.set_state(places, 0.1 * self._rng.standard_normal(ant.model.nv))
        if self._drawn:
            self.goal = evaluation_goal(self._maze) - GOAL_OFFSET + self._rng.uniform(0, [[1.0], [0.5]], (2, 2)).sum(0)
        return self._seen(), info

    def step(self, action: Any) -> Any:
        _, _, _, truncated, info = self.env.step(action)
        reached = bool(np.linalg.norm(self.state[:2] - self.goal) <= NEAR)
        return self._seen(), float(reached), reached, truncated, {**info, "success": reached}

    @property
    def state(self) -> Float64s:
        data = self.env.unwrapped.ant_env.data
        state: Float64s = np.concatenate([data.qpos[:2] + self.offset, data.qpos[2:15], data.qvel[:14]])
        return state

    def _seen(self) -> Any:
        return {"observation": self.state, "desired_goal": self.goal} if self._drawn else self.state


def _ant_maze(kind: str) -> Task:
    maze = kind.partition("-")[0]
    horizon, cells = 700 if maze == "umaze" else 1000, tuple(reversed(MAZES[maze]))
    middle = CELL * (len(cells[0]) / 2 - 1.5), CELL * (len(cells) / 2 - 1.5)
    return Task(
        name=f"antmaze-{kind}-d4rl",
        environment={"umaze": "AntMaze_UMaze-v5", "medium": "AntMaze_Medium-v5", "large": "AntMaze_Large-v5"}[maze],
        options={"maze": maze},
        make_with=make_ant_maze,
        data=f"npz:antmaze-{kind}-d4rl.npz",
        also=(f"npz:*/antmaze-{kind}-d4rl.npz",),
        get=_made(f"antmaze-{kind}-d4rl", "--ant ant_goal_policy.npz"),
        horizon=horizon,
        fields={"position": (0, 1), "body": tuple(range(2, 29))},
        fallen=upside_down,
        floor=Floor([[int(mark == "#") for mark in row] for row in cells], scale=CELL, centre=middle, columns=(0, 1)),
        protocol="D4RL's maze and ant. The goal is the same in every episode, and the one that the data are paid for; "
        f"reached within {NEAR:g} m in {horizon} steps counts.",
        presets={"paper": PAPER, "program": PROGRAM},
    )


def drawn(task: Task) -> Task:
    """The same maze with a goal that is drawn anew and named in each episode, and planned for."""
    return replace(
        task,
        options={**task.options, "drawn": True},
        keys=("observation",),
        goal=TaskGoal(columns=(0, 1), tolerance=NEAR),
        protocol=f"{task.protocol} Here it is drawn anew, up to 1.5 m off its cell, and named in each episode.",
    )


add_tasks(
    *(_kitchen(kind, form) for kind in KINDS for form in ("d4rl", "positions", "d4rl-noise")),
    *map(_ant_maze, KINDS_OF_MAZES),
)
