"""Settings that learn a maze in seconds, where choosing some from the data would take minutes: those of the demo."""

from dataclasses import replace

from vmg.agent.settings import AgentConfig
from vmg.cli.demo import SETTINGS
from vmg.envs import find_task
from vmg.runs.commands import STAGES, flags

TASK = find_task("pointmaze-umaze")
MAZE = TASK.with_goal_columns(SETTINGS)
_START = TASK.preset("paper")
TRAIN = ["--preset", "paper", *flags(MAZE.learn, _START.learn, "learn.")]
"""Options of `vmg train`; those of the later stages follow."""
BUILD, SOLVE, EVALUATE = (flags(getattr(MAZE, each), getattr(_START, each), f"{each}.") for _, each in STAGES)


def little_maze(**learn: int) -> AgentConfig:
    """The same, learned otherwise."""
    return replace(MAZE, learn=replace(MAZE.learn, **learn))
