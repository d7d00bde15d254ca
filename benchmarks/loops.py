"""The training loop of `vmg.learn.loop` once more, so that it can be changed in one way or run with a part left out.

draw ─▶ gather ─▶ losses ─▶ gradients ─▶ Adam
└ "batches" ┘         │          │         │
└──── "losses" ───────┘          │         │
└──── "gradients" (plain descent)┘         │
└──── "all" ───────────────────────────────┘
"""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import optax  # type: ignore[import-untyped]
from jax.flatten_util import ravel_pytree

from benchmarks.our_training import group_of
from vmg.data.episodes import Episodes
from vmg.learn import LearnConfig
from vmg.learn.loop import Own
from vmg.learn.models import Sample
from vmg.learn.stacking import initial_models
from vmg.networks import Weights

Part: TypeAlias = Literal["batches", "losses", "gradients", "all"]


@dataclass(frozen=True)
class Variant:
    """What is changed; the defaults are the loop as it is."""

    models: int = 1
    batch_size: int = 100
    length: int = 1000
    """Steps in one call."""
    unroll: int = 1
    """Steps written out in the loop's body."""
    precision: str | None = None
    """Of matrix products; None: JAX's own choice, TF32 on cards that have it."""
    half: bool = False
    """Losses and gradients in bfloat16 altogether, weights and Adam in float32."""
    flat: bool = False
    """All weights as one vector, so that Adam is one kernel."""
    options: tuple[tuple[str, bool | int | str], ...] = ()
    """Of the compiler, by name."""
    part: Part = "all"


class Loop:
    """A variant that can be run."""

    def __init__(self, episodes: Episodes, variant: Variant) -> None:
        self.variant = variant
        group = group_of(episodes, variant.models, LearnConfig(batch_size=variant.batch_size))
        (learner,) = group.learners
        weights = jax.tree.map(jnp.asarray, initial_models(learner.sizes, learner.seeds))
        unravel = ravel_pytree(jax.tree.map(lambda leaf: leaf[0], weights))[1]
        self.fixed = (group.own, group.inputs, group.steps)
        self.unravel: Callable[[Any], Weights] = unravel if variant.flat else lambda weights: weights
        if variant.flat:
            weights = jax.vmap(lambda one: ravel_pytree(one)[0])(weights)
        self.state = (weights, jax.vmap(_ADAM.init)(weights))
        chunk = partial(self._chunk, model=group.model)
        self._run = jax.jit(chunk, donate_argnums=0, compiler_options=dict(variant.options))
        self.done = 0

    def run(self) -> Any:
        """Take the variant's steps, wait for them, and return their losses."""
        precision = self.variant.precision
        with jax.default_matmul_precision(precision) if precision else nullcontext():
            self.state, losses = self._run(self.state, *self.fixed, np.int32(self.done))
        self.done += self.variant.length
        return jax.device_get(losses)

    def _chunk(self, state: Any, own: Own, inputs: Weights, steps: Any, start: Any, model: Any) -> Any:
        variant = self.variant

        def learn(one: Any) -> Any:
            state, own = one
            mine = steps._replace(first=own.first, size=own.size)
            scaled = {part: inputs[part] | own.scales[part] for part in inputs}
            key = jax.random.key(own.seed, impl="threefry2x32")
            keys = jax.vmap(partial(jax.random.fold_in, key))(start + jnp.arange(variant.length))
            samples = jax.vmap(lambda key: model.sample(key, mine, own.numbers))(keys)
            step = _step(variant, partial(self._loss, scaled, mine, own.numbers, model))
            return jax.lax.scan(step, state, samples, unroll=variant.unroll)

        if variant.models == 1 or jax.default_backend() == "cpu":
            return jax.lax.map(learn, (state, own))
        return jax.vmap(learn)((state, own))

    def _loss(self, scaled: Any, steps: Any, numbers: Any, model: Any, weights: Any, sample: Sample) -> Any:
        if self.variant.part == "batches":
            rows = (sample.row_t, sample.row_t + 1, sample.row_goal)
            return sum(steps.observations[each].sum() for each in rows) + steps.actions[sample.step].sum(), {}
        whole = self.unravel(weights) | scaled
        if self.variant.half:
            whole, steps = jax.tree.map(_halved, (whole, steps))
        return model.loss(whole, steps, sample, numbers)


_ADAM = optax.scale_by_adam()
_RATE = LearnConfig().learning_rate


def _step(variant: Variant, loss: Callable[[Any, Sample], Any]) -> Callable[[Any, Sample], Any]:
    """Return one step of the loop: state and sample in, state and losses out."""

    def step(state: Any, sample: Sample) -> Any:
        weights, adam = state
        if variant.part in ("batches", "losses"):
            return state, loss(weights, sample)
        gradient, losses = jax.grad(loss, has_aux=True)(weights, sample)
        if variant.part == "all":
            gradient, adam = _ADAM.update(gradient, adam)
        return (jax.tree.map(lambda w, g: w - _RATE * g, weights, gradient), adam), losses

    return step


def _halved(leaf: Any) -> Any:
    return leaf.astype(jnp.bfloat16) if jnp.issubdtype(jnp.asarray(leaf).dtype, jnp.floating) else leaf
