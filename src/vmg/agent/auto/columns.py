"""What the columns of an observation are, judging by the recorded numbers alone.

constant     never changes
velocity     how fast another column changes
resting      does not change in most steps, though others do: an object that waits to be moved, but no valve or gripper
             of the robot's own
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from vmg.base.types import Bools, Float64s, Int64s
from vmg.data.columns import speeds
from vmg.data.episodes import Episodes
from vmg.data.mapping import largest, mean_and_std

ROWS = 20_000
"""Steps looked at: more would change nothing but the time."""
RESTS = 0.02
"""A column rests where its median change is below this share of the root of its mean square change."""
FOLLOWS = 0.9
"""A column is after a step what an action said in it, by this correlation: a valve, a gripper, a joint."""
APART = 5
"""Steps between which it is looked whether something rests."""
MANY = 30
"""Steps over which changes add up or do not."""


@dataclass(frozen=True)
class Columns:
    """Facts about every column."""

    spread: Float64s
    velocity_of: Int64s
    """The column whose velocity this is; below 0 where it is none."""
    resting: Bools
    persistence: Float64s
    """How much of its changes add up over many steps: near 1 where a robot makes its way, near 0 where it swings to and
    fro or is noise."""

    @cached_property
    def constant(self) -> Bools:
        return ~(self.spread > 0)

    @cached_property
    def moving(self) -> tuple[int, ...]:
        """Columns that change all the time: the robot's own."""
        return self._numbers(~self.resting & ~self.constant)

    @cached_property
    def positions(self) -> tuple[int, ...]:
        """Columns that change and are not the velocity of others."""
        return self._numbers((self.velocity_of < 0) & ~self.constant)

    @cached_property
    def moving_positions(self) -> tuple[int, ...]:
        """The robot's own columns without velocities."""
        return tuple(column for column in self.positions if column in set(self.moving))

    def _numbers(self, which: Bools) -> tuple[int, ...]:
        return tuple(np.flatnonzero(which).tolist())


def look_at(episodes: Episodes) -> Columns:
    """Find out what the columns are."""
    _, spread = mean_and_std(episodes.observations)
    spread[spread < 1e-6 * np.maximum(1.0, largest(episodes.observations))] = 0
    velocity_of = np.full(episodes.observation_size, -1)
    for column, place in speeds(episodes).items():
        velocity_of[column] = place if spread[column] > 0 else -1
    resting = _resting(episodes)
    return Columns(spread, velocity_of, resting & ~_own(episodes, resting), _persistence(episodes))


def _resting(episodes: Episodes) -> Bools:
    change = np.abs(_changes(episodes, APART))
    return np.asarray(np.median(change, axis=0) < RESTS * _size(change))


def _own(episodes: Episodes, resting: Bools) -> Bools:
    """Columns that follow an action one to one, if most of those move: one of them that rests is moved rarely.

    Where most of them rest, as a hand's joints that hold something do, resting says nothing about whose they are.
    """
    steps = _some(np.arange(episodes.n_steps))
    after, said = episodes.observations[episodes.step_observation[steps] + 1], episodes.actions[steps]
    alike: Float64s = np.abs(_standard(after).T @ _standard(said)) / len(steps)
    follows = alike.max(axis=1) > FOLLOWS
    return np.asarray(follows & (2 * (follows & ~resting).sum() > follows.sum()))


def _standard(values: np.ndarray) -> Float64s:
    spread = values.std(axis=0, dtype=np.float64)
    standard: Float64s = (values - values.mean(axis=0, dtype=np.float64)) / np.where(spread > 0, spread, 1)
    return standard


def _persistence(episodes: Episodes) -> Float64s:
    steps = min(MANY, int(episodes.lengths.max()))
    one, many = _size(_changes(episodes, 1)), _size(_changes(episodes, steps))
    return np.minimum(np.divide(many, steps * one, out=np.zeros_like(one), where=one > 0), 1.0)


def _changes(episodes: Episodes, apart: int) -> Float64s:
    """What columns change by in so many steps, or in as many as the longest episode has."""
    apart = min(apart, int(episodes.lengths.max()))
    rows = episodes.step_observation[_some(np.flatnonzero(episodes.steps_left >= apart))]
    return episodes.observations[rows + apart].astype(np.float64) - episodes.observations[rows]


def _size(changes: Float64s) -> Float64s:
    size: Float64s = np.sqrt(np.mean(changes**2, axis=0))
    return size


def _some(which: Int64s) -> Int64s:
    """At most `ROWS` of these, always the same ones."""
    if len(which) <= ROWS:
        return which
    return np.sort(np.random.default_rng(0).choice(which, ROWS, replace=False))
