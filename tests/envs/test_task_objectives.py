"""Objectives in a task's own words: a field of its state at a place or between bounds, and named skills."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("gymnasium_robotics")

from vmg.base.errors import VMGError
from vmg.envs import Skill, Task, find_task
from vmg.goals import near

MAZE = find_task("pointmaze-umaze")


@pytest.mark.parametrize(
    ("goal", "tolerance", "held"),
    [
        ("position=1,1", None, [1.1, 1.2, 9, 9]),
        ("position = 1, 1", 0.05, [1.01, 1.02, 9, 9]),
        ("velocity=0,-1", 0.1, [9, 9, 0.05, -1.05]),
        ("position=-1..1,0..2", None, [-0.9, 1.9, 9, 9]),
        ("position=-inf..inf,0..2", None, [-99, 1.9, 9, 9]),
    ],
)
def test_a_goal_is_named_by_a_part_of_the_state(goal, tolerance, held):
    objective = MAZE.objective(goal, tolerance=tolerance)
    away = np.array(held) + 3
    assert objective.reached(np.array([held, away], np.float32)).tolist() == [True, False]
    assert objective.name.startswith(goal.partition("=")[0].strip())


@pytest.mark.parametrize(
    ("goal", "sentence"),
    [
        (
            "place=1,1",
            r"'place=1,1' is no goal of pointmaze-umaze: write FIELD=NUMBER.*position \(0, 1\), velocity \(2, 3\)",
        ),
        ("position=1", r"is no goal of"),
        ("position=1,east", r"is no goal of"),
        ("position", r"is no goal of"),
        ("position=2..1,0..1", r"low no higher than high"),
        (
            "position=nan,1",
            r"'position=nan,1' holds nan, which is nowhere: give a number, or -inf\.\.inf where any will",
        ),
        ("position=0..nan,1..2", r"holds nan, which is nowhere"),
        ("position=inf,1", r"are finite numbers, not \[inf, 1\.0\]"),
        ("velocity=0,0", r"Say how near to 'velocity=0,0' counts as reached: give a tolerance, in the units of veloci"),
    ],
)
def test_a_goal_that_is_none_is_answered_with_a_sentence(goal, sentence):
    with pytest.raises(VMGError, match=sentence):
        MAZE.objective(goal)


def test_the_tasks_own_tolerance_is_for_the_columns_its_goals_are_named_in():
    assert MAZE.objective("position=1,1").tolerance == MAZE.goal.tolerance
    with pytest.raises(VMGError, match=r"Say how near to"):
        replace(MAZE, goal=None).objective("position=1,1")


def test_kitchen_skills_are_what_the_environment_counts_as_done():
    objective, task = find_task("kitchen-partial").asked_for(("microwave", "kettle"))
    env = task.make()
    observation, info = env.reset(seed=0)
    assert sorted(info["tasks_to_complete"]) == ["kettle", "microwave"]
    state = task.state_of(observation)[None].copy()
    assert not objective.reached(state)[0]
    for name, columns in (("microwave", (31,)), ("kettle", tuple(range(32, 39)))):
        state[0, list(columns)] = observation["desired_goal"][name]
        achieved = observation["achieved_goal"][name]
        assert task.state_of(observation)[list(columns)] == pytest.approx(achieved, abs=0.05)
    assert objective.reached(state)[0]
    env.close()


def lifted(names):
    height = near([1.0], columns=(2,), tolerance=0.1, name=names[0])
    return Skill(height, {"tasks": names}, (0.0, float(len(names))))


def test_a_task_of_ones_own_has_skills_too():
    mine = Task(name="mine", environment="Mine-v0", skill=lifted, protocol="Lift it.")
    objective, asked = mine.asked_for(("lift",))
    assert objective.name == "lift"
    assert (asked.name, asked.environment, asked.options) == ("mine: lift", "Mine-v0", {"tasks": ("lift",)})
    assert asked.protocol.startswith("Asked for lift alone")


def test_unknown_skills_are_answered_with_a_sentence():
    with pytest.raises(VMGError, match=r"has no named skills"):
        MAZE.asked_for(("fly",))
    with pytest.raises(VMGError, match=r"The kitchen has no 'toaster'\. It has: "):
        find_task("kitchen-partial").asked_for(("toaster",))
