"""Multi-layer perceptrons as plain arrays, and what turns raw observations into their inputs.

The same few lines serve numpy and JAX arrays. `through` is `mlp` made ready once, for one observation after another.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np

from vmg.base.errors import VMGError
from vmg.base.types import Float32s, Float64s
from vmg.data.mapping import mean_and_std

Layers: TypeAlias = dict[str, Any]
"""The arrays of one network (w0 b0 w1 b1 ...), or of what scales its inputs."""
Parts: TypeAlias = tuple[tuple[int, ...], int]
"""The sizes of what a network sees, part by part, and of what it gives."""
Inputs: TypeAlias = Literal["raw", "normalised", "relative", "raw relative"]
SIGNIFICANT = 53
"""Bits of a whole number that float64 holds."""
Pairs: TypeAlias = list[tuple[Float32s, Float32s]]
"""Weights and biases, layer by layer."""


def mlp(layers: Layers, x: Any) -> Any:
    """Apply a multi-layer perceptron with ReLU between its layers."""
    depth = len(layers) // 2
    for k in range(depth):
        x = x @ layers[f"w{k}"] + layers[f"b{k}"]
        if k < depth - 1:
            x = x * (x > 0)
    return x


def pairs(layers: Layers) -> Pairs:
    """Return weights and biases layer by layer, as `through` wants them."""
    return [(layers[f"w{k}"], layers[f"b{k}"]) for k in range(len(layers) // 2)]


def through(layers: Pairs, x: Float32s) -> Float32s:
    """Do what `mlp` does, in numpy, for one row in half the time."""
    *hidden, (weights, biases) = layers
    for w, b in hidden:
        x = x.dot(w)
        x += b
        np.maximum(x, 0, out=x)
    x = x.dot(weights)
    x += biases
    return x


def through_exactly(layers: Pairs, x: Float32s) -> Float32s:
    """Do what `through` does, each row to the same bits on any processor and whichever rows are with it.

    A matrix library sums in an order that depends on sizes and places. So numbers become whole numbers, small enough
    for float64 to hold every sum of their products: then no order matters.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # as in float32: what is too large becomes infinite
        for k, (w, b) in enumerate(layers):
            bits = (SIGNIFICANT - len(w).bit_length()) // 2
            (rows, row_scales), (columns, column_scales) = _whole(x, bits, 1), _whole(w, bits, 0)
            sums = rows @ columns
            sums *= 1 / row_scales
            sums *= 1 / column_scales
            sums += b
            if k < len(layers) - 1:
                np.maximum(sums, 0, out=sums)
            x = sums.astype(np.float32)
    return x


def _whole(numbers: Float32s, bits: int, axis: int) -> tuple[Float64s, Float64s]:
    """Whole numbers of so many bits, and the powers of two that they are larger by, one for each row or column."""
    largest = np.maximum(numbers.max(axis, keepdims=True, initial=0), -numbers.min(axis, keepdims=True, initial=0))
    scales = np.ldexp(1.0, bits - np.frexp(largest)[1])
    whole: Float64s = numbers * scales
    return np.rint(whole, out=whole), scales


def layer_sizes(parts: Mapping[str, Parts], hidden_units: int) -> dict[str, tuple[int, ...]]:
    """Sizes of the layers of each network, from input to output."""
    return {name: (sum(seen), hidden_units, hidden_units, given) for name, (seen, given) in parts.items()}


def layer_shapes(parts: Mapping[str, Parts], hidden_units: int) -> dict[str, tuple[int, ...]]:
    """Shape of every array of the networks, by its full name `network.w0`."""
    shapes: dict[str, tuple[int, ...]] = {}
    for name, sizes in layer_sizes(parts, hidden_units).items():
        for k, pair in enumerate(pairwise(sizes)):
            shapes |= {f"{name}.w{k}": pair, f"{name}.b{k}": pair[1:]}
    return shapes


def initial_layers(rng: np.random.Generator, sizes: tuple[int, ...]) -> Layers:
    """Draw weights and biases uniformly within ±1/√fan_in (PyTorch's default, which the published program uses)."""
    layers: Layers = {}
    for k, (n_in, n_out) in enumerate(pairwise(sizes)):
        bound = 1 / np.sqrt(n_in)
        layers[f"w{k}"] = rng.uniform(-bound, bound, (n_in, n_out)).astype(np.float32)
        layers[f"b{k}"] = rng.uniform(-bound, bound, n_out).astype(np.float32)
    return layers


def input_scaling(observations: Float32s, inputs: Inputs) -> Layers:
    """Mean and spread that turn raw observations into a network's inputs; "raw" leaves them as they are."""
    size = observations.shape[1]
    if inputs.startswith("raw"):
        return {"mean": np.zeros(size, np.float32), "std": np.ones(size, np.float32)}
    mean, std = (each.astype(np.float32) for each in mean_and_std(observations))
    return {"mean": mean, "std": no_zeros(std)}


def goal_scaling(
    observations: Float32s,
    inputs: Inputs,
    columns: tuple[int, ...],
    differences: Float32s | None = None,
) -> Layers:
    """Like `input_scaling` for a network with goals: which columns it sees, and how goals enter.

    A relative goal is its difference from the observation, in units of how large such `differences` are; where they are
    not given, in units of the observations' spread.
    """
    size = observations.shape[1]
    if any(not 0 <= column < size for column in columns):
        raise VMGError(f"An observation has the columns 0 to {size - 1}, but {list(columns)} are asked for.")
    scaling = input_scaling(observations, inputs)
    relative = inputs in ("relative", "raw relative")
    spread = scaling["std"] if differences is None or not relative else no_zeros(differences)
    return {
        **scaling,
        "spread": spread,
        "relative": np.float32(relative),
        "columns": np.array(columns, np.int32),
    }


def goal_scaling_shapes(name: str, size: int) -> dict[str, tuple[int, ...]]:
    """Shape of every float array that `goal_scaling` makes for observations of this size, by its full name."""
    return {f"{name}.{part}": (size,) for part in ("mean", "std", "spread")} | {f"{name}.relative": ()}


def scaled(scaling: Layers, observations: Any) -> Any:
    """Observations as a network sees them."""
    return (observations - scaling["mean"]) / scaling["std"]


def scaled_goals(scaling: Layers, observations: Any, goals: Any) -> Any:
    """Goals as a network sees them: by themselves, or relative to the observations."""
    relative = scaling["relative"]
    return (goals - (relative * observations + (1 - relative) * scaling["mean"])) / scaling["spread"]


def side_by_side(left: Any, right: Any) -> Any:
    """Join two tables, numpy's or JAX's, along their columns."""
    namespace = left.__array_namespace__()
    return namespace.concat([left, right], axis=-1)


def no_zeros(spread: Float32s) -> Float32s:
    """A reading that never changes stays where it is."""
    return np.where(spread > 1e-6, spread, np.float32(1)).astype(np.float32)
