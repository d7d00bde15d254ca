"""What can be asked of a built graph: objectives, and sequences of them."""

from vmg.goals.combinations import all_of, any_of, in_order, weighted
from vmg.goals.objectives import (
    Conjunction,
    Objective,
    Place,
    Stages,
    near,
    recorded_rewards,
    reward_file,
    reward_function,
    step_rewards,
    where,
    within,
)
from vmg.goals.vertices import in_vertices, paid_in_vertices

__all__ = [
    "Conjunction",
    "Objective",
    "Place",
    "Stages",
    "all_of",
    "any_of",
    "in_order",
    "in_vertices",
    "near",
    "paid_in_vertices",
    "recorded_rewards",
    "reward_file",
    "reward_function",
    "step_rewards",
    "weighted",
    "where",
    "within",
]
