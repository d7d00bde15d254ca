"""Models as the loop wants them (one array for all, a leading entry per model) and as all others do (one by one)."""

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from vmg.base.types import Int64s
from vmg.networks.mlp import Layers, Parts, initial_layers
from vmg.networks.weights import Weights


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


def widened(together: Weights, own: Mapping[str, Parts], wide: Mapping[str, Parts]) -> Weights:
    """Give networks more inputs and outputs, with zero weights.

    Training leaves them at zero, and the rest as it would be: the added inputs are zero, so are the added outputs and
    what they are compared with, and with them every added gradient.
    """
    return {name: _widened(layers, own[name], wide[name]) for name, layers in together.items()}


def narrowed(together: Weights, own: Mapping[str, Parts], wide: Mapping[str, Parts]) -> Weights:
    """Undo `widened`."""
    return {name: _narrowed(layers, own[name], wide[name]) for name, layers in together.items()}


def widest(networks: Sequence[Mapping[str, Parts]]) -> dict[str, Parts]:
    """Return what each network sees and gives at most."""
    return {
        name: (
            tuple(max(sizes) for sizes in zip(*(parts[name][0] for parts in networks), strict=True)),
            max(parts[name][1] for parts in networks),
        )
        for name in networks[0]
    }


def _widened(layers: Layers, own: Parts, wide: Parts) -> Layers:
    if own == wide:
        return layers
    last, (seen, given) = len(layers) // 2 - 1, wide
    *models, _, hidden = layers["w0"].shape
    first = np.zeros((*models, sum(seen), hidden), np.float32)
    first[..., _rows(own, wide), :] = layers["w0"]
    added = [(0, 0)] * len(models)
    ends = {name: np.pad(layers[name], [*added, *inner, (0, given - own[1])])
            for name, inner in ((f"w{last}", [(0, 0)]), (f"b{last}", []))}  # fmt: skip
    return {**layers, "w0": first, **ends}


def _narrowed(layers: Layers, own: Parts, wide: Parts) -> Layers:
    if own == wide:
        return layers
    last = len(layers) // 2 - 1
    ends = {name: layers[name][..., : own[1]] for name in (f"w{last}", f"b{last}")}
    return {**layers, "w0": layers["w0"][..., _rows(own, wide), :], **ends}


def _rows(own: Parts, wide: Parts) -> Int64s:
    """Where the inputs lie in the wider network: each part keeps its beginning."""
    begins = np.cumsum([0, *wide[0][:-1]])
    return np.concatenate([begin + np.arange(size) for begin, size in zip(begins, own[0], strict=True)])
