"""A call that works for every public function and method, from which one argument at a time is changed.

`legal` names the odd values (see `odd_values`) that an argument may have: what is not named there must be refused.
"""

import inspect
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

from agent_calls import of_agents, of_graphs, of_plans, of_tasks
from data_calls import of_data, of_goals
from trust_cases import Call

PUBLIC = ("vmg", "vmg.data", "vmg.goals")

MADE_FOR_USERS = {
    "Agent", "Column", "Conjunction", "ConjunctionPlan", "DataWarning", "Decision", "Decisions", "EdgeRewards",
    "Episode", "Explanation", "Goal", "Growth", "MemoryGraph", "Place", "Plan", "Policy", "Routes", "Scores",
    "SequencePlan", "Stages", "Summary", "VMGError",
}  # fmt: skip
"""Classes whose objects are results: users get them, and do not make them."""
FOR_EXTENSIONS = {
    "ConjunctionPlan.plan_of", "Reader", "Routes.ahead", "Routes.ends", "Routes.enter", "Routes.features",
    "Routes.from_arrays", "Routes.solve", "Routes.states", "Routes.tracker", "Routes.vertices", "Translator.actor",
    "Translator.check", "Translator.goal_rows", "Translator.loss", "Translator.parts", "Translator.scalings",
    "Translator.shapes",
}  # fmt: skip
"""What this package calls with its own arrays, at every step: whoever extends it is not checked there."""


@cache
def calls() -> dict[str, Call]:
    """Return the calls by the names of their functions."""
    return {**of_data(), **of_goals(), **of_graphs(), **of_agents(), **of_plans(), **of_tasks()}


def names_of(module: str) -> Iterator[tuple[str, Any]]:
    """Every public function, class and method of a module by its name."""
    for name in import_module(module).__all__:
        thing = getattr(import_module(module), name)
        if inspect.isclass(thing):
            yield f"{name}", thing
            for method, value in inspect.getmembers(thing):
                if not method.startswith("_") and (inspect.isfunction(value) or inspect.ismethod(value)):
                    yield f"{name}.{method}", value
        elif callable(thing):
            yield name, thing


@cache
def public() -> dict[str, Any]:
    """Every public name; what two modules both have is the same thing."""
    return {name: thing for module in PUBLIC for name, thing in names_of(module)}
