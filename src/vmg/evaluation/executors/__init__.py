"""Who runs the episodes: one file per executor. Built in are this process and processes on all cores.

Others are added with `@EXECUTORS.register("name")` and chosen with `--executor name`.
"""

from vmg.evaluation.executors.base import EXECUTORS, Executor, Work
from vmg.evaluation.executors.heartbeat import beat
from vmg.evaluation.executors.here import run_here
from vmg.evaluation.executors.processes import run_in_processes

__all__ = ["EXECUTORS", "Executor", "Work", "beat", "run_here", "run_in_processes"]
