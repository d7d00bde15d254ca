"""A model of what an action does, from which settings are judged without an environment. An agent does not act with it.

forward          o, a        → o'          the observation that follows
"""

from typing import Any

import numpy as np

from vmg.data.episodes import Episodes
from vmg.networks.mlp import Layers, Parts, input_scaling, mlp, no_zeros, scaled, side_by_side
from vmg.networks.weights import Weights


def forward_parts(observation_size: int, action_size: int) -> dict[str, Parts]:
    """What the network sees and gives."""
    return {"forward": ((observation_size, action_size), observation_size)}


def forward_scaling(episodes: Episodes) -> Layers:
    """Mean and spread of observations, and how large the differences between two in a row are."""
    rows = episodes.step_observation
    steps = (episodes.observations[rows + 1] - episodes.observations[rows]).astype(np.float64)
    spread = np.sqrt(np.mean(steps**2, axis=0)).astype(np.float32)
    return {**input_scaling(episodes.observations, "normalised"), "spread": no_zeros(spread)}


def forward_errors(weights: Weights, observations: Any, actions: Any, following: Any) -> Any:
    """How wrong the prediction is in each column, in units of a typical step; numpy or JAX."""
    step = (following - observations) / weights["forward_input"]["spread"]
    return _step(weights, observations, actions) - step


def predict(weights: Weights, observations: Any, actions: Any) -> Any:
    """The observations that follow these; numpy or JAX."""
    return observations + weights["forward_input"]["spread"] * _step(weights, observations, actions)


def _step(weights: Weights, observations: Any, actions: Any) -> Any:
    return mlp(weights["forward"], side_by_side(scaled(weights["forward_input"], observations), actions))
