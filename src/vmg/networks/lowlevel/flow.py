"""Flow matching as a low-level policy: actions drawn from all that were recorded, instead of their mean.

velocity         v       s, s', x, τ → dx/dτ       carries noise x at τ = 0 to an action at τ = 1

Where people did now this and now that, the mean of both may be neither. A network learns the straight lines from noise
to the recorded actions (conditional flow matching); to act, noise is carried along them in a few steps of Euler's.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np

from vmg.base.errors import VMGError
from vmg.base.lazy import LazyModule
from vmg.base.settings import Bounds
from vmg.base.types import Float32s
from vmg.networks.lowlevel.base import LOW_LEVELS, Act, Batch, Numbers
from vmg.networks.lowlevel.translator import Sight, Translator, seen
from vmg.networks.mlp import Parts, mlp, pairs, side_by_side, through
from vmg.networks.weights import Weights

jax, jnp = LazyModule("jax"), LazyModule("jax.numpy")


@LOW_LEVELS.register("flow")
@dataclass(frozen=True, kw_only=True)
class Flow(Translator):
    """Flow matching: draws the action from those that were recorded on such a way. It sees what the translator sees.

    The noise it begins with has spread 1, so let actions have that, too: `LearnConfig(actions="normalised")`.
    """

    kind: ClassVar[str] = "flow"
    losses: ClassVar[tuple[str, ...]] = ("flow",)

    euler_steps: Annotated[int, Bounds(1, 1000)] = 8
    """Steps from noise to an action; each takes as long as a decision of the translator's, or less."""
    start: Literal["drawn", "zero"] = "drawn"
    """What an action begins with: noise, the same whenever an episode is run again, or its mean, which gives one action
    for a state and a subgoal."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.squashed:
            raise VMGError("squashed must be False for a flow, not True: noise is carried to the actions themselves.")

    def parts(self, observation_size: int, action_size: int) -> dict[str, Parts]:
        (both, given) = super().parts(observation_size, action_size)["translator"]
        return {"translator": ((*both, given, 1), given)}

    def loss(self, weights: Weights, batch: Batch, numbers: Numbers) -> tuple[Any, dict[str, Any]]:
        """L = ‖v(s_t, s_{t+k}, x_τ, τ) − (a_t − x_0)‖² with x_τ = (1 − τ) x_0 + τ a_t, x_0 normal, τ uniform."""
        o_t, goal = self._moved(weights, batch, numbers) if self.noise else (batch.o_t, batch.goal)
        noise_key, time_key = jax.random.split(jax.random.fold_in(batch.key, 1))
        x_0 = jax.random.normal(noise_key, batch.a_t.shape)
        time = jax.random.uniform(time_key, (len(batch.a_t), 1))
        x = (1 - time) * x_0 + time * batch.a_t
        velocities = mlp(weights["translator"], side_by_side(seen(weights, o_t, goal), side_by_side(x, time)))
        loss = jnp.mean(jnp.sum((velocities - (batch.a_t - x_0)) ** 2, axis=-1))
        return loss, {"flow": loss}

    @property
    def draws(self) -> bool:
        return True

    def shared(self) -> Self:
        return replace(super().shared(), euler_steps=8, start="drawn")

    def actor(self, weights: Weights) -> Act:
        return _Actor(weights, self.euler_steps, drawn=self.start == "drawn")


class _Actor:
    """Carries noise to actions; what the steps have in common is computed once."""

    def __init__(self, weights: Weights, steps: int, *, drawn: bool) -> None:
        self._see = Sight(weights)
        (w, b), *self._layers = pairs(weights["translator"])
        self._size = len(self._layers[-1][1])
        self._seen, self._carried, from_time = np.split(w, [len(w) - self._size - 1, len(w) - 1])
        self._biases = [b + np.float32(k / steps) * from_time[0] for k in range(steps)]
        self._share, self._drawn = np.float32(1 / steps), drawn
        self._rng = np.random.default_rng(0)

    def draw_from(self, rng: np.random.Generator) -> None:
        """Draw noise from this generator from now on."""
        self._rng = rng

    def __call__(self, observations: Float32s, goals: Float32s) -> Float32s:
        if len(observations) == 1:
            return self._carry(self._see(observations[0], goals[0]), (self._size,))[None]
        return self._carry(self._see(observations, goals), (len(observations), self._size))

    def _carry(self, inputs: Float32s, shape: tuple[int, ...]) -> Float32s:
        x = self._rng.standard_normal(shape, np.float32) if self._drawn else np.zeros(shape, np.float32)
        same = inputs.dot(self._seen)
        for bias in self._biases:
            hidden = x.dot(self._carried)
            hidden += same
            hidden += bias
            x += self._share * through(self._layers, np.maximum(hidden, 0, out=hidden))
        return x
