"""The paper's low-level policy, the action translator (section 3.4).

translator       Tran    s, s'       → a           the action that leads from s towards s'
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np

from vmg.base.lazy import LazyModule
from vmg.base.settings import Bounds
from vmg.base.types import Float32s
from vmg.data.episodes import Episodes
from vmg.data.mapping import row_pieces
from vmg.networks.angles import turned_columns
from vmg.networks.lowlevel.base import LOW_LEVELS, Act, Batch, LowLevel, Numbers
from vmg.networks.mlp import (
    Inputs,
    Parts,
    goal_scaling,
    goal_scaling_shapes,
    mlp,
    pairs,
    scaled,
    scaled_goals,
    side_by_side,
    through,
)
from vmg.networks.weights import Tensors, Weights

jax, jnp = LazyModule("jax"), LazyModule("jax.numpy")

SQUASHED = "squashed"
"""The array among a translator's inputs that says, by being there, that its actions are squashed."""
STEP = "step"
"""The array that has the usual change of each number in a step, where it learns with noise."""


@LOW_LEVELS.register("translator")
@dataclass(frozen=True, kw_only=True)
class Translator(LowLevel):
    """The action translator: regresses the action from the state and a state a few steps later."""

    kind: ClassVar[str] = "translator"
    losses: ClassVar[tuple[str, ...]] = ("translator",)

    goal_horizon: Annotated[int, Bounds(1)] = 10
    """K: goals lie 1 to K steps ahead."""
    inputs: Inputs = "raw"
    """What it sees: observations as they are ("raw"), with mean 0 and spread 1 ("normalised"), or with the goal as its
    difference from the observation in units of such differences ("relative": normalised, "raw relative": raw)."""
    columns: tuple[int, ...] = ()
    """Columns of the observation it sees; none: all. Leaving out velocities keeps it from copying them."""
    decay_rate: Annotated[float, Bounds(0)] = 0.0
    """Weight decay: each update also takes learning_rate times this share off its weights. It keeps long training on
    little data from learning that data by heart."""
    memory: Annotated[int, Bounds(1)] = 1
    """Updates over which its weights are averaged, the latest counting most; 1: not averaged."""
    squashed: bool = False
    """Give the tanh of what the network gives, as the published program does: for actions between -1 and 1."""
    past_end: Literal["next", "around"] = "next"
    """A goal past an episode's end is the next observation or, as in the published program, counted on from there
    again ("around")."""

    lead: Annotated[int, Bounds(0, 1000)] | None = None
    """Learn the action recorded so many steps later, in the same episode. Where actions are places that the body comes
    to some steps later, this makes it faster than it was recorded: twice as fast with a lead of as many steps. None: 0,
    unless settings are chosen from the data."""
    noise: Annotated[float, Bounds(0, 1e6)] = 0.0
    """Noise on what it learns from, normal, per usual change of each number in a step: it learns what to do beside the
    recorded way, too."""
    noise_on: Literal["both", "state"] = "both"
    """What that noise moves: state and goal together, so that only where the goal lies from here counts, or the state
    alone, as if it had been pushed off its way."""

    def turned(self, angles: Sequence[int]) -> Self:
        return replace(self, columns=turned_columns(self.columns, angles))

    def parts(self, observation_size: int, action_size: int) -> dict[str, Parts]:
        seen = len(self.columns) or observation_size
        return {"translator": ((seen, seen), action_size)}

    def scalings(self, episodes: Episodes) -> Weights:
        columns = self.columns or tuple(range(episodes.observation_size))
        differences = typical_differences(episodes, self.goal_horizon)
        scaling = goal_scaling(episodes.observations, self.inputs, columns, differences)
        squashed = {SQUASHED: np.ones((), np.float32)} if self.squashed else {}
        step = {STEP: typical_differences(episodes, 1)} if self.noise else {}
        return {"translator_input": {**scaling, **squashed, **step}}

    def goal_rows(self, key: Any, row_t: Any, left_t: Any, numbers: Numbers) -> Any:
        return sample_goals(key, row_t, left_t, horizon=numbers["goal_horizon"], around=self.past_end == "around")

    def loss(self, weights: Weights, batch: Batch, numbers: Numbers) -> tuple[Any, dict[str, Any]]:
        """L_Tran = D²(Tran(s_t, s_{t+k}), a_t), with noise on s_t and s_{t+k} where there is any."""
        o_t, goal = self._moved(weights, batch, numbers) if self.noise else (batch.o_t, batch.goal)
        errors = jnp.sum((translate(weights, o_t, goal) - batch.a_t) ** 2, axis=-1)
        loss = jnp.mean(errors)
        return loss, {"translator": loss}

    def _moved(self, weights: Weights, batch: Batch, numbers: Numbers) -> tuple[Any, Any]:
        drawn = jax.random.normal(batch.key, batch.o_t.shape)
        moved = numbers["translator_noise"] * weights["translator_input"][STEP] * drawn
        return batch.o_t + moved, batch.goal + moved if self.noise_on == "both" else batch.goal

    @property
    def draws(self) -> bool:
        return self.noise > 0

    def numbers(self) -> dict[str, Any]:
        return {
            "goal_horizon": np.int32(self.goal_horizon),
            "translator_decay": np.float32(self.decay_rate),
            "translator_noise": np.float32(self.noise),
        }

    def shared(self) -> Self:
        return replace(self, goal_horizon=10, inputs="raw", decay_rate=0.0, noise=float(self.noise > 0))

    @property
    def decay(self) -> Mapping[str, str]:
        return {"translator": "translator_decay"}

    @property
    def averaged(self) -> Mapping[str, int]:
        return {"translator": self.memory} if self.memory > 1 else {}

    @property
    def cloning_inputs(self) -> Inputs:
        return self.inputs

    def actor(self, weights: Weights) -> Act:
        return _Actor(weights)

    def shapes(
        self, tensors: Tensors, observation_size: int, action_size: int, hidden: int
    ) -> dict[str, tuple[int, ...]]:
        networks = super().shapes(tensors, observation_size, action_size, hidden)
        squashed: dict[str, tuple[int, ...]] = {f"translator_input.{SQUASHED}": ()} if self.squashed else {}
        step = {f"translator_input.{STEP}": (observation_size,)} if self.noise else {}
        return networks | goal_scaling_shapes("translator_input", observation_size) | squashed | step

    def check(self, tensors: Tensors, observation_size: int) -> str:
        columns = tensors.get("translator_input.columns")
        expected = self.columns or tuple(range(observation_size))
        if columns is None or columns.dtype != np.int32 or columns.tolist() != list(expected):
            return "translator_input.columns are not the columns of an observation that its settings name"
        if not self.squashed and f"translator_input.{SQUASHED}" in tensors:
            return "its actions are squashed, which its settings do not say"
        return ""


def translate(weights: Weights, observations: Any, goals: Any) -> Any:
    """Tran: the action that leads from each observation towards its goal observation; numpy or JAX."""
    given = mlp(weights["translator"], seen(weights, observations, goals))
    return given.__array_namespace__().tanh(given) if SQUASHED in weights["translator_input"] else given


def seen(weights: Weights, observations: Any, goals: Any) -> Any:
    """Observations and goals as the network sees them, side by side; numpy or JAX."""
    scaling = weights["translator_input"]
    here, there = scaled(scaling, observations), scaled_goals(scaling, observations, goals)
    return side_by_side(here[..., scaling["columns"]], there[..., scaling["columns"]])


def sample_goals(key: Any, row_t: Any, left_t: Any, *, horizon: Any, around: bool = False) -> Any:
    """Rows of o_{t+k}, k uniform in 1..horizon; o_{t+1} where t+k lies past the episode's end.

    `row_t` is the row of o_t, `left_t` how many observations of its episode follow it. `around`: past the end it goes
    on at o_{t+1} again, so k is counted modulo the observations that are left.
    """
    assert row_t.shape == left_t.shape
    k = jax.random.randint(key, row_t.shape, 1, horizon + 1, jnp.int32)
    return row_t + (1 + (k - 1) % left_t if around else jnp.where(k <= left_t, k, 1))


def typical_differences(episodes: Episodes, horizon: int) -> Float32s:
    """How large the differences between observations 1 to `horizon` steps apart are: the root of their mean square."""
    rows, left = episodes.step_observation, episodes.steps_left
    squares, count = np.zeros(episodes.observation_size), 0
    for k in range(1, horizon + 1):
        here = rows[left >= k]
        for some in row_pieces(episodes.observations, here):
            differences = (episodes.observations[some + k] - episodes.observations[some]).astype(np.float64)
            squares += np.einsum("ij,ij->j", differences, differences)
        count += len(here)
    return np.sqrt(squares / max(count, 1)).astype(np.float32)


class Sight:
    """`seen` made ready once, in numpy: what does not depend on the observation is done beforehand."""

    def __init__(self, weights: Weights) -> None:
        scaling = weights["translator_input"]
        self._columns = scaling["columns"].astype(np.intp)
        self._mean, self._std, self._spread = (scaling[name][self._columns] for name in ("mean", "std", "spread"))
        self._relative = bool(scaling["relative"])

    def __call__(self, observations: Float32s, goals: Float32s) -> Float32s:
        """Return what the network sees, for one observation or a row for each."""
        here, there = observations.take(self._columns, -1), goals.take(self._columns, -1)
        there -= here if self._relative else self._mean
        there /= self._spread
        here -= self._mean
        here /= self._std
        return np.concatenate((here, there), axis=-1)


class _Actor:
    """`translate` made ready once; a single row is handled as a vector."""

    def __init__(self, weights: Weights) -> None:
        self._see, self._layers = Sight(weights), pairs(weights["translator"])
        self._squashed = SQUASHED in weights["translator_input"]

    def __call__(self, observations: Float32s, goals: Float32s) -> Float32s:
        if len(observations) == 1:
            return self._translate(observations[0], goals[0])[None]
        return self._translate(observations, goals)

    def _translate(self, observations: Float32s, goals: Float32s) -> Float32s:
        given = through(self._layers, self._see(observations, goals))
        return np.tanh(given, out=given) if self._squashed else given
