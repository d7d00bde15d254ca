"""The compiled loop: a thousand updates of every model in one call, with the data on the device.

Models side by side share what a model must share, but each has its seed and may have data and choices of its own.

Step i of the model with seed s draws from fold_in(key(s), i) and from nothing else, so that any step can be run again
from the weights, Adam's moments, the averages and the step's number alone.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple, TypeAlias, TypeVar

import jax
import jax.numpy as jnp
import optax  # type: ignore[import-untyped]

from vmg.learn.metric import Loss
from vmg.learn.models import Model, Sample, Steps
from vmg.networks.lowlevel import Numbers
from vmg.networks.weights import Weights

Losses: TypeAlias = dict[str, jax.Array]
T = TypeVar("T")

VALIDATION_BATCHES = 10
VALIDATION_SEED = 0


class Own(NamedTuple):
    """What a model has of its own and keeps; every array has one leading entry per model."""

    seed: jax.Array
    first: jax.Array
    """First of the steps it learns from."""
    size: jax.Array
    """How many they are."""
    scales: Weights
    """Mean and spread of its data, for each input, and whether goals are differences."""
    numbers: Numbers


class State(NamedTuple):
    """All that changes while learning; every array has one leading entry per model."""

    weights: Weights
    adam: optax.ScaleByAdamState
    average: Weights
    """Networks whose weights are averaged over updates: what is used of them in the end."""

    @property
    def learned(self) -> Weights:
        """The weights to act with."""
        return self.weights | self.average


def initial_state(weights: Weights, averaged: Iterable[str] = ()) -> State:
    """Start Adam at these weights (one leading entry per model), and the average of the networks named."""
    average = jax.tree.map(jnp.array, {part: weights[part] for part in averaged})
    return State(jax.tree.map(jnp.asarray, weights), jax.vmap(_ADAM.init)(weights), average)


def state_at(step: int, weights: Weights, mu: Weights, nu: Weights, average: Weights) -> State:
    """Put a state together again from weights, Adam's moments and averages after so many steps."""
    n_models = len(jax.tree.leaves(weights)[0])
    return State(weights, optax.ScaleByAdamState(count=jnp.full(n_models, step, jnp.int32), mu=mu, nu=nu), average)


@partial(jax.jit, static_argnames=("model", "length"), donate_argnames="state")
def run_chunk(
    state: State,
    own: Own,
    inputs: Weights,
    start: jax.Array,
    steps: Steps,
    *,
    model: Model,
    length: int,
) -> tuple[State, Losses]:
    """Take `length` steps from step `start`; return the state and the losses of each (model, step).

    `inputs` is what the inputs of all models share: which numbers they see.
    """

    def learn(one: tuple[State, Own]) -> tuple[State, Losses]:
        state, own = one
        samples = _drawn(own, start, steps, model, length)  # out of the loop: fewer kernels in it
        return _learn(state, own, _joined(inputs, own.scales), samples, steps, model)

    return _each_model(learn, (state, own))


@partial(jax.jit, static_argnames=("model", "length"))
def draw_chunk(own: Own, start: jax.Array, steps: Steps, *, model: Model, length: int) -> Sample:
    """Draw the batches of each (model, step) that `run_chunk` would draw."""
    return _each_model(lambda one: _drawn(one, start, steps, model, length), own)


@partial(jax.jit, static_argnames="model", donate_argnames="state")
def run_drawn(
    state: State, own: Own, inputs: Weights, samples: Sample, steps: Steps, *, model: Model
) -> tuple[State, Losses]:
    """Take the steps of batches that were drawn before, as `run_chunk` takes its own."""

    def learn(one: tuple[State, Own, Sample]) -> tuple[State, Losses]:
        state, own, samples = one
        return _learn(state, own, _joined(inputs, own.scales), samples, steps, model)

    return _each_model(learn, (state, own, samples))


@partial(jax.jit, static_argnames="model")
def validation_losses(weights: Weights, inputs: Weights, steps: Steps, numbers: Numbers, *, model: Model) -> Losses:
    """Losses of each model, the mean over batches that are the same at every call."""
    keys = jax.random.split(_key(VALIDATION_SEED), VALIDATION_BATCHES)
    samples = jax.vmap(lambda key: model.sample(key, steps, numbers))(keys)

    def validate(one: Weights) -> Losses:
        infos = jax.lax.map(lambda sample: model.loss(one | inputs, steps, sample, numbers)[1], samples)
        return {name: jnp.mean(losses) for name, losses in infos.items()}

    return _each_model(validate, weights)


_ADAM = optax.scale_by_adam()


def _drawn(own: Own, start: jax.Array, steps: Steps, model: Model, length: int) -> Sample:
    """Draw the batches of one model's steps."""
    mine = steps._replace(first=own.first, size=own.size)
    keys = jax.vmap(partial(jax.random.fold_in, _key(own.seed)))(start + jnp.arange(length))
    return jax.vmap(lambda key: model.sample(key, mine, own.numbers))(keys)


def _learn(
    state: State, own: Own, inputs: Weights, samples: Sample, steps: Steps, model: Model
) -> tuple[State, Losses]:
    @partial(jax.grad, has_aux=True)
    def gradient(weights: Weights, sample: Sample) -> Loss:
        return model.loss(weights | inputs, steps, sample, own.numbers)

    def step(state: State, sample: Sample) -> tuple[State, Losses]:
        grads, info = gradient(state.weights, sample)
        updates, adam = _ADAM.update(grads, state.adam)
        weights = _updated(state.weights, updates, model, own.numbers)
        return State(weights, adam, _averaged(state.average, weights, adam.count, model)), info

    return jax.lax.scan(step, state, samples)


def _updated(weights: Weights, updates: Weights, model: Model, numbers: Numbers) -> Weights:
    """Take a step of Adam and, in networks with weight decay, a little off every weight."""
    rate = model.config.learning_rate
    stepped: Weights = jax.tree.map(lambda w, u: w - rate * u, weights, updates)
    for part, decay in model.decay.items():
        stepped[part] = jax.tree.map(partial(_decayed, rate * numbers[decay]), stepped[part], weights[part])
    return stepped


def _decayed(share: jax.Array, new: jax.Array, w: jax.Array) -> jax.Array:
    return new - share * w


def _averaged(average: Weights, weights: Weights, count: jax.Array, model: Model) -> Weights:
    """Move the averages towards the weights: their plain mean at first, then one that forgets."""
    return {
        part: jax.tree.map(partial(_moved, jnp.maximum(1 / model.averaged[part], 1 / count)), layers, weights[part])
        for part, layers in average.items()
    }


def _moved(share: jax.Array, mean: jax.Array, w: jax.Array) -> jax.Array:
    return mean + share * (w - mean)


def _joined(inputs: Weights, scales: Weights) -> Weights:
    return {part: inputs[part] | scales[part] for part in inputs}


def batched() -> bool:
    """Tell whether models are computed at once. On a CPU they run one by one, bit-identical to training alone."""
    return jax.default_backend() != "cpu"


def _each_model(function: Callable[[Any], T], models: Any) -> T:
    if batched() and len(jax.tree.leaves(models)[0]) > 1:
        return jax.vmap(function)(models)
    mapped: T = jax.lax.map(function, models)
    return mapped


def _key(seed: jax.Array | int) -> jax.Array:
    return jax.random.key(seed, impl="threefry2x32")
