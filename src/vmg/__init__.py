"""Value Memory Graph: a graph-structured world model for offline reinforcement learning.

load → fit → build → Agent.plan → Plan.policy → evaluate. Names are loaded when first used, so importing this package
costs next to nothing and never imports what is not needed.
"""

from typing import TYPE_CHECKING

from vmg.base.lazy import lazy_names

if TYPE_CHECKING:
    from vmg.act.conjunction import ConjunctionPlan
    from vmg.act.explanation import Explanation
    from vmg.act.plan import Plan
    from vmg.act.policy import Decision, Decisions, Policy
    from vmg.act.sequence import SequencePlan
    from vmg.act.settings import ActConfig
    from vmg.agent.agent import Agent
    from vmg.agent.auto import choose
    from vmg.agent.growth import Growth
    from vmg.agent.settings import AgentConfig
    from vmg.base.errors import VMGError
    from vmg.data import Episodes, concatenate, load
    from vmg.envs import Task, TaskGoal, find_task
    from vmg.evaluation import Scores, clone, evaluate, scored_by
    from vmg.goals import Objective
    from vmg.graph import EdgeRewards, Goal, GraphConfig, MemoryGraph, Routes, SolveConfig, build, goal, reward, solve
    from vmg.learn import LearnConfig, fit
    from vmg.networks import Translator, embed

_HOMES = {
    "vmg.act.conjunction": ("ConjunctionPlan",),
    "vmg.act.explanation": ("Explanation",),
    "vmg.act.plan": ("Plan",),
    "vmg.act.policy": ("Decision", "Decisions", "Policy"),
    "vmg.act.sequence": ("SequencePlan",),
    "vmg.act.settings": ("ActConfig",),
    "vmg.agent.agent": ("Agent",),
    "vmg.agent.auto": ("choose",),
    "vmg.agent.growth": ("Growth",),
    "vmg.agent.settings": ("AgentConfig",),
    "vmg.base.errors": ("VMGError",),
    "vmg.data": ("Episodes", "concatenate", "load"),
    "vmg.envs": ("Task", "TaskGoal", "find_task"),
    "vmg.evaluation": ("Scores", "clone", "evaluate", "scored_by"),
    "vmg.goals": ("Objective",),
    "vmg.graph": (
        "EdgeRewards", "Goal", "GraphConfig", "MemoryGraph", "Routes", "SolveConfig",
        "build", "goal", "reward", "solve",
    ),
    "vmg.learn": ("LearnConfig", "fit"),
    "vmg.networks": ("Translator", "embed"),
}  # fmt: skip

__all__ = [
    "ActConfig",
    "Agent",
    "AgentConfig",
    "ConjunctionPlan",
    "Decision",
    "Decisions",
    "EdgeRewards",
    "Episodes",
    "Explanation",
    "Goal",
    "GraphConfig",
    "Growth",
    "LearnConfig",
    "MemoryGraph",
    "Objective",
    "Plan",
    "Policy",
    "Routes",
    "Scores",
    "SequencePlan",
    "SolveConfig",
    "Task",
    "TaskGoal",
    "Translator",
    "VMGError",
    "build",
    "choose",
    "clone",
    "concatenate",
    "embed",
    "evaluate",
    "find_task",
    "fit",
    "goal",
    "load",
    "reward",
    "scored_by",
    "solve",
]

_SUBPACKAGES = {f"vmg.{name}": (name, *_HOMES[f"vmg.{name}"]) for name in ("data", "envs", "goals", "graph")}
__getattr__ = lazy_names("vmg", {**_HOMES, **_SUBPACKAGES})


def __dir__() -> list[str]:
    return __all__
