"""OGBench's table: an arm among cubes, buttons, a drawer and a window. Its goals are states of all of these objects.

The environment names the whole observation that is wanted, arm and all; what counts is where the objects are. So an
observation's `desired_goal` has the objects' columns, and a goal is reached when each object is near enough.
"""

from dataclasses import dataclass, replace
from typing import Any

from vmg.base.settings import Settings
from vmg.envs.families.common import add_tasks, paper_settings, program_settings
from vmg.envs.families.ogbench import MakeOgbench, five_tasks
from vmg.envs.task import Task, TaskGoal
from vmg.goals.objectives import Objective, Together, near

CUBE, BUTTON, DRAWER, WINDOW = 0.4, 0.5, 0.72, 0.6
"""How near is near enough, in the units of the observation: 4 cm in each, and buttons as they are wanted."""
ARM = {
    "joints": tuple(range(6)),
    "joint velocities": tuple(range(6, 12)),
    "effector": (12, 13, 14),
    "effector yaw": (15, 16),
    "gripper": (17, 18),
}
_FIRST = 19
"""The first column after the arm's."""


@dataclass(frozen=True, kw_only=True)
class WantedObject(Settings):
    """Columns of the state that say where an object is, and how near to its goal they must be."""

    name: str
    columns: tuple[int, ...]
    tolerance: float


@dataclass(frozen=True, kw_only=True)
class ObjectsGoal(TaskGoal):
    """All objects where the environment wants them."""

    objects: tuple[WantedObject, ...]

    def objective(self, observation: Any) -> Objective | None:
        """Return the objective to have every object near enough to where an observation wants it."""
        place = self.place(observation)
        if place is None:
            return None
        wanted = dict(zip(self.columns, place.tolist(), strict=True))
        parts = tuple(
            replace(near([wanted[column] for column in each.columns], columns=each.columns, tolerance=each.tolerance),
                    name=f"{each.name} in its place")
            for each in self.objects
        )  # fmt: skip
        if len(parts) == 1:
            return replace(parts[0], kind=self.kind)
        return Objective(" and ".join(part.name for part in parts), Together(parts), kind=self.kind)


def _goal(*objects: WantedObject) -> ObjectsGoal:
    columns = tuple(column for each in objects for column in each.columns)
    return ObjectsGoal(columns=columns, tolerance=objects[0].tolerance, objects=objects)


def _cube(number: int, name: str = "cube") -> WantedObject:
    """A cube's place; its orientation, six more columns, does not count."""
    first = _FIRST + 9 * number
    return WantedObject(name=name, columns=(first, first + 1, first + 2), tolerance=CUBE)


def _buttons(first: int, n: int) -> WantedObject:
    """Whether each button is on: the second of its four columns."""
    return WantedObject(name="buttons", columns=tuple(range(first + 1, first + 4 * n, 4)), tolerance=BUTTON)


PAPER = paper_settings(0.8, 0.95, 1, None)


def _table(name: str, horizon: int, *objects: WantedObject) -> Task:
    """A table with these objects. The paper has none: its settings are those of the mazes, with another discount."""
    goal = _goal(*objects)
    return Task(
        name=f"ogbench-{name}",
        environment=f"{name}-v0",
        make_with=MakeOgbench(goal.columns),
        endless={"terminate_at_goal": False},
        data=f"ogbench:{name}-play-v0.npz",
        also=tuple(f"ogbench:{folder}{name}-{kind}-v0.npz" for kind in ("play", "noisy") for folder in ("", "*/")),
        get=f"ogbench.download_datasets(['{name}-play-v0']) in Python, then pass ogbench:PATH",
        keys=("observation",),
        fields={**ARM, **{each.name: each.columns for each in objects}},
        horizon=horizon,
        begin=five_tasks,
        report=("task_id",),
        protocol="OGBench's five tasks in turn, episode by episode; all objects where they are wanted, within 4 cm, "
        f"in {horizon} steps counts.",
        goal=goal,
        presets={"paper": PAPER, "program": program_settings(PAPER)},
    )


add_tasks(
    _table("cube-single", 200, _cube(0)),
    _table("cube-double", 500, _cube(0, "first cube"), _cube(1, "second cube")),
    _table(
        "scene",
        750,
        _cube(0),
        _buttons(_FIRST + 9, 2),
        WantedObject(name="drawer", columns=(36,), tolerance=DRAWER),
        WantedObject(name="window", columns=(38,), tolerance=WINDOW),
    ),
    _table("puzzle-3x3", 500, _buttons(_FIRST, 9)),
)
