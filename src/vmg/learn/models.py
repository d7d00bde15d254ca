"""What is learned: which networks, from which batches, by which loss. Two models share one loop.

`AgentModel` is what this project is about: the metric space and a low-level policy. `CloningModel` is the baselines':
actions from observations, or from observations and goals.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from vmg.base.errors import VMGError
from vmg.base.types import Float32s, Int32s, Int64s
from vmg.data.episodes import Episodes
from vmg.learn.config import LearnConfig
from vmg.learn.metric import Loss, metric_loss, squared_distance
from vmg.networks.actions import action_scaling, scaled_actions
from vmg.networks.cloning import clone
from vmg.networks.encoder import metric_parts
from vmg.networks.lowlevel import Batch, Numbers
from vmg.networks.lowlevel.translator import Translator
from vmg.networks.mlp import Parts, goal_scaling, input_scaling
from vmg.networks.weights import Weights


class Steps(NamedTuple):
    """What a batch is taken from, on the device: `size` steps from step `first` on."""

    observations: jax.Array
    actions: jax.Array
    rewards: jax.Array
    step_observation: jax.Array
    steps_left: jax.Array
    first: jax.Array
    size: jax.Array


class Sample(NamedTuple):
    """One batch by its indices: which steps, and the rows of their observations and goals."""

    step: jax.Array
    row_t: jax.Array
    row_goal: jax.Array
    key: jax.Array | None = None
    """For what else a loss draws; None where it draws nothing, so that nothing is carried through the loop."""
    noise: jax.Array | None = None
    """For the decoder that samples: drawn beforehand, since every draw inside the loop costs its time."""
    goal_steps: jax.Array | None = None
    """How many steps each goal lies ahead, where rows do not tell."""
    lead_step: jax.Array | None = None
    """The step whose action the low-level policy learns, where that is a later one."""


def on_device(*data: Episodes, model: "Model | None" = None) -> Steps:
    """Move the steps of one or more data sets to the device, one after the other; `first` and `size` are the first's.

    Which of them a model draws from is for the loop to say: `spans`. Narrow tables are filled up with zeros.
    """
    arrays = (
        _below_each_other([episodes.observations for episodes in data]),
        _below_each_other([episodes.actions for episodes in data]),
        np.concatenate([episodes.rewards for episodes in data]).astype(np.float32),
        *step_tables(data, model),
    )
    return Steps(*map(jnp.asarray, arrays), *(jnp.asarray(ends[0]) for ends in spans(data)))


def _below_each_other(tables: Sequence[Float32s]) -> Float32s:
    width = max(table.shape[1] for table in tables)
    return np.concatenate([np.pad(table, ((0, 0), (0, width - table.shape[1]))) for table in tables])


def step_tables(data: Sequence[Episodes], model: "Model | None" = None) -> tuple[Int32s, Int32s]:
    """Return the row of o_t for every step, and how many of its episode follow, as the model has it."""
    rows = [episodes.step_observation + first for episodes, first in zip(data, row_offsets(data), strict=True)]
    left = [model.steps_left(episodes) if model else episodes.steps_left for episodes in data]
    return np.concatenate(rows).astype(np.int32), np.concatenate(left).astype(np.int32)


def row_offsets(data: Sequence[Episodes]) -> Int64s:
    """Return the first row of each data set, once they are laid one after the other."""
    n_rows = np.array([len(episodes.observations) for episodes in data])
    if n_rows.sum() >= 2**31:
        raise VMGError(f"{n_rows.sum():,} observations are too many for one training: rows are counted in 32 bits.")
    offsets: Int64s = np.cumsum(n_rows) - n_rows
    return offsets


def spans(data: Sequence[Episodes]) -> tuple[Int32s, Int32s]:
    """Return the first step of each data set, once they are laid one after the other, and how many it has."""
    counts = np.array([episodes.n_steps for episodes in data])
    return (np.cumsum(counts) - counts).astype(np.int32), counts.astype(np.int32)


class Model(Protocol):
    """What the loop needs to know; hashable, since a loop is compiled for each."""

    @property
    def config(self) -> LearnConfig: ...

    @property
    def headline(self) -> Sequence[str]:
        """Names of the losses worth watching."""

    @property
    def dropped(self) -> Sequence[str]:
        """Names of the losses that the loop computes for others, but that are not learned here."""

    @property
    def averaged(self) -> Mapping[str, int]:
        """Networks whose weights are averaged, each over so many updates."""

    @property
    def decay(self) -> Mapping[str, str]:
        """Networks with weight decay, each with the entry of `numbers` that says how much."""

    @property
    def learning_only(self) -> Sequence[str]:
        """Networks that are not kept when it has learned."""

    @property
    def widens(self) -> bool:
        """Whether zeros added to observations and actions leave its losses as they are."""

    def numbers(self) -> dict[str, Any]:
        """Return the settings in which models side by side may differ, as numbers."""

    def shared(self) -> "Model":
        """Return what it must have in common with others that learn side by side with it."""

    def describe(self) -> dict[str, Any]:
        """Return everything that tells this model from another, ready for JSON."""

    def parts(self, episodes: Episodes) -> dict[str, Parts]:
        """Return what each network sees and gives."""

    def scalings(self, episodes: Episodes) -> Weights:
        """Return what turns observations into inputs: not learned, the same for every model of these episodes."""

    def steps_left(self, episodes: Episodes) -> Int64s:
        """Return what `sample` is told of every step: how many observations of its episode follow."""

    def measured(self, weights: Weights, episodes: Episodes) -> Weights:
        """Return a learned model with what is measured of it."""

    def sample(self, key: jax.Array, steps: Steps, numbers: Numbers) -> Sample:
        """Draw a batch."""

    def loss(self, weights: Weights, steps: Steps, sample: Sample, numbers: Numbers) -> Loss:
        """Return the loss of a batch, and its terms by name."""


@dataclass(frozen=True)
class AgentModel:
    """The metric space and the low-level policy."""

    config: LearnConfig

    @property
    def headline(self) -> Sequence[str]:
        return ("contrastive", "action", *self.config.policy.losses)

    @property
    def dropped(self) -> Sequence[str]:
        contrastive = () if self.config.contrastive else ("contrastive", "attraction", "repulsion")
        return (*contrastive, *(() if self.config.action_decoder else ("reconstruction",)))

    @property
    def averaged(self) -> Mapping[str, int]:
        return self.config.policy.averaged

    @property
    def decay(self) -> Mapping[str, str]:
        return self.config.policy.decay

    @property
    def learning_only(self) -> Sequence[str]:
        return self.config.policy.learning_only

    @property
    def widens(self) -> bool:
        draws = self._sampled or self.config.policy.draws  # another width, other numbers
        return not draws and self.config.action_errors == "summed"

    @property
    def _sampled(self) -> bool:
        return self.config.decoder_output == "sampled"

    def numbers(self) -> dict[str, Any]:
        config = self.config
        return {
            "margin": np.float32(config.margin),
            "contrastive": np.float32(config.contrastive),
            "reconstruction": np.float32(config.action_decoder),
            **config.low_level.numbers(),
        }

    def shared(self) -> "AgentModel":
        return AgentModel(replace(shared_settings(self.config), low_level=self.config.low_level.shared()))

    def describe(self) -> dict[str, Any]:
        return self.config.to_dict()

    def parts(self, episodes: Episodes) -> dict[str, Parts]:
        sizes = (episodes.observation_size, episodes.action_size)
        metric = metric_parts(*sizes, self.config.metric_dimension, sampled=self._sampled)
        return metric | self.config.policy.parts(*sizes)

    def scalings(self, episodes: Episodes) -> Weights:
        encoder = input_scaling(episodes.observations, self.config.encoder_inputs)
        return {
            "encoder_input": encoder,
            **self.config.policy.scalings(episodes),
            **action_scaling(episodes, self.config.actions),
        }

    def steps_left(self, episodes: Episodes) -> Int64s:
        return self.config.policy.steps_left(episodes)

    def measured(self, weights: Weights, episodes: Episodes) -> Weights:
        return self.config.policy.measured(weights, episodes)

    def sample(self, key: jax.Array, steps: Steps, numbers: Numbers) -> Sample:
        """Draw steps uniformly, with replacement, and a goal for each as the low-level policy wants it."""
        low_level = self.config.policy
        step, row_t, goal_key = drawn_steps(key, steps, self.config.batch_size)
        left = steps.steps_left[step]
        rows = low_level.goal_rows(goal_key, row_t, left, numbers)
        shape = (self.config.batch_size, steps.actions.shape[1])
        return Sample(
            step,
            row_t,
            rows,
            jax.random.fold_in(key, 1) if low_level.draws else None,
            jax.random.normal(jax.random.fold_in(key, 2), shape) if self._sampled else None,
            lead_step=step + jnp.minimum(low_level.lead, left - 1) if low_level.lead else None,
        )

    def loss(self, weights: Weights, steps: Steps, sample: Sample, numbers: Numbers) -> Loss:
        """L_metric and the low-level policy's loss; they share no weights, so their gradients do not mix."""
        batch = batch_of(weights, steps, sample)
        l_metric, metric_info = metric_loss(weights, batch, numbers, self.config, sample.noise)
        l_low_level, info = self.config.policy.loss(weights, led(batch, weights, steps, sample), numbers)
        return l_metric + l_low_level, metric_info | info


def batch_of(weights: Weights, steps: Steps, sample: Sample) -> Batch:
    """Look up what a batch holds."""
    return Batch(
        o_t=steps.observations[sample.row_t],
        a_t=scaled_actions(weights, steps.actions[sample.step]),
        r_t=steps.rewards[sample.step],
        o_tp1=steps.observations[sample.row_t + 1],
        goal=steps.observations[sample.row_goal],
        goal_steps=sample.row_goal - sample.row_t if sample.goal_steps is None else sample.goal_steps,
        key=sample.key,
    )


def led(batch: Batch, weights: Weights, steps: Steps, sample: Sample) -> Batch:
    """Give a batch the actions that the low-level policy learns."""
    if sample.lead_step is None:
        return batch
    return batch._replace(a_t=scaled_actions(weights, steps.actions[sample.lead_step]))


class Plain:
    """A model without weight decay, averages or measurements, and with nothing in which models side by side differ."""

    def steps_left(self, episodes: Episodes) -> Int64s:
        return episodes.steps_left

    def measured(self, weights: Weights, episodes: Episodes) -> Weights:
        return weights

    @property
    def averaged(self) -> Mapping[str, int]:
        return {}

    @property
    def decay(self) -> Mapping[str, str]:
        return {}

    @property
    def learning_only(self) -> Sequence[str]:
        return ()

    @property
    def widens(self) -> bool:
        return True

    def numbers(self) -> dict[str, Any]:
        return {}


@dataclass(frozen=True)
class CloningModel(Plain):
    """Behaviour cloning; with goal columns, conditioned on those columns of an observation later in the episode."""

    config: LearnConfig
    goal_columns: tuple[int, ...] = ()
    headline = ("cloning",)
    dropped = ()

    def shared(self) -> "CloningModel":
        return CloningModel(replace(shared_settings(self.config), low_level=Translator()), self.goal_columns)

    def describe(self) -> dict[str, Any]:
        return {**self.config.to_dict(), "goal_columns": list(self.goal_columns)}

    def parts(self, episodes: Episodes) -> dict[str, Parts]:
        seen = (episodes.observation_size, len(self.config.seen(self.goal_columns)))
        return {"cloning": (seen, episodes.action_size)}

    def scalings(self, episodes: Episodes) -> Weights:
        inputs = self.config.low_level.cloning_inputs
        return {"cloning_input": goal_scaling(episodes.observations, inputs, self.config.seen(self.goal_columns))}

    def sample(self, key: jax.Array, steps: Steps, numbers: Numbers) -> Sample:
        """Draw steps uniformly, with replacement, and a goal anywhere in the rest of the episode for each."""
        step, row_t, goal_key = drawn_steps(key, steps, self.config.batch_size)
        return Sample(step, row_t, row_t + jax.random.randint(goal_key, row_t.shape, 1, steps.steps_left[step] + 1))

    def loss(self, weights: Weights, steps: Steps, sample: Sample, numbers: Numbers) -> Loss:
        """D²(network(s_t, g), a_t)."""
        columns = list(self.config.seen(self.goal_columns))
        goals = steps.observations[sample.row_goal][:, columns] if columns else None
        actions = clone(weights, steps.observations[sample.row_t], goals)
        loss = jnp.mean(squared_distance(actions, steps.actions[sample.step]))
        return loss, {"cloning": loss}


_VARIED = ("metric_dimension", "margin", "contrastive", "action_decoder", "encoder_inputs")


def shared_settings(config: LearnConfig) -> LearnConfig:
    """Return the configuration without what models side by side may differ in."""
    default = LearnConfig()
    return replace(config, **{name: getattr(default, name) for name in _VARIED})


def drawn_steps(key: jax.Array, steps: Steps, n: int) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Draw steps uniformly: their numbers, the rows of their observations, and a key for what else is drawn."""
    step_key, goal_key = jax.random.split(key)
    step = steps.first + jax.random.randint(step_key, (n,), 0, steps.size, jnp.int32)
    return step, steps.step_observation[step], goal_key
