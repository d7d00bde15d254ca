"""Value Memory Graph: a graph-structured world model for offline reinforcement learning.

load → fit → embed → build → reward → solve → Policy.act → evaluate. Names are loaded when first used, so importing this
package costs next to nothing and never imports what is not needed.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vmg.act.evaluation import Scores, evaluate
    from vmg.act.policy import Decision, Decisions, Policy
    from vmg.act.retask import Explanation, Prospect, want, want_many
    from vmg.act.tasks import Task, find_task
    from vmg.agent import Agent
    from vmg.config import ActConfig, AgentConfig, GoalConfig, GraphConfig, SolveConfig
    from vmg.data import Episodes, concatenate, load
    from vmg.errors import VMGError
    from vmg.graph import EdgeRewards, Goal, MemoryGraph, Solution, build, goal, reward, solve
    from vmg.learn import LearnConfig, fit
    from vmg.networks import embed

_HOMES = {
    "vmg.act.evaluation": ("Scores", "evaluate"),
    "vmg.act.policy": ("Decision", "Decisions", "Policy"),
    "vmg.act.retask": ("Explanation", "Prospect", "want", "want_many"),
    "vmg.act.tasks": ("Task", "find_task"),
    "vmg.agent": ("Agent",),
    "vmg.config": ("ActConfig", "AgentConfig", "GoalConfig", "GraphConfig", "SolveConfig"),
    "vmg.data": ("Episodes", "concatenate", "load"),
    "vmg.errors": ("VMGError",),
    "vmg.graph": ("EdgeRewards", "Goal", "MemoryGraph", "Solution", "build", "goal", "reward", "solve"),
    "vmg.learn": ("LearnConfig", "fit"),
    "vmg.networks": ("embed",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "ActConfig",
    "Agent",
    "AgentConfig",
    "Decision",
    "Decisions",
    "EdgeRewards",
    "Episodes",
    "Explanation",
    "Goal",
    "GoalConfig",
    "GraphConfig",
    "LearnConfig",
    "MemoryGraph",
    "Policy",
    "Prospect",
    "Scores",
    "Solution",
    "SolveConfig",
    "Task",
    "VMGError",
    "build",
    "concatenate",
    "embed",
    "evaluate",
    "find_task",
    "fit",
    "goal",
    "load",
    "reward",
    "solve",
    "want",
    "want_many",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'vmg' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
