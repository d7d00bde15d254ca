"""Disturbances: environments that are not as recorded.

Each is a wrapper around an environment. What it draws comes from the seed of the episode and from its own name alone,
and is scaled by its amount: every method meets the same disturbances, and a larger amount is more of the same.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from zlib import crc32

import numpy as np

from vmg.base.types import Float64s
from vmg.data.keys import is_goal
from vmg.envs.joints import driven_joints, move, observe
from vmg.envs.wrappers import Wrapped

Observe: TypeAlias = Callable[[Any], Any]
"""(environment) → its observation, looked up anew."""

PUSHED = (0.1, 0.5)
"""Between which shares of its horizon an episode is pushed."""


@dataclass(frozen=True)
class Disturbance:
    """One way in which an environment can be disturbed."""

    unit: str
    """What its amount means, in words: "rad, normal, on each of the arm's seven joints"."""
    wrap: Callable[[Any, float, int], Any]
    """(environment, amount, steps of an episode) → the environment, disturbed by that amount."""
    usual: tuple[float, ...]
    """Amounts of a curve, where nobody names any."""
    nothing: float = 0.0
    """The amount that changes nothing."""
    whole: bool = False
    """Whether amounts are whole numbers."""


class Disturbed(Wrapped):
    """An environment with a generator that an episode's seed starts anew."""

    name = ""

    def __init__(self, env: Any, amount: float, horizon: int) -> None:
        super().__init__(env)
        self.amount, self.horizon = amount, horizon
        self.rng = np.random.default_rng(0)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.rng = np.random.default_rng(None if seed is None else [crc32(self.name.encode()), seed])
        return self.env.reset(seed=seed, options=options)

    def drawn(self, size: int) -> Float64s:
        """Draw normal numbers whose spread is the amount."""
        return self.amount * self.rng.standard_normal(size)


class NoisyActions(Disturbed):
    """Adds noise to actions: 1 is half of the range that they may have, or 1 where they may have any."""

    name = "noise"

    def __init__(self, env: Any, amount: float, horizon: int, numbers: int | None = None) -> None:
        super().__init__(env, amount, horizon)
        self.numbers = numbers

    def step(self, action: Any) -> Any:
        noisy = np.array(action, np.float64)
        low, high = self.env.action_space.low, self.env.action_space.high
        half = np.where(np.isfinite(high) & np.isfinite(low), (high.astype(np.float64) - low) / 2, 1.0)
        changed = np.arange(noisy.size) < (noisy.size if self.numbers is None else self.numbers)
        noisy += np.where(changed, half.reshape(-1) * self.drawn(noisy.size), 0.0).reshape(noisy.shape)
        return self.env.step(np.clip(noisy, low, high).astype(np.asarray(action).dtype))


class NoisySensors(Disturbed):
    """Adds noise to every number that is seen, but not to the goal that is named."""

    name = "sensors"

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        observation, info = super().reset(seed=seed, options=options)
        return self._noisy(observation), info

    def step(self, action: Any) -> Any:
        observation, *rest = self.env.step(action)
        return self._noisy(observation), *rest

    def _noisy(self, seen: Any) -> Any:
        if isinstance(seen, Mapping):
            return {name: part if is_goal(name) else self._noisy(part) for name, part in seen.items()}
        if isinstance(seen, tuple):
            return tuple(map(self._noisy, seen))
        numbers = np.asarray(seen)
        if numbers.dtype.kind != "f":
            return seen
        return (numbers + self.drawn(numbers.size).reshape(numbers.shape)).astype(numbers.dtype)


class Delayed(Disturbed):
    """Shows every observation so many steps late; until then, the first one."""

    name = "delay"

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        observation, info = super().reset(seed=seed, options=options)
        self._seen = deque([observation], maxlen=int(self.amount) + 1)
        return observation, info

    def step(self, action: Any) -> Any:
        observation, *rest = self.env.step(action)
        self._seen.append(observation)
        return self._seen[0], *rest


class MovedStart(Disturbed):
    """Starts an episode with other positions of joints: at places of MuJoCo's `qpos`, or of all driven ones."""

    name = "start"

    def __init__(
        self,
        env: Any,
        amount: float,
        horizon: int,
        positions: Sequence[int] | None = None,
        look: Observe = observe,
    ) -> None:
        super().__init__(env, amount, horizon)
        self.positions, self.look = positions, look

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        _, info = super().reset(seed=seed, options=options)
        positions = driven_joints(self.env)[0] if self.positions is None else np.array(self.positions)
        move(self.env, positions, lambda: self.drawn(len(positions)))
        return self.look(self.env), info


class Pushed(Disturbed):
    """Pushes once in mid-episode, after a step that the seed chooses: what is seen next shows it.

    Positions are moved, at places of `qpos`, or else velocities, at places of `qvel` or of all driven joints.
    """

    name = "push"

    def __init__(
        self,
        env: Any,
        amount: float,
        horizon: int,
        positions: Sequence[int] = (),
        velocities: Sequence[int] | None = None,
        look: Observe = observe,
    ) -> None:
        super().__init__(env, amount, horizon)
        self.positions, self.velocities, self.look = positions, velocities, look

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        began = super().reset(seed=seed, options=options)
        first, last = (int(share * self.horizon) for share in PUSHED)
        self._left = int(self.rng.integers(max(first, 1), max(last, 2)))
        return began

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._left -= 1
        if self._left == 0 and not (terminated or truncated):
            self._push()
            observation = self.look(self.env)
        return observation, reward, terminated, truncated, info

    def _push(self) -> None:
        if self.positions:
            move(self.env, np.array(self.positions), lambda: self.drawn(len(self.positions)))
            return
        velocities = driven_joints(self.env)[1] if self.velocities is None else np.array(self.velocities)
        move(self.env, velocities, lambda: self.drawn(len(velocities)), velocities=True)


JOINTS = {
    "start": Disturbance("rad or m, normal, on each joint that a motor moves", MovedStart, (0.05, 0.1, 0.2)),
    "push": Disturbance("rad/s or m/s, normal, on each joint that a motor moves, once", Pushed, (0.5, 1.0, 2.0)),
}
"""Of environments whose joints can be moved."""

SIGNALS = {
    "noise": Disturbance("of half an action's range, normal, in every step", NoisyActions, (0.1, 0.2, 0.3)),
    "sensors": Disturbance("in the units of what is seen, normal, on each number", NoisySensors, (0.01, 0.03, 0.1)),
    "delay": Disturbance("steps", Delayed, (1, 2, 3), whole=True),
}
"""Of any environment."""
