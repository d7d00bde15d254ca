"""Actions in units of their own spread: what networks learn and give where actions are degrees, or millimetres."""

from typing import Any, Literal

import numpy as np

from vmg.base.types import Float32s
from vmg.data.episodes import Episodes
from vmg.networks.mlp import input_scaling
from vmg.networks.weights import Weights

ACTIONS = "action_scale"
"""The part of a model's weights that holds mean and spread; models without it know actions as recorded."""


def action_scaling(episodes: Episodes, actions: Literal["raw", "normalised"]) -> Weights:
    """Mean and spread of the actions, as a part of the weights; nothing where they are to be as recorded."""
    return {} if actions == "raw" else {ACTIONS: input_scaling(episodes.actions, "normalised")}


def scaled_actions(weights: Weights, actions: Any) -> Any:
    """Actions as networks know them; numpy or JAX."""
    scaling = weights.get(ACTIONS)
    return (actions - scaling["mean"]) / scaling["std"] if scaling else actions


def recorded_actions(weights: Weights, actions: Float32s) -> Float32s:
    """Undo `scaled_actions`."""
    scaling = weights.get(ACTIONS)
    return (actions * scaling["std"] + scaling["mean"]).astype(np.float32) if scaling else actions
