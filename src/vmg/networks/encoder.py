"""The networks of the metric space: state encoder, action encoder and action decoder.

    state encoder    Enc_s   s           → f           where a state lies in the metric space
    action encoder   Enc_a   f, a        → Δf          where an action leads from there
    action decoder   Dec_a   f, Δf       → ã           the action again
    action spread            f, Δf       → log σ       of the program's decoder, which draws the action

Only the state encoder is needed once the graph is to be built or followed.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from vmg.base.arguments import numbers_of
from vmg.base.errors import VMGError
from vmg.base.types import Float32s
from vmg.data.mapping import first_not_finite
from vmg.networks.angles import ANGLES, COLUMN, turned
from vmg.networks.mlp import Parts, mlp, pairs, scaled, through, through_exactly
from vmg.networks.weights import Weights

ROWS_AT_ONCE = 65_536  # bounds the memory of the hidden layers: 64 MiB at 256 units

ROWS_ALIKE = 4_096


def metric_parts(
    observation_size: int, action_size: int, metric_dimension: int, *, sampled: bool = False
) -> dict[str, Parts]:
    """What each network of the metric space sees and gives; `sampled`: with a network for the decoder's spread."""
    parts = {
        "state_encoder": ((observation_size,), metric_dimension),
        "action_encoder": ((metric_dimension, action_size), metric_dimension),
        "action_decoder": ((metric_dimension, metric_dimension), action_size),
    }
    return {**parts, "action_spread": parts["action_decoder"]} if sampled else parts


def encode(weights: Weights, observations: Any) -> Any:
    """Enc_s: observations, as networks see them → points of the metric space."""
    return mlp(weights["state_encoder"], scaled(weights["encoder_input"], observations))


def embed(weights: Weights, observations: Float32s) -> Float32s:
    """Map observations to points of the metric space (numpy), a bounded number of rows at a time."""
    rows, dimension = _checked(weights, observations)
    features = np.empty((len(rows), dimension), np.float32)
    for start in range(0, len(rows), ROWS_AT_ONCE):
        features[start : start + ROWS_AT_ONCE] = encode(weights, turned(weights, rows[start : start + ROWS_AT_ONCE]))
    return features


def embed_alike(weights: Weights, observations: Float32s, *, workers: int = 1) -> Float32s:
    """Do what `embed` does, each row to the same bits whichever rows are with it: what graphs are built from.

    `workers`: cores that take a block each. One alone leaves them to the matrix library, which uses them less well.
    """
    rows, dimension = _checked(weights, observations)
    features, layers = np.empty((len(rows), dimension), np.float32), pairs(weights["state_encoder"])

    def fill(start: int) -> None:
        block = scaled(weights["encoder_input"], turned(weights, rows[start : start + ROWS_ALIKE]))
        features[start : start + ROWS_ALIKE] = through_exactly(layers, block)

    starts = range(0, len(rows), ROWS_ALIKE)
    if min(workers, len(starts)) > 1:
        with threadpool_limits(1), ThreadPoolExecutor(workers) as threads:
            list(threads.map(fill, starts))
    else:
        for start in starts:
            fill(start)
    return features


def _checked(weights: Weights, observations: Float32s) -> tuple[Float32s, int]:
    """Return rows of observations that fit a model, and the dimensions of its metric space."""
    rows = numbers_of(observations, "Observations", np.float32)
    try:
        size, dimension = len(weights["encoder_input"]["mean"]), weights["state_encoder"]["b2"].shape[-1]
    except (KeyError, TypeError, IndexError) as error:
        raise VMGError(f"These are not the weights of a model: there is no {error}.") from error
    size -= len(weights[ANGLES][COLUMN]) if ANGLES in weights else 0
    if rows.ndim != 2 or rows.shape[1] != size or first_not_finite(rows) is not None:
        raise VMGError(
            f"Observations of this model are rows of {size} finite numbers; the shape given is {rows.shape}."
        )
    return rows, dimension


class Encoder:
    """`encode` made ready once, for one observation after another; a single row is handled as a vector."""

    def __init__(self, weights: Weights) -> None:
        self._weights, self._layers = weights, pairs(weights["state_encoder"])
        self._mean, self._std = weights["encoder_input"]["mean"], weights["encoder_input"]["std"]

    def __call__(self, observations: Float32s) -> Float32s:
        """Enc_s: a table of observations → points of the metric space."""
        observations = turned(self._weights, observations)
        if len(observations) == 1:
            return self._encode(observations[0])[None]
        return self._encode(observations)

    def _encode(self, observations: Float32s) -> Float32s:
        return through(self._layers, (observations - self._mean) / self._std)
