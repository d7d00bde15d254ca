"""The compiled loop: a thousand updates of every model in one call, with the data on the device.

Step i of the model with seed s draws from fold_in(key(s), i) and from nothing else, so that any step can be run again
from the weights, Adam's moments and the step's number alone.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
import optax  # type: ignore[import-untyped]

from vmg.data.episodes import Episodes
from vmg.learn.config import LearnConfig
from vmg.learn.metric import Loss, metric_loss
from vmg.learn.translator import sample_goals, translator_loss
from vmg.networks import Weights

Losses: TypeAlias = dict[str, jax.Array]
T = TypeVar("T")

VALIDATION_BATCHES = 10
VALIDATION_SEED = 0


class Steps(NamedTuple):
    """What a step's batch is taken from, on the device."""

    observations: jax.Array
    actions: jax.Array
    step_observation: jax.Array
    steps_left: jax.Array


class Draw(NamedTuple):
    """One batch: which steps, and the rows of their observations and goals."""

    step: jax.Array
    row_t: jax.Array
    row_tpk: jax.Array


class State(NamedTuple):
    """All that changes while learning; every array has one leading entry a model."""

    weights: Weights
    adam: optax.ScaleByAdamState


def on_device(episodes: Episodes) -> Steps:
    """Move the steps of the episodes to the device."""
    rows, left = episodes.step_observation.astype(np.int32), episodes.steps_left.astype(np.int32)
    return Steps(*map(jnp.asarray, (episodes.observations, episodes.actions, rows, left)))


def initial_state(weights: Weights) -> State:
    """Start Adam at these weights (one leading entry a model)."""
    return State(jax.tree.map(jnp.asarray, weights), jax.vmap(_ADAM.init)(weights))


def state_at(step: int, weights: Weights, mu: Weights, nu: Weights) -> State:
    """Put a state together again from weights and Adam's moments after so many steps."""
    n_models = len(jax.tree.leaves(weights)[0])
    return State(weights, optax.ScaleByAdamState(count=jnp.full(n_models, step, jnp.int32), mu=mu, nu=nu))


@partial(jax.jit, static_argnames=("config", "length"), donate_argnames="state")
def run_chunk(
    state: State, inputs: Weights, seeds: jax.Array, start: jax.Array, steps: Steps, *, config: LearnConfig, length: int
) -> tuple[State, Losses]:
    """Take `length` steps from step `start`; return the state and the losses of each (model, step)."""

    def learn(one: tuple[State, jax.Array]) -> tuple[State, Losses]:
        return _learn(*one, inputs, start, steps, config, length)

    return _each_model(learn, (state, seeds))


@partial(jax.jit, static_argnames="config")
def validation_losses(weights: Weights, inputs: Weights, steps: Steps, *, config: LearnConfig) -> Losses:
    """Losses of each model, the mean over batches that are the same at every call."""
    keys = jax.random.split(_key(VALIDATION_SEED), VALIDATION_BATCHES)
    draws = jax.vmap(lambda key: draw_batch(key, steps, config))(keys)

    def validate(one: Weights) -> Losses:
        infos = jax.lax.map(lambda draw: batch_loss(one, inputs, steps, draw, config)[1], draws)
        return {name: jnp.mean(losses) for name, losses in infos.items()}

    return _each_model(validate, weights)


def draw_batch(key: jax.Array, steps: Steps, config: LearnConfig) -> Draw:
    """Draw a batch of steps uniformly, with replacement, and a goal for each."""
    step_key, goal_key = jax.random.split(key)
    step = jax.random.randint(step_key, (config.batch_size,), 0, len(steps.actions), jnp.int32)
    row_t = steps.step_observation[step]
    return Draw(step, row_t, sample_goals(goal_key, row_t, steps.steps_left[step], horizon=config.goal_horizon))


def batch_loss(weights: Weights, inputs: Weights, steps: Steps, draw: Draw, config: LearnConfig) -> Loss:
    """L_metric + L_Tran on one batch; they share no weights, so their gradients do not mix."""
    weights = weights | inputs
    o_t, a_t = steps.observations[draw.row_t], steps.actions[draw.step]
    l_metric, metric_info = metric_loss(weights, o_t, a_t, steps.observations[draw.row_t + 1], config)
    l_tran, translator_info = translator_loss(weights, o_t, a_t, steps.observations[draw.row_tpk])
    return l_metric + l_tran, metric_info | translator_info


_ADAM = optax.scale_by_adam()


def _learn(
    state: State, seed: jax.Array, inputs: Weights, start: jax.Array, steps: Steps, config: LearnConfig, length: int
) -> tuple[State, Losses]:
    keys = jax.vmap(partial(jax.random.fold_in, _key(seed)))(start + jnp.arange(length))
    draws = jax.vmap(lambda key: draw_batch(key, steps, config))(keys)  # out of the loop: fewer kernels in it
    gradient = jax.grad(batch_loss, has_aux=True)

    def step(state: State, draw: Draw) -> tuple[State, Losses]:
        grads, info = gradient(state.weights, inputs, steps, draw, config)
        updates, adam = _ADAM.update(grads, state.adam)
        weights = jax.tree.map(lambda w, u: w - config.learning_rate * u, state.weights, updates)
        return State(weights, adam), info

    return jax.lax.scan(step, state, draws)


def _each_model(function: Callable[[Any], T], models: Any) -> T:
    n_models = len(jax.tree.leaves(models)[0])
    if n_models == 1 or jax.default_backend() == "cpu":
        mapped: T = jax.lax.map(
            function, models
        )  # as fast there as batched products, and to the bit what each is alone
        return mapped
    return jax.vmap(function)(models)


def _key(seed: jax.Array | int) -> jax.Array:
    return jax.random.key(seed, impl="threefry2x32")
