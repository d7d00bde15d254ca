"""Models as the loop wants them (one array for all, a leading entry a model) and as everyone else does (one by one)."""

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from vmg.networks import Weights, initial_layers


def initial_models(sizes: Mapping[str, tuple[int, ...]], seeds: Sequence[int]) -> Weights:
    """Stack the initial weights of every seed, drawn by numpy so that they are the same whatever the version of JAX."""
    rngs = [np.random.default_rng(seed) for seed in seeds]
    return stacked([{name: initial_layers(rng, layers) for name, layers in sizes.items()} for rng in rngs])


def stacked(models: Sequence[Weights]) -> Weights:
    """Join the models' arrays along a new leading axis."""
    together: Weights = jax.tree.map(lambda *arrays: np.stack(arrays), *models)
    return together


def joined(parts: Sequence[Any]) -> Any:
    """Put groups of models side by side."""
    return jax.tree.map(lambda *arrays: np.concatenate(arrays), *parts)


def taken(together: Any, which: slice | int) -> Any:
    """Take some of the models, or one."""
    return jax.tree.map(lambda array: array[which], together)


def separate(together: Weights, inputs: Weights) -> list[Weights]:
    """Take the models apart again, each complete with its inputs' scaling, as numpy arrays of its own."""
    n_models = len(jax.tree.leaves(together)[0])
    return [jax.tree.map(np.array, taken(together, i) | inputs) for i in range(n_models)]
