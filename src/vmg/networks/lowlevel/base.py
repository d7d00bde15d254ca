"""What a low-level policy is: settings, networks, a loss in JAX and an action in numpy."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, Self, TypeAlias, cast, runtime_checkable

import numpy as np

from vmg.base.registry import ClassRegistry
from vmg.base.settings import Settings
from vmg.base.types import Bools, Float32s, Int64s
from vmg.data.episodes import Episodes
from vmg.networks.angles import ANGLES, turned
from vmg.networks.mlp import Inputs, Parts, layer_shapes
from vmg.networks.weights import Tensors, Weights

Number: TypeAlias = Any
"""Of Python, numpy or JAX."""
Numbers: TypeAlias = Mapping[str, Number]
Act: TypeAlias = Callable[[Float32s, Float32s], Float32s]
"""(observations, subgoals), a row for each → actions."""


@runtime_checkable
class Drawing(Protocol):
    """An actor that draws at random."""

    def draw_from(self, rng: np.random.Generator) -> None:
        """Draw from this generator from now on; an episode that is run again brings the same one."""


@runtime_checkable
class Doubting(Protocol):
    """An actor that knows when it is asked for something unlike what it learned; it is then given a nearer subgoal."""

    def unsure(self, observations: Float32s, goals: Float32s) -> Bools:
        """Say for each row whether it is."""


class Batch(NamedTuple):
    """What a loss is computed from, one row per drawn step (JAX arrays)."""

    o_t: Any
    a_t: Any
    """The action to learn: the one taken in o_t or, for a low-level policy with a lead, so many steps later."""
    r_t: Any
    o_tp1: Any
    goal: Any
    """An observation later in the same episode, as `goal_rows` drew it."""
    goal_steps: Any
    """How many steps later."""
    key: Any
    """For whatever else is random."""


@dataclass(frozen=True, kw_only=True)
class LowLevel(Settings):
    """Settings of a low-level policy, and what they mean. A subclass is one kind."""

    kind: ClassVar[str]
    """Its name in the registry, which sets it."""
    losses: ClassVar[Sequence[str]]
    """Names of the losses worth watching while it learns."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values with the kind, ready for JSON."""
        return {"kind": self.kind, **super().to_dict()}

    def turned(self, angles: Sequence[int]) -> Self:
        """Return the settings for observations in which these columns are sine and cosine: see `networks.angles`.

        One that names columns names those of the observation, and here those that networks see.
        """
        return self

    # --- learning ----------------------------------------------------------------------------------------------------

    def parts(self, observation_size: int, action_size: int) -> dict[str, Parts]:
        """Return what each of its networks sees and gives; every network has the learner's hidden layers."""
        raise NotImplementedError

    def scalings(self, episodes: Episodes) -> Weights:
        """Return what turns observations into inputs: not learned, the same for every model of these episodes.

        Models that learn side by side may differ in arrays named mean, std, spread and relative, but in no others.
        """
        raise NotImplementedError

    def steps_left(self, episodes: Episodes) -> Int64s:
        """Return for every step what `goal_rows` is told of it: how many observations of its episode follow."""
        return episodes.steps_left

    def goal_rows(self, key: Any, row_t: Any, left_t: Any, numbers: Numbers) -> Any:
        """Draw the row of a goal for each row of o_t; `left_t` is what `steps_left` says of it."""
        raise NotImplementedError

    def loss(self, weights: Weights, batch: Batch, numbers: Numbers) -> tuple[Any, dict[str, Any]]:
        """Return the loss and its terms by name."""
        raise NotImplementedError

    def measured(self, weights: Weights, episodes: Episodes) -> Weights:
        """Return a learned model with what is measured of it: on episodes held out, or else on those it learned from.

        It is measured whenever weights are saved, not while learning.
        """
        return weights

    def numbers(self) -> dict[str, Number]:
        """Return the settings in which models that learn side by side may differ, as numbers.

        The metric space's are among them: margin, contrastive and reconstruction. Call yours something else.
        """
        return {}

    def shared(self) -> Self:
        """Return the settings without those that `numbers` and `scalings` cover: what must be the same side by side.

        `goal_rows` and `loss` are called on what this returns: they must read those from `numbers` and `weights`.
        """
        return self

    @property
    def draws(self) -> bool:
        """Whether its loss draws at random: then `Batch.key` is a key, else None."""
        return False

    @property
    def lead(self) -> int | None:
        """How many steps later the action was recorded that it learns for a state; None: it is that state's."""
        return None

    @property
    def decay(self) -> Mapping[str, str]:
        """Networks with weight decay, each with the entry of `numbers` that says how much."""
        return {}

    @property
    def averaged(self) -> Mapping[str, int]:
        """Networks whose weights are averaged, each over so many updates."""
        return {}

    @property
    def learning_only(self) -> Sequence[str]:
        """Networks that are needed while it learns, and not to act: they are not kept."""
        return ()

    @property
    def cloning_inputs(self) -> Inputs:
        """How behaviour cloning, the baseline beside it, scales what it sees."""
        return "normalised"

    # --- acting ------------------------------------------------------------------------------------------------------

    def actor(self, weights: Weights) -> Act:
        """Return the policy, made ready once; it needs numpy alone. See also `Drawing` and `Doubting`."""
        raise NotImplementedError

    def shapes(
        self, tensors: Tensors, observation_size: int, action_size: int, hidden: int
    ) -> dict[str, tuple[int, ...]]:
        """Return the shape of every float32 tensor that its models have on disk, by full name."""
        parts = self.parts(observation_size, action_size)
        return layer_shapes({name: each for name, each in parts.items() if name not in self.learning_only}, hidden)

    def check(self, tensors: Tensors, observation_size: int) -> str:
        """Say what else is wrong with tensors of the right shapes; nothing if all is well."""
        return ""


LOW_LEVELS: ClassRegistry[type[LowLevel]] = ClassRegistry("low-level policy")


def actor(low_level: LowLevel, weights: Weights) -> Act:
    """Return a low-level policy that is given observations and subgoals as they are, whatever its networks see."""
    act = low_level.actor(weights)
    return _Turning(act, weights) if ANGLES in weights else act


class _Turning:
    """An actor whose networks see sine and cosine; it draws, and doubts, if the one behind it does."""

    def __init__(self, act: Act, weights: Weights) -> None:
        self._act, self._weights, behind = act, weights, cast("object", act)
        if isinstance(behind, Drawing):
            self.draw_from = behind.draw_from
        if isinstance(behind, Doubting):
            doubt = behind.unsure
            self.unsure = lambda observations, goals: doubt(*self._turned(observations, goals))

    def __call__(self, observations: Float32s, goals: Float32s) -> Float32s:
        return self._act(*self._turned(observations, goals))

    def _turned(self, observations: Float32s, goals: Float32s) -> tuple[Float32s, Float32s]:
        return turned(self._weights, observations), turned(self._weights, goals)
