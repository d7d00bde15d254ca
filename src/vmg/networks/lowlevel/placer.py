"""A translator that can also bring things where they are wanted: it sees what it handles.

translator       Tran    s, s'       → a           towards a state a few steps later
placer           π       s, g        → a           until the things lie where g has them, whatever else changes
pace             T       s, g        → steps       until they do; while learning

Things lie still unless they are handled. The placer learns the recorded way from any state to where they next come to
rest, and sees of that state the things alone. Operators also dawdle: from the same state some recordings take
longer than others. The action of a recording that takes less than T says counts more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from vmg.base.errors import VMGError
from vmg.base.lazy import LazyModule
from vmg.base.settings import Bounds
from vmg.base.types import Float32s, Int64s
from vmg.data.episodes import Episodes
from vmg.data.rests import steps_to_rest
from vmg.networks.angles import turned_columns
from vmg.networks.lowlevel.base import LOW_LEVELS, Act, Batch, Numbers
from vmg.networks.lowlevel.translator import Translator
from vmg.networks.mlp import (
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

INPUT = "placer_input"
STEPS = "steps"
"""The array that has how many steps it takes on average until things come to rest."""
HEAVIEST = 20.0
"""No action counts more than this."""


@LOW_LEVELS.register("placer")
@dataclass(frozen=True, kw_only=True)
class Placer(Translator):
    """A translator that is also learned for goals in which only the places of some things count.

    Half of a batch is the translator's, half the placer's. A goal that is not a number in any column that does not
    count is the placer's. Without `objects` it is a translator.
    """

    kind: ClassVar[str] = "placer"
    losses: ClassVar[tuple[str, ...]] = ("translator", "placer")

    objects: tuple[Annotated[int, Bounds(0)], ...] = ()
    """Columns that say where things are which lie still unless they are handled."""
    haste: Annotated[float, Bounds(0, 100)] = 4.0
    """An action on a way that is shorter than expected, by a share x of the mean way, counts exp(haste · x) times."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.lead:
            raise VMGError(
                f"lead must be 0 with a placer, not {self.lead}: it learns the action taken in a state. Add "
                "--learn.low-level.lead 0."
            )

    def turned(self, angles: Sequence[int]) -> Self:
        return replace(super().turned(angles), objects=turned_columns(self.objects, angles))

    def parts(self, observation_size: int, action_size: int) -> dict[str, Parts]:
        translator = super().parts(observation_size, action_size)
        if not self.objects:
            return translator
        seen = (observation_size, len(self.objects))
        return {**translator, "placer": (seen, action_size), "pace": (seen, 1)}

    def scalings(self, episodes: Episodes) -> Weights:
        scalings = super().scalings(episodes)
        if not self.objects:
            return scalings
        if len(set(self.objects)) == episodes.observation_size:
            raise VMGError(
                f"{episodes.source}: --learn.low-level.objects names every column of the observations, so that none is "
                "left for what handles things. Name only the columns that say where things are."
            )
        to_rest = steps_to_rest(episodes, self.objects)
        rows, ahead = episodes.step_observation[to_rest > 0], to_rest[to_rest > 0]
        if not len(rows):
            raise VMGError(
                f"{episodes.source}: nothing in the columns {list(self.objects)} is moved and comes to rest again, so "
                "that there is nothing to learn to place. Name other columns with --learn.low-level.objects."
            )
        apart = np.zeros(episodes.observation_size, np.float32)
        for column in self.objects:
            values = episodes.observations[:, column].astype(np.float64)
            apart[column] = np.sqrt(np.square(values[rows + ahead] - values[rows]).mean())
        scaling = goal_scaling(episodes.observations, "relative", self.objects, apart)
        return {**scalings, INPUT: {**scaling, STEPS: np.float32(ahead.mean())}}

    def steps_left(self, episodes: Episodes) -> Int64s:
        """Steps that are left of the episode and, beside them, until things come to rest; 0 where they do not."""
        left = super().steps_left(episodes)
        return np.stack([left, steps_to_rest(episodes, self.objects)], axis=1) if self.objects else left

    def goal_rows(self, key: Any, row_t: Any, left_t: Any, numbers: Numbers) -> Any:
        if not self.objects:
            return super().goal_rows(key, row_t, left_t, numbers)
        near = super().goal_rows(key, row_t, left_t[:, 0], numbers)
        return jnp.where(_placing(row_t), row_t + left_t[:, 1], near)

    def loss(self, weights: Weights, batch: Batch, numbers: Numbers) -> tuple[Any, dict[str, Any]]:
        """L_Tran of one half of the batch + the mean of w ‖π(s, g) − a‖² + (T(s, g) − t)² of the other.

        w = min(exp(haste · (T − t) / mean), 20), where t steps later things came to rest.
        """
        if not self.objects:
            return super().loss(weights, batch, numbers)
        half = _placing(batch.goal_steps)
        first, second = (jax.tree.map(lambda x, one=one: x[one], batch._replace(key=None)) for one in (~half, half))
        near, info = super().loss(weights, first._replace(key=batch.key), numbers)
        shown = seen(weights, second.o_t, second.goal)
        errors = jnp.sum((mlp(weights["placer"], shown) - second.a_t) ** 2, axis=-1)
        known = second.goal_steps > 0
        watched = {**info, "placer": jnp.sum(known * errors) / jnp.maximum(jnp.sum(known), 1)}
        if "pace" not in weights:
            return near + watched["placer"], watched
        late = mlp(weights["pace"], shown)[:, 0] - second.goal_steps / weights[INPUT][STEPS]
        heavier = jnp.minimum(jnp.exp(numbers["placer_haste"] * jax.lax.stop_gradient(late)), HEAVIEST)
        placed, pace = jnp.mean(known * heavier * errors), jnp.mean(known * late**2)
        return near + placed + pace, {**watched, "pace": pace}

    def numbers(self) -> dict[str, Any]:
        return {**super().numbers(), "placer_haste": np.float32(self.haste)}

    def shared(self) -> Self:
        return replace(super().shared(), haste=4.0)

    @property
    def decay(self) -> Mapping[str, str]:
        return {**super().decay, "placer": "translator_decay"} if self.objects else super().decay

    @property
    def averaged(self) -> Mapping[str, int]:
        return {**super().averaged, "placer": self.memory} if self.objects and self.memory > 1 else super().averaged

    @property
    def learning_only(self) -> Sequence[str]:
        return ("pace",)

    def actor(self, weights: Weights) -> Act:
        near = super().actor(weights)
        return _Actor(near, weights) if self.objects else near

    def shapes(
        self, tensors: Tensors, observation_size: int, action_size: int, hidden: int
    ) -> dict[str, tuple[int, ...]]:
        shapes = super().shapes(tensors, observation_size, action_size, hidden)
        own = goal_scaling_shapes(INPUT, observation_size) | {f"{INPUT}.{STEPS}": ()}
        return shapes | own if self.objects else shapes

    def check(self, tensors: Tensors, observation_size: int) -> str:
        columns = tensors.get(f"{INPUT}.columns")
        whole = columns is not None and np.issubdtype(columns.dtype, np.integer)
        if self.objects and (columns is None or not whole or columns.tolist() != list(self.objects)):
            return f"{INPUT}.columns are not the objects that its settings name"
        return super().check(tensors, observation_size)


def _placing(rows: Any) -> Any:
    """Which rows of a batch are the placer's: the second half."""
    return np.arange(len(rows)) >= len(rows) // 2


def seen(weights: Weights, observations: Any, goals: Any) -> Any:
    """The whole state, and how far the things lie from where a goal has them; numpy or JAX."""
    scaling = weights[INPUT]
    there = scaled_goals(scaling, observations, goals)
    return side_by_side(scaled(scaling, observations), there[..., scaling["columns"]])


class _Actor:
    """The placer where a goal leaves open what does not count, else the translator."""

    def __init__(self, near: Act, weights: Weights) -> None:
        self._near, self._weights, self._layers = near, weights, pairs(weights["placer"])

    def __call__(self, observations: Float32s, goals: Float32s) -> Float32s:
        placing = np.isnan(goals).any(1)
        if not placing.any():
            return self._near(observations, goals)
        actions = through(self._layers, np.asarray(seen(self._weights, observations, goals), np.float32))
        if not placing.all():
            actions[~placing] = self._near(observations[~placing], goals[~placing])
        return actions
