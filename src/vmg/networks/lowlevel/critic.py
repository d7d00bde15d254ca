"""A translator that learns with a critic: of the actions recorded on such a way, those count more that got on faster.

translator       π       s, g        → a           acts; all that is kept
action value     Q       s, g, a     → −steps      until the goal g, if a is taken
state value      V       s, g        → −steps      of the better actions recorded there

Every step costs 1 until the goal, which lies 1 to K steps ahead in the same recording. Values are learned as in
implicit Q-learning (Kostrikov et al., 2021): V is an expectile of Q, so that no action is judged that nobody took.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from vmg.base.errors import VMGError
from vmg.base.lazy import LazyModule
from vmg.base.settings import Bounds
from vmg.networks.lowlevel.base import LOW_LEVELS, Batch, Numbers
from vmg.networks.lowlevel.translator import Translator, seen, translate
from vmg.networks.mlp import Parts, mlp, side_by_side
from vmg.networks.weights import Weights

jax, jnp = LazyModule("jax"), LazyModule("jax.numpy")

DISCOUNT = 0.99
"""What a step later counts. Goals are near, so it hardly matters; below 1, values cannot grow without end."""
HEAVIEST = 100.0
"""No action counts more than this."""


@LOW_LEVELS.register("critic")
@dataclass(frozen=True, kw_only=True)
class Critic(Translator):
    """A translator that learns most from the actions that its critic finds to lead to the goal in fewer steps."""

    kind: ClassVar[str] = "critic"
    losses: ClassVar[tuple[str, ...]] = ("actor", "critic")

    expectile: Annotated[float, Bounds(0.5, 1, open_high=True)] = 0.7
    """Which of the recorded actions are expected later on: their mean at 0.5, the best near 1."""
    sharpness: Annotated[float, Bounds(0, 100)] = 1.0
    """An action that saves n steps counts exp(sharpness · n) times as much; 0: all count the same."""
    cloning: Annotated[float, Bounds(0, 1e6)] = 0.1
    """What every recorded action counts besides, however bad."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.lead:
            raise VMGError(
                f"lead must be 0 with a critic, not {self.lead}: it judges the action taken in a state. Add "
                "--learn.low-level.lead 0."
            )

    def parts(self, observation_size: int, action_size: int) -> dict[str, Parts]:
        actor = super().parts(observation_size, action_size)
        both, given = actor["translator"]
        return {**actor, "action_value": ((*both, given), 1), "state_value": (both, 1)}

    @property
    def learning_only(self) -> Sequence[str]:
        return ("action_value", "state_value")

    def loss(self, weights: Weights, batch: Batch, numbers: Numbers) -> tuple[Any, dict[str, Any]]:
        """L = mean of w ‖π(s, g) − a‖² + L_Q + L_V, with w = min(exp(sharpness · (Q − V)), 100) + cloning.

        The actor's error without w is what is watched, and all there is where the critic was not kept.
        """
        o_t, goal = self._moved(weights, batch, numbers) if self.noise else (batch.o_t, batch.goal)
        errors = jnp.sum((translate(weights, o_t, goal) - batch.a_t) ** 2, axis=-1)
        watched = {"actor": jnp.mean(errors)}
        if "state_value" not in weights:
            return watched["actor"], watched
        critic, advantage = critic_loss(weights, batch, numbers["critic_expectile"])
        heavier = jnp.minimum(jnp.exp(numbers["critic_sharpness"] * advantage), HEAVIEST)
        actor = jnp.mean((heavier + numbers["critic_cloning"]) * errors)
        return actor + critic, {**watched, "critic": critic, "weighted": actor}

    def numbers(self) -> dict[str, Any]:
        own = {"expectile": self.expectile, "sharpness": self.sharpness, "cloning": self.cloning}
        return {**super().numbers(), **{f"critic_{name}": np.float32(number) for name, number in own.items()}}

    def shared(self) -> Self:
        return replace(super().shared(), expectile=0.7, sharpness=1.0, cloning=0.1)


def critic_loss(weights: Weights, batch: Batch, expectile: Any) -> tuple[Any, Any]:
    """Return L_Q + L_V, and Q − V: how many steps fewer each action takes than what is expected in its state.

    L_Q = (Q(s, g, a) − y)² with y = −1 where s' is the goal, else −1 + discount · V(s', g).
    L_V = |expectile − 1(Q < V)| (Q − V)²
    """
    here, there = seen(weights, batch.o_t, batch.goal), seen(weights, batch.o_tp1, batch.goal)
    q = mlp(weights["action_value"], side_by_side(here, batch.a_t))[:, 0]
    v = mlp(weights["state_value"], here)[:, 0]
    later = jnp.minimum(mlp(weights["state_value"], there)[:, 0], 0.0)
    y = jax.lax.stop_gradient(-1.0 + DISCOUNT * jnp.where(batch.goal_steps == 1, 0.0, later))
    advantage = jax.lax.stop_gradient(q) - v
    share = jnp.where(advantage < 0, 1 - expectile, expectile)
    loss = jnp.mean((q - y) ** 2) + jnp.mean(share * advantage**2)
    return loss, jax.lax.stop_gradient(advantage)
