"""What objectives are made of: functions of observations and of episodes.

Classes and not closures, so that an objective can be sent to the processes that evaluate it.
"""

import runpy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from vmg.base.errors import VMGError
from vmg.base.types import Float32s, Float64s
from vmg.data.episodes import Episodes, RewardFunction
from vmg.data.own import Form, called, cannot_be_run, numbers_from, predicate_form

TRIED, ROUNDING = 2000, 1e-5
"""Steps tried, and the share of the largest reward by which sums may differ, in `Relabelled.paid_on_leaving`."""
USUAL = 0.1
"""The share of the observations that a reward is usual for, at least."""

Predicate: TypeAlias = Callable[[Mapping[str, Float32s]], ArrayLike]


def own_rewards(episodes: Episodes) -> Float64s:
    """Pay what was recorded."""
    return episodes.rewards


@dataclass(frozen=True, eq=False)
class Given:
    """Pays what an array says, step by step."""

    rewards: Float64s

    def __call__(self, episodes: Episodes) -> Float64s:
        if self.rewards.shape != (episodes.n_steps,):
            raise VMGError(
                f"{episodes.source} has {episodes.n_steps} steps, but the rewards have the shape {self.rewards.shape}."
            )
        return self.rewards


@dataclass(frozen=True, eq=False)
class Relabelled:
    """Pays what a function of steps says."""

    function: RewardFunction

    def __call__(self, episodes: Episodes) -> Float64s:
        return episodes.relabel(self.function).rewards

    def paid_on_leaving(self, episodes: Episodes) -> Float64s | None:
        """Say what leaving each observation pays, where that does not depend on what is done and where it leads.

        It is tried on recorded observations and actions in random order, and is 0 where the usual is paid or, if no
        two observations are paid alike, where most is. None where it depends on more, or is the same everywhere.
        """
        observations, rng = episodes.observations, np.random.default_rng(0)
        one, other, first, second = (observations[rng.integers(0, len(observations), TRIED)] for _ in range(4))
        actions = episodes.actions[rng.integers(0, episodes.n_steps, TRIED)]
        try:
            with np.errstate(all="ignore"):
                there, elsewhere = (self._paid(o, actions, first) for o in (one, other))
                apart = there - elsewhere - self._paid(one, actions[::-1], second)
                apart += self._paid(other, actions[::-1], second)
                action, end = (np.repeat(each[:1], len(observations), axis=0) for each in (actions, first))
                leaving = self._paid(observations, action, end)
        except Exception:  # it was written for steps that follow one another, and need not bear others
            return None
        size = max(np.abs(there).max(initial=0.0), np.abs(elsewhere).max(initial=0.0))
        adds_up = size > 0 and np.abs(apart).max() <= ROUNDING * size
        if not adds_up or leaving.shape != (len(observations),) or not np.isfinite(leaving).all():
            return None
        values, counts = np.unique(leaving, return_counts=True)
        usual = values[counts.argmax()] if counts.max() > USUAL * len(leaving) else values[-1]
        return leaving - usual if values[-1] - values[0] > ROUNDING * size else None

    def _paid(self, o_t: Float32s, a_t: Float32s, o_tp1: Float32s) -> Float64s:
        return np.asarray(self.function(o_t, a_t, o_tp1), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Region:
    """Some columns of an observation, and what is wanted there: between a low and a high."""

    columns: tuple[int, ...]
    low: Float64s
    high: Float64s

    def __call__(self, observations: Float32s) -> Float64s:
        x = observations[:, self.columns].astype(np.float64)
        gaps: Float64s = np.linalg.norm(np.maximum(self.low - x, 0) + np.maximum(x - self.high, 0), axis=1)
        return gaps


@dataclass(frozen=True, eq=False)
class ToTruth:
    """Nothing where a predicate is true, and infinity where it is not."""

    predicate: Predicate
    fields: Mapping[str, tuple[int, ...]]

    def __call__(self, observations: Float32s) -> Float64s:
        parts = {field: observations[:, columns] for field, columns in self.fields.items()}
        return np.where(numbers_from(self.predicate, (parts,), len(observations), self._form), 0.0, np.inf)

    @cached_property
    def columns(self) -> tuple[int, ...]:
        """The columns of the fields that the predicate reads."""
        width = 1 + max((column for columns in self.fields.values() for column in columns), default=0)
        read = _Reading({field: np.zeros((1, width), np.float32)[:, columns] for field, columns in self.fields.items()})
        with np.errstate(all="ignore"):
            called(self.predicate, (read,), self._form)
        return tuple(column for field in read.fields for column in self.fields[field])

    @property
    def _form(self) -> Form:
        return predicate_form(tuple(self.fields))


class _Reading(dict[str, Float32s]):
    """Fields that note which of them are read."""

    def __init__(self, fields: Mapping[str, Float32s]) -> None:
        super().__init__(fields)
        self.fields: list[str] = []

    def __getitem__(self, field: str) -> Float32s:
        if field not in self.fields:
            self.fields.append(field)
        return super().__getitem__(field)


class FileFunction:
    """A function in a file; where it is sent, the file is run again."""

    def __init__(self, file: str, name: str) -> None:
        self.file, self.name = file, name
        try:
            function = runpy.run_path(file).get(name)
        except (Exception, SystemExit) as error:  # it is the user's, and may raise anything
            raise cannot_be_run(file, error) from error
        if not callable(function):
            raise VMGError(f"{file} has no function {name!r}.")
        self.__name__, self.__wrapped__ = name, function

    def __call__(self, o_t: Float32s, a_t: Float32s, o_tp1: Float32s) -> ArrayLike:
        rewards: ArrayLike = self.__wrapped__(o_t, a_t, o_tp1)
        return rewards

    def __reduce__(self) -> tuple[type["FileFunction"], tuple[str, str]]:
        return FileFunction, (self.file, self.name)
