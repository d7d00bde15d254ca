"""The two networks that act, made ready once, for one observation after the other (numpy)."""

import numpy as np

from vmg.networks import Layers, Weights
from vmg.types import Float32s

Pairs = list[tuple[Float32s, Float32s]]
"""Weights and biases, layer by layer."""


class ActingNetworks:
    """Give what `vmg.networks.encode` and `translate` give, for tables of observations; for one row in half the time.

    Whatever does not depend on the observation is done beforehand, and a table of one row is handled as a vector.
    """

    def __init__(self, weights: Weights) -> None:
        seen, scaling = weights["encoder_input"], weights["translator_input"]
        self._encoder, self._translator = _pairs(weights["state_encoder"]), _pairs(weights["translator"])
        self._encoder_mean, self._encoder_std = seen["mean"], seen["std"]
        self._columns = scaling["columns"].astype(np.intp)
        self._mean, self._std, self._spread = (scaling[name][self._columns] for name in ("mean", "std", "spread"))
        self._relative = bool(scaling["relative"])

    def encode(self, observations: Float32s) -> Float32s:
        """Enc_s: observations → points of the metric space."""
        if len(observations) == 1:
            return self._encode(observations[0])[None]
        return self._encode(observations)

    def translate(self, observations: Float32s, goals: Float32s) -> Float32s:
        """Tran: the action that leads from each observation towards its goal observation."""
        if len(observations) == 1:
            return self._translate(observations[0], goals[0])[None]
        return self._translate(observations, goals)

    def _encode(self, observations: Float32s) -> Float32s:
        return _through(self._encoder, (observations - self._encoder_mean) / self._encoder_std)

    def _translate(self, observations: Float32s, goals: Float32s) -> Float32s:
        here, there = observations.take(self._columns, -1), goals.take(self._columns, -1)
        there -= here if self._relative else self._mean
        there /= self._spread
        here -= self._mean
        here /= self._std
        return _through(self._translator, np.concatenate((here, there), axis=-1))


def _pairs(layers: Layers) -> Pairs:
    return [(layers[f"w{k}"], layers[f"b{k}"]) for k in range(len(layers) // 2)]


def _through(pairs: Pairs, x: Float32s) -> Float32s:
    *hidden, (weights, biases) = pairs
    for w, b in hidden:
        x = x.dot(w)
        x += b
        np.maximum(x, 0, out=x)
    x = x.dot(weights)
    x += biases
    return x
