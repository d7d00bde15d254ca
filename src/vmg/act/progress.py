"""How an episode got on along its plan: what the way was to take, and for how long it came no nearer to its end."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vmg.base.types import Float32s, Float64s

if TYPE_CHECKING:
    from vmg.act.plan import Plan


@dataclass(frozen=True)
class Progress:
    """What an episode's states say about its way."""

    planned: float
    """Environment steps that the route from its first state took in the recordings."""
    stalled: int
    """The most steps in a row that brought it to no vertex worth more than all before."""


def progress(plan: "Plan", states: Float32s, features: Float32s) -> Progress:
    """Compare an episode's states, which lie at these features, with the plan that it followed."""
    values = plan.values[plan.graph.nearest_vertices(features)]
    return Progress(planned=planned_steps(plan, states[0]), stalled=longest_stall(values))


def planned_steps(plan: "Plan", state: Float32s) -> float:
    """Return how many environment steps the route from a state took in the recordings."""
    return plan.routes.cost(int(plan.policy().decide(state).entries[0]))


def longest_stall(values: Float64s) -> int:
    """Return the most steps in a row after which nothing worth more than before had come."""
    best = np.maximum.accumulate(values)
    better = np.flatnonzero(np.diff(best, prepend=-np.inf) > 0)
    return int(np.diff(better, append=len(values)).max()) - 1
