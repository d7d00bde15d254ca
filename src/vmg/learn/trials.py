"""What is learned to judge settings before an agent is: translators alone, and models of what actions do.

Both use the agents' compiled loop. Translators that see fewer columns than others see the rest as constants, so that
all of them learn side by side.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vmg.base.types import Int64s
from vmg.data.episodes import Episodes
from vmg.learn.config import LearnConfig
from vmg.learn.metric import Loss
from vmg.learn.models import AgentModel, Plain, Sample, Steps, batch_of, drawn_steps, led, shared_settings
from vmg.networks.actions import action_scaling
from vmg.networks.forward import forward_errors, forward_parts, forward_scaling
from vmg.networks.lowlevel import Numbers
from vmg.networks.lowlevel.translator import Translator
from vmg.networks.mlp import Parts
from vmg.networks.weights import Weights

UNSEEN = np.float32(1e30)
"""The spread of a column that is not to be seen: divided by it, anything is nothing."""


@dataclass(frozen=True)
class TranslatorModel:
    """A translator without a metric space."""

    config: LearnConfig
    dropped = ()
    learning_only = ()

    @property
    def headline(self) -> Sequence[str]:
        return self._translator.losses

    @property
    def averaged(self) -> Mapping[str, int]:
        return self._translator.averaged

    @property
    def decay(self) -> Mapping[str, str]:
        return self._translator.decay

    @property
    def widens(self) -> bool:
        return AgentModel(self.config).widens

    def numbers(self) -> dict[str, Any]:
        return self._translator.numbers()

    def shared(self) -> "TranslatorModel":
        alike = replace(self._translator.shared(), columns=())
        return TranslatorModel(replace(shared_settings(self.config), low_level=alike))

    def describe(self) -> dict[str, Any]:
        return self.config.to_dict()

    def parts(self, episodes: Episodes) -> dict[str, Parts]:
        return self._sees_all.parts(episodes.observation_size, episodes.action_size)

    def scalings(self, episodes: Episodes) -> Weights:
        """Scale the columns that are not to be seen to nothing."""
        scaling = self._sees_all.scalings(episodes)["translator_input"]
        if self._translator.columns:
            unseen = ~np.isin(np.arange(episodes.observation_size), self._translator.columns)
            scaling |= {name: np.where(unseen, UNSEEN, scaling[name]) for name in ("std", "spread")}
        return {"translator_input": scaling, **action_scaling(episodes, self.config.actions)}

    def steps_left(self, episodes: Episodes) -> Int64s:
        return self._translator.steps_left(episodes)

    def measured(self, weights: Weights, episodes: Episodes) -> Weights:
        return self._translator.measured(weights, episodes)

    def sample(self, key: jax.Array, steps: Steps, numbers: Numbers) -> Sample:
        return AgentModel(self.config).sample(key, steps, numbers)

    def loss(self, weights: Weights, steps: Steps, sample: Sample, numbers: Numbers) -> Loss:
        batch = led(batch_of(weights, steps, sample), weights, steps, sample)
        return self._translator.loss(weights, batch, numbers)

    @property
    def _translator(self) -> Translator:
        assert isinstance(self.config.low_level, Translator)
        return self.config.low_level

    @property
    def _sees_all(self) -> Translator:
        return replace(self._translator, columns=())


@dataclass(frozen=True)
class ForwardModel(Plain):
    """The observation that follows an action."""

    config: LearnConfig
    headline = ("forward",)
    dropped = ()

    def shared(self) -> "ForwardModel":
        return ForwardModel(replace(shared_settings(self.config), low_level=Translator()))

    def describe(self) -> dict[str, Any]:
        return {**self.config.to_dict(), "model": "forward"}

    def parts(self, episodes: Episodes) -> dict[str, Parts]:
        return forward_parts(episodes.observation_size, episodes.action_size)

    def scalings(self, episodes: Episodes) -> Weights:
        return {"forward_input": forward_scaling(episodes), **action_scaling(episodes, self.config.actions)}

    def sample(self, key: jax.Array, steps: Steps, numbers: Numbers) -> Sample:
        step, row_t, _ = drawn_steps(key, steps, self.config.batch_size)
        return Sample(step, row_t, row_t)

    def loss(self, weights: Weights, steps: Steps, sample: Sample, numbers: Numbers) -> Loss:
        """Mean squared error of each column, in units of a typical step."""
        batch = batch_of(weights, steps, sample)
        loss = jnp.mean(forward_errors(weights, batch.o_t, batch.a_t, batch.o_tp1) ** 2)
        return loss, {"forward": loss}
