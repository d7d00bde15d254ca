"""Tasks: an environment, the data for it, its state, goal, score and protocol."""

from vmg.envs import families
from vmg.envs.finding import comes_from, find_task, task_of
from vmg.envs.fitting import fitting
from vmg.envs.floors import Floor
from vmg.envs.task import TASKS, Skill, Task, TaskGoal

__all__ = ["TASKS", "Floor", "Skill", "Task", "TaskGoal", "comes_from", "families", "find_task", "fitting", "task_of"]
