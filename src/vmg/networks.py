"""The four networks as plain arrays, and the two of them that act, on numpy and JAX arrays alike.

    state encoder    Enc_s   s           → f           where a state lies in the metric space
    action encoder   Enc_a   f, a        → Δf          where an action leads from there
    action decoder   Dec_a   f, Δf       → ã           the action again
    translator       Tran    s, s'       → a           the action that leads from s towards s'

`Weights` is a dict of dicts of arrays: one inner dict a network (`w0 b0 w1 b1 w2 b2`), and beside the networks what
turns raw observations into their inputs (`encoder_input`, `translator_input`), so that weights alone are enough to act.
"""

from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np

from vmg.types import Float32s

Layers: TypeAlias = dict[str, Any]
Weights: TypeAlias = dict[str, Layers]

ROWS_AT_ONCE = 65_536  # bounds the memory of the hidden layers: 64 MiB at 256 units


def mlp(layers: Layers, x: Any) -> Any:
    """Apply a multi-layer perceptron with ReLU between its layers."""
    depth = len(layers) // 2
    for k in range(depth):
        x = x @ layers[f"w{k}"] + layers[f"b{k}"]
        if k < depth - 1:
            x = x * (x > 0)
    return x


def encode(weights: Weights, observations: Any) -> Any:
    """Enc_s: observations → points of the metric space."""
    return mlp(weights["state_encoder"], _scaled(weights["encoder_input"], observations))


def translate(weights: Weights, observations: Any, goals: Any) -> Any:
    """Tran: the action that leads from each observation towards its goal observation."""
    scaling = weights["translator_input"]
    here, there = _scaled(scaling, observations), _scaled(scaling, goals)
    return mlp(weights["translator"], _joined(here, there - scaling["relative"] * here))


def embed(weights: Weights, observations: Float32s) -> Float32s:
    """Map observations to points of the metric space (numpy), a bounded number of rows at a time."""
    parts = [
        encode(weights, observations[start : start + ROWS_AT_ONCE])
        for start in range(0, len(observations), ROWS_AT_ONCE)
    ]
    return np.concatenate(parts) if parts else np.zeros((0, weights["state_encoder"]["b2"].shape[-1]), np.float32)


def initial_layers(rng: np.random.Generator, sizes: tuple[int, ...]) -> Layers:
    """Draw weights and biases uniformly within ±1/√fan_in (PyTorch's default, which the published program uses)."""
    layers: Layers = {}
    for k, (n_in, n_out) in enumerate(pairwise(sizes)):
        bound = 1 / np.sqrt(n_in)
        layers[f"w{k}"] = rng.uniform(-bound, bound, (n_in, n_out)).astype(np.float32)
        layers[f"b{k}"] = rng.uniform(-bound, bound, n_out).astype(np.float32)
    return layers


def input_scaling(
    observations: Float32s, inputs: Literal["raw", "normalised", "relative"], *, with_goal: bool
) -> Layers:
    """Mean and spread that turn raw observations into a network's inputs, and whether goals enter as differences."""
    size = observations.shape[1]
    mean, std = np.zeros(size, np.float32), np.ones(size, np.float32)
    if inputs != "raw":
        mean = observations.mean(0, dtype=np.float64).astype(np.float32)
        std = observations.std(0, dtype=np.float64).astype(np.float32)
        std = np.where(std > 1e-6, std, np.float32(1))  # a constant reading stays where it is
    scaling: Layers = {"mean": mean, "std": std}
    if with_goal:
        scaling["relative"] = np.float32(inputs == "relative")
    return scaling


def _scaled(scaling: Layers, observations: Any) -> Any:
    return (observations - scaling["mean"]) / scaling["std"]


def _joined(left: Any, right: Any) -> Any:
    namespace = left.__array_namespace__()  # numpy's or JAX's own
    return namespace.concat([left, right], axis=-1)
