"""The kitchen: seven objects to move, four of them per task; skills by the objects' names."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from vmg.base.errors import VMGError, require
from vmg.base.types import Float32s, Float64s
from vmg.data.mazes import import_robotics
from vmg.envs.arranging import set_kitchen
from vmg.envs.disturbances import Disturbance, MovedStart, NoisyActions, Pushed
from vmg.envs.families.common import add_tasks, d4rl_files, get_d4rl, paper_settings, program_settings
from vmg.envs.task import TASKS, VARIANTS, Skill, Task
from vmg.envs.wrappers import Wrapped
from vmg.goals import all_of, near

# FrankaKitchen's observation: robot joints 9 and their velocities 9, objects 21 and their velocities 20.
KITCHEN_FIELDS = {
    "robot": tuple(range(9)),
    "bottom burner": (20, 21),
    "top burner": (24, 25),
    "light switch": (26, 27),
    "slide cabinet": (28,),
    "hinge cabinet": (29, 30),
    "microwave": (31,),
    "kettle": tuple(range(32, 39)),
}
KITCHEN_POSITIONS = (*range(9), *range(18, 39))


# D4RL's files have the positions alone, in this order; its reader leaves out the goal that follows them.
D4RL_KITCHEN_FIELDS = {
    name: tuple(KITCHEN_POSITIONS.index(column) for column in columns) for name, columns in KITCHEN_FIELDS.items()
}


ARM = tuple(range(7))
"""The arm's joints in MuJoCo's `qpos`; two fingers follow."""
KETTLE = (23, 24)
"""The kettle's place there, x and y."""


class KettleMoved(MovedStart):
    """Starts an episode with the kettle elsewhere."""

    name = "kettle"

    def drawn(self, size: int) -> Float64s:
        return super().drawn(size) / 100


class OwnSensors(Wrapped):
    """Multiplies the noise that the simulated sensors have of their own."""

    def __init__(self, env: Any, amount: float, horizon: int) -> None:
        super().__init__(env)
        kitchen = env.unwrapped
        kitchen.object_noise_ratio *= amount
        kitchen.robot_env.robot_noise_ratio *= amount


DISTURBANCES = {
    "start": Disturbance(
        "rad, normal, on each of the arm's seven joints", partial(MovedStart, positions=ARM), (0.05, 0.1, 0.2)
    ),
    "push": Disturbance(
        "rad, normal, on each of the arm's seven joints, once", partial(Pushed, positions=ARM), (0.1, 0.3)
    ),
    "kettle": Disturbance("cm, normal, in x and in y", partial(KettleMoved, positions=KETTLE), (1, 3)),
    "arm-noise": Disturbance(
        "of an action's range of 1, normal, on the arm's seven numbers", partial(NoisyActions, numbers=7), (0.1, 0.3)
    ),
    "sensors": Disturbance("times the sensors' own noise", OwnSensors, (2, 5, 10), nothing=1),
}


def kitchen_positions(observation: Mapping[str, Any]) -> Float32s:
    """Return the numbers of the environment's observation that D4RL's kitchen files hold."""
    return np.asarray(observation["observation"], dtype=np.float32)[list(KITCHEN_POSITIONS)]


def kitchen_skill(names: tuple[str, ...], fields: Mapping[str, tuple[int, ...]] = KITCHEN_FIELDS) -> Skill:
    """All the objects named where the environment wants them; it counts one as done within 0.3 of there."""
    import_robotics()
    kitchen_env = require("gymnasium_robotics.envs.franka_kitchen.kitchen_env", "envs")
    goals: Mapping[str, Any] = kitchen_env.OBS_ELEMENT_GOALS
    if unknown := [name for name in names if name not in goals]:
        raise VMGError(f"The kitchen has no {unknown[0]!r}. It has: {', '.join(goals)}.")
    tolerance = kitchen_env.BONUS_THRESH
    done = [near(goals[name], columns=fields[name], tolerance=tolerance, name=name) for name in names]
    return Skill(all_of(done), {"tasks_to_complete": list(names)}, (0.0, float(len(names))))


def _kitchen(kind: str) -> Task:
    paper = paper_settings(0.5, 0.95, 2, None)
    return Task(
        name=f"kitchen-{kind}",
        environment="FrankaKitchen-v1",
        options={"tasks_to_complete": ["microwave", "kettle", "light switch", "slide cabinet"]}
        if kind != "mixed"
        else {"tasks_to_complete": ["microwave", "kettle", "bottom burner", "light switch"]},
        endless={"terminate_on_tasks_completed": False},
        data=f"minari:D4RL/kitchen/{kind}-v2",
        also=(f"minari:*kitchen/{kind}-*",),
        get=f"minari download D4RL/kitchen/{kind}-v2",
        keys=("observation",),
        horizon=280,
        score_range=(0.0, 4.0),
        report=("episode_task_completions",),
        fields=KITCHEN_FIELDS,
        arrange=set_kitchen,
        skill=kitchen_skill,
        disturbances=DISTURBANCES,
        protocol="Four subtasks, each paid once, 280 steps; the score is the share of subtasks done. The state has the "
        "velocities of joints and objects, which D4RL's had not.",
        presets={"paper": paper, "program": program_settings(paper)},
    )


def _d4rl_kitchen(kind: str) -> Task:
    """The same kitchen for an agent that learned from D4RL's own file, whose state is the 30 positions."""
    task = TASKS.find(f"kitchen-{kind}")
    published = {
        "complete": "mini_kitchen_microwave_kettle_light_slider-v0",
        "partial": "kitchen_microwave_kettle_light_slider-v0",
        "mixed": "kitchen_microwave_kettle_bottomburner_light-v0",
    }[kind]
    return replace(
        task,
        data=f"d4rl:{published}.hdf5",
        also=d4rl_files(published, f"kitchen[-_]{kind}-v*"),
        get=get_d4rl(published),
        keys=None,
        state=kitchen_positions,
        fields=D4RL_KITCHEN_FIELDS,
        skill=partial(kitchen_skill, fields=D4RL_KITCHEN_FIELDS),
        protocol="Four subtasks, each paid once, 280 steps; the score is the share of subtasks done. The state is "
        "D4RL's, positions alone, without its constant goal. The environment is FrankaKitchen-v1, another simulator "
        "than D4RL's, with less noise on the sensors.",
    )


KINDS = ("complete", "partial", "mixed")
add_tasks(*map(_kitchen, KINDS))
for _kind in KINDS:
    VARIANTS.add(f"kitchen-{_kind}, D4RL's state", _d4rl_kitchen(_kind))
