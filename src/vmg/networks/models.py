"""Whole models on disk: the metric space's networks and a low-level policy's, checked against each other."""

from pathlib import Path

import numpy as np

from vmg.base.errors import VMGError
from vmg.networks.actions import ACTIONS
from vmg.networks.angles import ANGLES, COLUMN, TURN
from vmg.networks.encoder import metric_parts
from vmg.networks.lowlevel import LowLevel
from vmg.networks.lowlevel.translator import Translator
from vmg.networks.mlp import layer_shapes
from vmg.networks.weights import Tensors, Weights, check_tensors, nested, read_tensors


def load_weights(path: Path, low_level: LowLevel | None = None) -> Weights:
    """Read one model's weights (numpy), or say what is missing or does not fit."""
    return checked_model(read_tensors(path)[0], path, low_level or Translator())


def checked_model(tensors: Tensors, path: Path, low_level: LowLevel) -> Weights:
    """Put a model's arrays back in place if all are there and fit each other; `path` is named in the error."""
    low_level = low_level.turned(_angles(tensors, path))
    sources = ("encoder_input.mean", "action_decoder.b2", "state_encoder.b2", "state_encoder.b0")
    for name in sources:
        if name not in tensors or tensors[name].ndim != 1:
            raise VMGError(f"{path} does not hold a model: the tensor {name} is missing or no vector.")
    observation_size, action_size, dimension, hidden = (len(tensors[name]) for name in sources)
    shapes: dict[str, tuple[int, ...]] = {f"encoder_input.{name}": (observation_size,) for name in ("mean", "std")}
    shapes |= layer_shapes(metric_parts(observation_size, action_size, dimension), hidden)
    shapes |= low_level.shapes(tensors, observation_size, action_size, hidden)
    if any(name.startswith(f"{ACTIONS}.") for name in tensors):
        shapes |= {f"{ACTIONS}.{name}": (action_size,) for name in ("mean", "std")}
    check_tensors(tensors, shapes, path)
    for name in tensors:
        if name.endswith((".std", ".spread")) and not (tensors[name] > 0).all():
            raise VMGError(f"{path} does not hold a model: {name} must be above 0, since inputs are divided by it.")
    if problem := low_level.check(tensors, observation_size):
        raise VMGError(f"{path} does not hold a model: {problem}.")
    return nested(tensors)


def _angles(tensors: Tensors, path: Path) -> tuple[int, ...]:
    """Return the columns that a model sees as angles, if what says so is sound."""
    if not any(name.startswith(f"{ANGLES}.") for name in tensors):
        return ()
    names = [f"{ANGLES}.{name}" for name in (COLUMN, TURN)]
    columns, turns = (np.asarray(tensors.get(name, ())) for name in names)
    room = len(tensors.get("encoder_input.mean", ())) - len(columns)
    fit = columns.dtype == np.int32 and turns.dtype == np.float32 and columns.shape == turns.shape == (len(columns),)
    if not fit or not ((columns >= 0) & (columns < room)).all() or not (np.isfinite(turns) & (turns > 0)).all():
        raise VMGError(f"{path} does not hold a model: {' and '.join(names)} do not name angles of an observation.")
    if (np.diff(columns) <= 0).any():
        raise VMGError(f"{path} does not hold a model: {names[0]} must name columns from the first to the last.")
    return tuple(columns.tolist())
