"""Tasks: an environment, the data for it, its state, goal, score and protocol."""

from vmg.envs import families
from vmg.envs.task import TASKS, Skill, Task, TaskGoal, find_task, task_of

__all__ = ["TASKS", "Skill", "Task", "TaskGoal", "families", "find_task", "task_of"]
