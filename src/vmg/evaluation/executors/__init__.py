"""Who does the work: one file per executor. Built in are this process, processes on all cores, and a Ray cluster.

Others are added with `@EXECUTORS.register("name")` and chosen with `--on name`.
"""

from vmg.evaluation.executors.base import EXECUTORS, THIS_MACHINE, Executor, Work
from vmg.evaluation.executors.heartbeat import beat
from vmg.evaluation.executors.here import run_here
from vmg.evaluation.executors.processes import run_in_processes
from vmg.evaluation.executors.ray import cluster_gpus, run_on_ray

__all__ = [
    "EXECUTORS",
    "THIS_MACHINE",
    "Executor",
    "Work",
    "beat",
    "cluster_gpus",
    "run_here",
    "run_in_processes",
    "run_on_ray",
]
