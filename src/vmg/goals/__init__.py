"""What can be asked of a built graph: objectives, and sequences of them."""

from vmg.goals.objectives import (
    Objective,
    Place,
    Stages,
    all_of,
    in_order,
    near,
    recorded_rewards,
    reward_file,
    reward_function,
    step_rewards,
    weighted,
    where,
    within,
)

__all__ = [
    "Objective",
    "Place",
    "Stages",
    "all_of",
    "in_order",
    "near",
    "recorded_rewards",
    "reward_file",
    "reward_function",
    "step_rewards",
    "weighted",
    "where",
    "within",
]
