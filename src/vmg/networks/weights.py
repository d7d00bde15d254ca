"""`Weights`: every array of a model, and their file.

A dict of dicts of arrays: one inner dict per network (`w0 b0 w1 b1 w2 b2`), and beside the networks what turns raw
observations into their inputs (`encoder_input`, `translator_input`), so that weights alone are enough to act. On disk
they are one safetensors file with a tensor `network.name` for each: opening it can never run code.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from vmg.base.errors import VMGError
from vmg.base.files import reading, replacing
from vmg.base.types import Float32s
from vmg.networks.mlp import Layers

Weights: TypeAlias = dict[str, Layers]
Tensors: TypeAlias = dict[str, Float32s]


def save_weights(path: Path, weights: Weights) -> None:
    """Write one model's weights, whole or not at all."""
    write_tensors(path, flat(weights), {"format": "vmg weights 1"})


def flat(weights: Weights) -> Tensors:
    """Name every array of a model `network.name`."""
    return {f"{part}.{name}": array for part, layers in weights.items() for name, array in layers.items()}


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
        try:
            save_file(arrays, beside, metadata)
        except SafetensorError as error:  # in which it wraps what the system says
            raise OSError(str(error)) from error


def read_tensors(path: Path) -> tuple[Tensors, dict[str, str]]:
    """Read every tensor and the metadata of a safetensors file, or say which file is missing or damaged."""
    with reading(path, "safetensors file"), safe_open(path, framework="numpy") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118


def check_tensors(tensors: Tensors, shapes: Mapping[str, tuple[int, ...]], path: Path) -> None:
    """Refuse a model in which one of these float32 tensors is missing, of another shape, or not finite."""
    for name, shape in shapes.items():
        if name not in tensors:
            raise VMGError(f"{path} does not hold a model: the tensor {name} is missing.")
        if tensors[name].shape != shape or tensors[name].dtype != np.float32:
            raise VMGError(
                f"{path} does not hold a model that fits together: {name} is {tensors[name].dtype} of shape "
                f"{tensors[name].shape}, but float32 of shape {shape} is needed."
            )
        if not np.isfinite(tensors[name]).all():
            raise VMGError(f"{path} does not hold a model: {name} has numbers that are not finite. Train it again.")
    networks = {name.rpartition(".")[0] for name in shapes if name.endswith(".w0")}
    for name in tensors:
        if name.rpartition(".")[0] in networks and name not in shapes:
            raise VMGError(f"{path} does not hold a model that fits together: there is no place for {name}.")
