"""Losses of networks on any episodes, such as those that came later."""

import jax
import jax.numpy as jnp

from vmg.data.episodes import Episodes
from vmg.learn.config import LearnConfig
from vmg.learn.loop import validation_losses
from vmg.learn.models import AgentModel, on_device, spans
from vmg.networks.angles import turned_episodes
from vmg.networks.weights import Weights


def losses_on(weights: Weights, config: LearnConfig, *data: Episodes) -> list[dict[str, float]]:
    """Return the losses worth watching of one model on each set of episodes, by name; nothing is learned."""
    model, data = AgentModel(config), tuple(turned_episodes(each, weights) for each in data)
    networks = model.parts(data[0])
    learned = {part: jax.tree.map(lambda array: array[None], weights[part]) for part in networks if part in weights}
    inputs = {part: arrays for part, arrays in weights.items() if part not in networks}
    steps, numbers = (
        on_device(*data, model=model),
        model.numbers(),
    )  # one table for all, so that the losses are compiled once
    names = [name for name in model.headline if name not in model.dropped]
    found = []
    for first, size in zip(*map(jnp.asarray, spans(data)), strict=True):
        losses = validation_losses(learned, inputs, steps._replace(first=first, size=size), numbers, model=model)
        found.append({name: float(losses[name][0]) for name in names if name in losses})
    return found
