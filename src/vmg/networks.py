"""The four networks as plain arrays, and the two of them that act, on numpy and JAX arrays alike.

    state encoder    Enc_s   s           → f           where a state lies in the metric space
    action encoder   Enc_a   f, a        → Δf          where an action leads from there
    action decoder   Dec_a   f, Δf       → ã           the action again
    translator       Tran    s, s'       → a           the action that leads from s towards s'

`Weights` is a dict of dicts of arrays: one inner dict a network (`w0 b0 w1 b1 w2 b2`), and beside the networks what
turns raw observations into their inputs (`encoder_input`, `translator_input`), so that weights alone are enough to act.
On disk they are one safetensors file with a tensor `network.name` for each.
"""

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from vmg.errors import VMGError
from vmg.files import replacing
from vmg.types import Float32s

Layers: TypeAlias = dict[str, Any]
Weights: TypeAlias = dict[str, Layers]
Tensors: TypeAlias = dict[str, Float32s]
Parts: TypeAlias = tuple[tuple[int, ...], int]
Inputs: TypeAlias = Literal["raw", "normalised", "relative", "raw relative"]

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
    here, there = _scaled(scaling, observations), _scaled_goals(scaling, observations, goals)
    return mlp(weights["translator"], _joined(here[..., scaling["columns"]], there[..., scaling["columns"]]))


def clone(weights: Weights, observations: Any, goals: Any = None) -> Any:
    """Behaviour cloning's action; `goals` are goal columns to head for, where it was trained with them."""
    scaling = weights["cloning_input"]
    here = _scaled(scaling, observations)
    if goals is None:
        return mlp(weights["cloning"], here)
    columns = scaling["columns"]
    of_goals = {**scaling, **{name: scaling[name][columns] for name in ("mean", "spread")}}
    return mlp(weights["cloning"], _joined(here, _scaled_goals(of_goals, observations[..., columns], goals)))


def embed(weights: Weights, observations: Float32s) -> Float32s:
    """Map observations to points of the metric space (numpy), a bounded number of rows at a time."""
    parts = [
        encode(weights, observations[start : start + ROWS_AT_ONCE])
        for start in range(0, len(observations), ROWS_AT_ONCE)
    ]
    return np.concatenate(parts) if parts else np.zeros((0, weights["state_encoder"]["b2"].shape[-1]), np.float32)


def network_parts(
    observation_size: int, translator_size: int, action_size: int, metric_dimension: int
) -> dict[str, Parts]:
    """What each network sees and gives, in numbers; the translator sees some of the observation only."""
    return {
        "state_encoder": ((observation_size,), metric_dimension),
        "action_encoder": ((metric_dimension, action_size), metric_dimension),
        "action_decoder": ((metric_dimension, metric_dimension), action_size),
        "translator": ((translator_size, translator_size), action_size),
    }


def layer_sizes(parts: Mapping[str, Parts], hidden_units: int) -> dict[str, tuple[int, ...]]:
    """Sizes of the layers of each network, from input to output."""
    return {name: (sum(seen), hidden_units, hidden_units, given) for name, (seen, given) in parts.items()}


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
    mean = observations.mean(0, dtype=np.float64).astype(np.float32)
    std = observations.std(0, dtype=np.float64).astype(np.float32)
    return {"mean": mean, "std": _no_zeros(std)}


def goal_scaling(
    observations: Float32s,
    inputs: Inputs,
    columns: tuple[int, ...],
    differences: Float32s | None = None,
) -> Layers:
    """Like `input_scaling` for a network with goals: which numbers it sees, and how goals enter.

    A relative goal is its difference from the observation, in units of how large such `differences` are; where they are
    not given, in units of the observations' spread.
    """
    size = observations.shape[1]
    if any(not 0 <= column < size for column in columns):
        raise VMGError(f"An observation has the columns 0 to {size - 1}, but {list(columns)} are asked for.")
    scaling = input_scaling(observations, inputs)
    relative = inputs in ("relative", "raw relative")
    spread = scaling["std"] if differences is None or not relative else _no_zeros(differences)
    return {
        **scaling,
        "spread": spread,
        "relative": np.float32(relative),
        "columns": np.array(columns, np.int32),
    }


# --- on disk ----------------------------------------------------------------------------------------------------------


def save_weights(path: Path, weights: Weights) -> None:
    """Write one model's weights, whole or not at all."""
    write_tensors(path, flat(weights), {"format": "vmg weights 1"})


def load_weights(path: Path) -> Weights:
    """Read one model's weights (numpy), or say what is missing or does not fit."""
    tensors, _ = read_tensors(path)
    return checked(tensors, path)


def flat(weights: Weights) -> Tensors:
    """Name every array of a model `network.name`."""
    return {f"{part}.{name}": array for part, layers in weights.items() for name, array in layers.items()}


def checked(tensors: Tensors, path: Path) -> Weights:
    """Put a model's arrays back in place if all are there and fit each other; `path` is named in the error."""
    for name, shape in _expected_shapes(tensors, path).items():
        if name not in tensors:
            raise VMGError(f"{path} does not hold a model: the tensor {name} is missing.")
        if tensors[name].shape != shape or tensors[name].dtype != np.float32:
            raise VMGError(
                f"{path} does not hold a model that fits together: {name} is {tensors[name].dtype} of shape "
                f"{tensors[name].shape}, but float32 of shape {shape} is needed."
            )
    columns, size = tensors["translator_input.columns"], len(tensors["encoder_input.mean"])
    if columns.dtype != np.int32 or not ((columns >= 0) & (columns < size)).all():
        raise VMGError(f"{path} does not hold a model: translator_input.columns are not columns of an observation.")
    return nested(tensors)


def nested(tensors: Tensors) -> Weights:
    """Undo `flat`."""
    weights: Weights = {}
    for name, array in tensors.items():
        part, _, leaf = name.rpartition(".")
        weights.setdefault(part, {})[leaf] = array
    return weights


def write_tensors(path: Path, tensors: Mapping[str, Any], metadata: dict[str, str]) -> None:
    """Write a safetensors file whole or not at all."""
    arrays = {name: np.asarray(array, order="C") for name, array in tensors.items()}
    with replacing(path) as beside:
        save_file(arrays, beside, metadata)


def read_tensors(path: Path) -> tuple[Tensors, dict[str, str]]:
    """Read every tensor and the metadata of a safetensors file, or say which file is missing or damaged."""
    if not path.is_file():
        raise VMGError(f"{path} does not exist.")
    try:
        with safe_open(path, framework="numpy") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise VMGError(f"{path} is not a readable safetensors file: {error}. Restore it or make it again.") from error


# --- helpers ----------------------------------------------------------------------------------------------------------


def _expected_shapes(tensors: Tensors, path: Path) -> dict[str, tuple[int, ...]]:
    sources = (
        "encoder_input.mean",
        "translator_input.columns",
        "translator.b2",
        "state_encoder.b2",
        "state_encoder.b0",
    )
    for name in sources:
        if name not in tensors or tensors[name].ndim != 1:
            raise VMGError(f"{path} does not hold a model: the tensor {name} is missing or no vector.")
    shapes: dict[str, tuple[int, ...]] = {"translator_input.relative": ()}
    for part in ("encoder_input", "translator_input"):
        shapes |= {f"{part}.{name}": tensors["encoder_input.mean"].shape for name in ("mean", "std")}
    shapes["translator_input.spread"] = tensors["encoder_input.mean"].shape
    *sizes, hidden_units = (len(tensors[name]) for name in sources)
    for part, layers in layer_sizes(network_parts(*sizes), hidden_units).items():
        for k, pair in enumerate(pairwise(layers)):
            shapes |= {f"{part}.w{k}": pair, f"{part}.b{k}": pair[1:]}
    return shapes


def _scaled(scaling: Layers, observations: Any) -> Any:
    return (observations - scaling["mean"]) / scaling["std"]


def _scaled_goals(scaling: Layers, observations: Any, goals: Any) -> Any:
    relative = scaling["relative"]
    return (goals - (relative * observations + (1 - relative) * scaling["mean"])) / scaling["spread"]


def _no_zeros(spread: Float32s) -> Float32s:
    """A reading that never changes stays where it is."""
    return np.where(spread > 1e-6, spread, np.float32(1)).astype(np.float32)


def _joined(left: Any, right: Any) -> Any:
    namespace = left.__array_namespace__()  # numpy's or JAX's own
    return namespace.concat([left, right], axis=-1)
