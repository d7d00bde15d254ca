"""Models as the loop wants them (one array for all, a leading entry a model) and as everyone else does (one by one)."""

from collections.abc import Sequence

import jax
import numpy as np

from vmg.data.episodes import Episodes
from vmg.learn.config import LearnConfig
from vmg.networks import Weights, initial_layers, input_scaling, network_sizes


def initial_models(episodes: Episodes, config: LearnConfig, seeds: Sequence[int]) -> Weights:
    """Stack the initial weights of every seed, drawn by numpy so that they are the same whatever the version of JAX."""
    sizes = network_sizes(episodes.observation_size, episodes.action_size, config.metric_dimension, config.hidden_units)
    rngs = [np.random.default_rng(seed) for seed in seeds]
    models = [{name: initial_layers(rng, layers) for name, layers in sizes.items()} for rng in rngs]
    return stacked(models)


def input_scalings(episodes: Episodes, config: LearnConfig) -> Weights:
    """What turns these episodes' observations into the networks' inputs; the same for every model."""
    return {
        "encoder_input": input_scaling(episodes.observations, config.encoder_inputs, with_goal=False),
        "translator_input": input_scaling(episodes.observations, config.translator_inputs, with_goal=True),
    }


def stacked(models: Sequence[Weights]) -> Weights:
    """Join the models' arrays along a new leading axis."""
    together: Weights = jax.tree.map(lambda *arrays: np.stack(arrays), *models)
    return together


def separate(together: Weights, inputs: Weights) -> list[Weights]:
    """Take the models apart again, each complete with its inputs' scaling, as numpy arrays of its own."""
    n_models = len(together["translator"]["b0"])
    return [jax.tree.map(np.array, _at(together, i) | inputs) for i in range(n_models)]


def _at(together: Weights, i: int) -> Weights:
    one: Weights = jax.tree.map(lambda array: array[i], together)
    return one
