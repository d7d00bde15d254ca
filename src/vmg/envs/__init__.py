"""Tasks: an environment, the data for it, its state, goal, score and protocol."""

from vmg.envs import families
from vmg.envs.disturbances import Disturbance
from vmg.envs.disturbing import disturbances_of, disturbed, read_disturbances
from vmg.envs.finding import comes_from, find_task, task_of
from vmg.envs.fitting import fitting
from vmg.envs.floors import Floor
from vmg.envs.task import TASKS, Skill, Task, TaskGoal

__all__ = [
    "TASKS",
    "Disturbance",
    "Floor",
    "Skill",
    "Task",
    "TaskGoal",
    "comes_from",
    "disturbances_of",
    "disturbed",
    "families",
    "find_task",
    "fitting",
    "read_disturbances",
    "task_of",
]
