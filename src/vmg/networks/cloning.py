"""Behaviour cloning's network: actions from observations, or from observations and goals."""

from typing import Any

import numpy as np

from vmg.base.types import Float32s
from vmg.networks.angles import ANGLES, COLUMN, own_columns, turned
from vmg.networks.mlp import mlp, scaled, scaled_goals, side_by_side
from vmg.networks.weights import Weights


def clone(weights: Weights, observations: Any, goals: Any = None) -> Any:
    """Return the cloned action; `goals` are goal columns to head for, where it was trained with them.

    Both as networks see them: see `networks.angles`.
    """
    scaling = weights["cloning_input"]
    here = scaled(scaling, observations)
    if goals is None:
        return mlp(weights["cloning"], here)
    columns = scaling["columns"]
    of_goals = {**scaling, **{name: scaling[name][columns] for name in ("mean", "spread")}}
    return mlp(weights["cloning"], side_by_side(here, scaled_goals(of_goals, observations[..., columns], goals)))


def turned_goals(weights: Weights, goals: Float32s, size: int) -> Float32s:
    """Return goals as networks see them; they name columns of observations that have so many numbers."""
    if ANGLES not in weights:
        return goals
    seen = weights["cloning_input"]["columns"].tolist()
    whole = np.zeros((len(goals), size), np.float32)
    whole[:, list(own_columns(seen, weights[ANGLES][COLUMN].tolist(), size))] = goals
    return turned(weights, whole)[:, seen]
