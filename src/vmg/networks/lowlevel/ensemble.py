"""Several translators that learn beside each other: they agree where they learned, and disagree where they did not.

translators      Tran_i  s, s'       → a_i         the action is their mean; how far they lie apart says how sure it is
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from vmg.base.lazy import LazyModule
from vmg.base.settings import Bounds
from vmg.base.types import Bools, Float32s
from vmg.data.episodes import Episodes
from vmg.networks.lowlevel.base import LOW_LEVELS, Act, Batch, Numbers
from vmg.networks.lowlevel.translator import Translator, translate
from vmg.networks.mlp import Parts
from vmg.networks.weights import Tensors, Weights

jnp = LazyModule("jax.numpy")

LEVEL = "translator_level"
"""The part of the weights that says how far members usually lie apart."""
USUAL = 0.95
"""Share of the episodes' states for which they lie less far apart than that."""
ASKED = 2_000
"""States at which that is measured."""


@LOW_LEVELS.register("ensemble")
@dataclass(frozen=True, kw_only=True)
class Ensemble(Translator):
    """Several translators: the mean of their actions, and a nearer subgoal where they disagree more than usual.

    What is usual is measured on the episodes held out for validation or, without any, on those it learns from, where
    they disagree less.
    """

    kind: ClassVar[str] = "ensemble"
    losses: ClassVar[tuple[str, ...]] = ("translator", "disagreement")

    members: Annotated[int, Bounds(1, 100)] = 5
    """Translators; the first is the one that would learn alone."""

    def parts(self, observation_size: int, action_size: int) -> dict[str, Parts]:
        one = super().parts(observation_size, action_size)["translator"]
        return dict.fromkeys(self._names, one)

    def loss(self, weights: Weights, batch: Batch, numbers: Numbers) -> tuple[Any, dict[str, Any]]:
        """Σ_i L_Tran of member i: they share the batch but no weights, so each learns as it would alone."""
        o_t, goal = self._moved(weights, batch, numbers) if self.noise else (batch.o_t, batch.goal)
        actions = jnp.stack([translate(each, o_t, goal) for each in self._apart(weights)])
        losses = jnp.mean(jnp.sum((actions - batch.a_t) ** 2, axis=-1), axis=-1)
        return jnp.sum(losses), {"translator": jnp.mean(losses), "disagreement": jnp.mean(_spread(actions))}

    def measured(self, weights: Weights, episodes: Episodes) -> Weights:
        rows, left = episodes.step_observation, episodes.steps_left
        some = np.sort(np.random.default_rng(0).permutation(len(rows))[:ASKED])
        ahead = np.minimum(1 + np.arange(len(some)) % self.goal_horizon, left[some])
        here, there = episodes.observations[rows[some]], episodes.observations[rows[some] + ahead]
        level = np.quantile(_spread(_Actor(self._apart(weights)).each(here, there)), USUAL)
        return weights | {LEVEL: {"disagreement": np.float32(level)}}

    def shared(self) -> Self:
        return replace(super().shared(), members=self.members)

    @property
    def decay(self) -> Mapping[str, str]:
        return dict.fromkeys(self._names, "translator_decay")

    @property
    def averaged(self) -> Mapping[str, int]:
        return dict.fromkeys(self._names, self.memory) if self.memory > 1 else {}

    def actor(self, weights: Weights) -> Act:
        return _Actor(self._apart(weights), float(weights[LEVEL]["disagreement"]))

    def shapes(
        self, tensors: Tensors, observation_size: int, action_size: int, hidden: int
    ) -> dict[str, tuple[int, ...]]:
        return super().shapes(tensors, observation_size, action_size, hidden) | {f"{LEVEL}.disagreement": ()}

    @property
    def _names(self) -> tuple[str, ...]:
        return ("translator", *(f"translator_{i}" for i in range(1, self.members)))

    def _apart(self, weights: Weights) -> list[Weights]:
        """The weights of each member by itself, as a translator has them."""
        inputs = weights["translator_input"]
        return [{"translator": weights[name], "translator_input": inputs} for name in self._names]


class _Actor:
    """The mean of the members, and whether they disagree."""

    def __init__(self, members: list[Weights], level: float = 0.0) -> None:
        self._members, self._level = [Translator().actor(each) for each in members], level

    def __call__(self, observations: Float32s, goals: Float32s) -> Float32s:
        mean: Float32s = self.each(observations, goals).mean(0)
        return mean

    def each(self, observations: Float32s, goals: Float32s) -> Float32s:
        """Return the actions of each member: (member, row, number)."""
        return np.stack([act(observations, goals) for act in self._members])

    def unsure(self, observations: Float32s, goals: Float32s) -> Bools:
        """Say in which rows members lie farther apart than usual."""
        return np.asarray(_spread(self.each(observations, goals)) > self._level)


def _spread(actions: Any) -> Any:
    """How far members lie apart in each row: the root of their mean squared distance from their mean, per number."""
    apart = actions - actions.mean(0)
    return (apart**2).mean((0, -1)) ** 0.5
