"""What is learned: which networks, from which batches, by which loss. Two objectives share one loop.

`MetricAndTranslator` learns what this project is about: the metric space and the action translator. `Cloning` is the
baselines': actions from observations, or from observations and goals.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from vmg.data.episodes import Episodes
from vmg.errors import VMGError
from vmg.learn.config import LearnConfig
from vmg.learn.metric import Choices, Loss, metric_loss, squared_distance
from vmg.learn.translator import sample_goals, translator_loss
from vmg.networks import Parts, Weights, clone, goal_scaling, input_scaling, layer_sizes, network_parts
from vmg.types import Float32s, Int32s


class Steps(NamedTuple):
    """What a step's batch is taken from, on the device: `size` steps from step `first` on."""

    observations: jax.Array
    actions: jax.Array
    step_observation: jax.Array
    steps_left: jax.Array
    first: jax.Array
    size: jax.Array


class Draw(NamedTuple):
    """One batch: which steps, and the rows of their observations and goals."""

    step: jax.Array
    row_t: jax.Array
    row_tpk: jax.Array


def on_device(*data: Episodes) -> Steps:
    """Move the steps of one or more data sets to the device, one after the other; `first` and `size` are the first's.

    Which of them a model draws from is for the loop to say: `spans`. Narrow observations and actions are filled up with
    zeros.
    """
    n_rows = [len(episodes.observations) for episodes in data]
    if sum(n_rows) >= 2**31:
        raise VMGError(f"{sum(n_rows):,} observations are too many for one training: rows are counted in 32 bits.")
    offsets = np.cumsum([0, *n_rows[:-1]])
    arrays = (
        _below_each_other([episodes.observations for episodes in data]),
        _below_each_other([episodes.actions for episodes in data]),
        np.concatenate([e.step_observation + offset for e, offset in zip(data, offsets, strict=True)]).astype(np.int32),
        np.concatenate([episodes.steps_left for episodes in data]).astype(np.int32),
    )
    return Steps(*map(jnp.asarray, arrays), *(jnp.asarray(ends[0]) for ends in spans(data)))


def _below_each_other(tables: Sequence[Float32s]) -> Float32s:
    width = max(table.shape[1] for table in tables)
    return np.concatenate([np.pad(table, ((0, 0), (0, width - table.shape[1]))) for table in tables])


def spans(data: Sequence[Episodes]) -> tuple[Int32s, Int32s]:
    """Return the first step of each data set, once they are laid one after the other, and how many it has."""
    counts = np.array([episodes.n_steps for episodes in data])
    return (np.cumsum(counts) - counts).astype(np.int32), counts.astype(np.int32)


class Objective(Protocol):
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
    def averaged(self) -> Sequence[str]:
        """Names of the networks whose weights are averaged over updates."""

    def shared(self) -> "Objective":
        """Return what it must have in common with others that learn side by side with it."""

    def describe(self) -> dict[str, Any]:
        """Return everything that tells this objective from another, ready for JSON."""

    def parts(self, episodes: Episodes) -> dict[str, Parts]:
        """Return what each network sees and gives."""

    def sizes(self, episodes: Episodes) -> dict[str, tuple[int, ...]]:
        """Return the layers of each network."""

    def scalings(self, episodes: Episodes) -> Weights:
        """Return what turns observations into inputs: not learned, the same for every model of these episodes."""

    def draw(self, key: jax.Array, steps: Steps, choices: Choices | None = None) -> Draw:
        """Draw a batch; `choices` stand in for the configuration's own."""

    def loss(self, weights: Weights, steps: Steps, draw: Draw, choices: Choices | None = None) -> Loss:
        """Return the loss of a batch, and its parts by name; `choices` as above."""


@dataclass(frozen=True)
class MetricAndTranslator:
    """The metric space and the action translator."""

    config: LearnConfig
    headline = ("contrastive", "action", "translator")

    @property
    def dropped(self) -> Sequence[str]:
        config = self.config
        return (
            *(() if config.contrastive else ("contrastive", "attraction", "repulsion")),
            *(() if config.action_decoder else ("reconstruction",)),
        )

    @property
    def averaged(self) -> Sequence[str]:
        return ("translator",) if self.config.translator_memory > 1 else ()

    def shared(self) -> "MetricAndTranslator":
        return MetricAndTranslator(_shared(self.config))

    def describe(self) -> dict[str, Any]:
        return asdict(self.config)

    def parts(self, episodes: Episodes) -> dict[str, Parts]:
        config = self.config
        translator_size = len(config.translator_columns) or episodes.observation_size
        sizes = (episodes.observation_size, translator_size, episodes.action_size)
        return network_parts(*sizes, config.metric_dimension)

    def sizes(self, episodes: Episodes) -> dict[str, tuple[int, ...]]:
        return layer_sizes(self.parts(episodes), self.config.hidden_units)

    def scalings(self, episodes: Episodes) -> Weights:
        config, observations = self.config, episodes.observations
        columns = config.translator_columns or tuple(range(episodes.observation_size))
        return {
            "encoder_input": input_scaling(observations, config.encoder_inputs),
            "translator_input": goal_scaling(
                observations, config.translator_inputs, columns, typical_differences(episodes, config.goal_horizon)
            ),
        }

    def draw(self, key: jax.Array, steps: Steps, choices: Choices | None = None) -> Draw:
        """Draw steps uniformly, with replacement, and a goal at most `goal_horizon` steps ahead for each."""
        horizon = (choices or Choices.of(self.config)).goal_horizon
        step, row_t, goal_key = _drawn_steps(key, steps, self.config.batch_size)
        return Draw(step, row_t, sample_goals(goal_key, row_t, steps.steps_left[step], horizon=horizon))

    def loss(self, weights: Weights, steps: Steps, draw: Draw, choices: Choices | None = None) -> Loss:
        """L_metric + L_Tran; they share no weights, so their gradients do not mix."""
        o_t, a_t, o_tp1 = steps.observations[draw.row_t], steps.actions[draw.step], steps.observations[draw.row_t + 1]
        program = self.config.margins == "program"
        l_metric, metric_info = metric_loss(
            weights, o_t, a_t, o_tp1, choices or Choices.of(self.config), program=program
        )
        l_tran, translator_info = translator_loss(weights, o_t, a_t, steps.observations[draw.row_tpk])
        return l_metric + l_tran, metric_info | translator_info


@dataclass(frozen=True)
class Cloning:
    """Behaviour cloning; with goal columns, conditioned on those numbers of an observation later in the episode."""

    config: LearnConfig
    goal_columns: tuple[int, ...] = ()
    headline = ("cloning",)
    dropped = ()
    averaged = ()

    def shared(self) -> "Cloning":
        return Cloning(_shared(self.config), self.goal_columns)

    def describe(self) -> dict[str, Any]:
        return {**asdict(self.config), "goal_columns": list(self.goal_columns)}

    def parts(self, episodes: Episodes) -> dict[str, Parts]:
        return {"cloning": ((episodes.observation_size, len(self.goal_columns)), episodes.action_size)}

    def sizes(self, episodes: Episodes) -> dict[str, tuple[int, ...]]:
        return layer_sizes(self.parts(episodes), self.config.hidden_units)

    def scalings(self, episodes: Episodes) -> Weights:
        return {"cloning_input": goal_scaling(episodes.observations, self.config.translator_inputs, self.goal_columns)}

    def draw(self, key: jax.Array, steps: Steps, choices: Choices | None = None) -> Draw:
        """Draw steps uniformly, with replacement, and a goal anywhere in the rest of the episode for each."""
        step, row_t, goal_key = _drawn_steps(key, steps, self.config.batch_size)
        return Draw(step, row_t, row_t + jax.random.randint(goal_key, row_t.shape, 1, steps.steps_left[step] + 1))

    def loss(self, weights: Weights, steps: Steps, draw: Draw, choices: Choices | None = None) -> Loss:
        """D²(network(s_t, g), a_t)."""
        goals = steps.observations[draw.row_tpk][:, list(self.goal_columns)] if self.goal_columns else None
        actions = clone(weights, steps.observations[draw.row_t], goals)
        loss = jnp.mean(squared_distance(actions, steps.actions[draw.step]))
        return loss, {"cloning": loss}


_VARIED = (
    "metric_dimension", "margin", "contrastive", "action_decoder", "goal_horizon", "encoder_inputs",
    "translator_inputs", "translator_decay",
)  # fmt: skip


def _shared(config: LearnConfig) -> LearnConfig:
    """Return the configuration without what models side by side may differ in."""
    default = LearnConfig()
    return replace(config, **{name: getattr(default, name) for name in _VARIED})


def typical_differences(episodes: Episodes, horizon: int) -> Float32s:
    """How large the differences between observations 1 to `horizon` steps apart are: the root of their mean square."""
    rows, left = episodes.step_observation, episodes.steps_left
    squares, count = np.zeros(episodes.observation_size), 0
    for k in range(1, horizon + 1):
        here = rows[left >= k]
        differences = (episodes.observations[here + k] - episodes.observations[here]).astype(np.float64)
        squares += np.einsum("ij,ij->j", differences, differences)
        count += len(here)
    return np.sqrt(squares / max(count, 1)).astype(np.float32)


def _drawn_steps(key: jax.Array, steps: Steps, n: int) -> tuple[jax.Array, jax.Array, jax.Array]:
    step_key, goal_key = jax.random.split(key)
    step = steps.first + jax.random.randint(step_key, (n,), 0, steps.size, jnp.int32)
    return step, steps.step_observation[step], goal_key
