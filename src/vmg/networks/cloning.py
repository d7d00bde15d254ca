"""Behaviour cloning's network: actions from observations, or from observations and goals."""

from typing import Any

from vmg.networks.mlp import mlp, scaled, scaled_goals, side_by_side
from vmg.networks.weights import Weights


def clone(weights: Weights, observations: Any, goals: Any = None) -> Any:
    """Return the cloned action; `goals` are goal columns to head for, where it was trained with them."""
    scaling = weights["cloning_input"]
    here = scaled(scaling, observations)
    if goals is None:
        return mlp(weights["cloning"], here)
    columns = scaling["columns"]
    of_goals = {**scaling, **{name: scaling[name][columns] for name in ("mean", "spread")}}
    return mlp(weights["cloning"], side_by_side(here, scaled_goals(of_goals, observations[..., columns], goals)))
