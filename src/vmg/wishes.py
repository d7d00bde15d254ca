"""Wishes: new tasks for a graph that is already built, and no network is trained again.

A wish says what every step pays and, where there is something to *reach*, how far every observation is from it.
`vmg.want` solves the graph for it in milliseconds.

    by_rewards(array)                         a number for each recorded step
    by_function(f)                            f(o_t, a_t, o_{t+1}), vectorised over rows
    by_file("file.py:function")               the same, from a file
    near(place, columns=(0, 1), tolerance=0.5)   a place in some of the observation's numbers
    within(low, high, columns=...)            a box of them
    where(predicate, fields)                  a predicate over the named parts of an observation
    both([a, b])                              all of these at once
    weighted([(2.0, a), (-1.0, b)])           a sum of wishes

Wishes made of functions that can be sent to other processes can be sent there themselves.
"""

import runpy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from vmg.data.episodes import Episodes, RewardFunction
from vmg.errors import VMGError
from vmg.types import Bools, Float32s, Float64s

Distance = Callable[[Float32s], ArrayLike]
Predicate = Callable[[Mapping[str, Float32s]], ArrayLike]


@dataclass(frozen=True, eq=False)
class Place:
    """Some of an observation's numbers, and what they are there; called, it says how far observations are from it."""

    columns: tuple[int, ...]
    numbers: Float64s

    def __call__(self, observations: Float32s) -> Float64s:
        squares = np.zeros(len(observations))
        for column, number in zip(self.columns, self.numbers, strict=True):  # faster than picking the columns out first
            squares += (observations[:, column] - number) ** 2
        return np.sqrt(squares)


@dataclass(frozen=True, eq=False)
class Wish:
    """What is wanted, in words, in rewards and, where it can be reached, in distances."""

    words: str
    distance: Distance | None = None
    """How far each observation is from what is wanted; None: there is nothing to reach, only rewards."""
    tolerance: float = 0.0
    """How near is there."""
    rewards: Callable[[Episodes], Float64s] | None = None
    """What steps are paid; None: 1 for arriving there."""

    @property
    def place(self) -> Place | None:
        """The one place that is wanted, if it is one."""
        return self.distance if isinstance(self.distance, Place) else None

    def pays(self, episodes: Episodes) -> Float64s:
        """Return the reward of each step."""
        if self.rewards:
            return self.rewards(episodes)
        return self.holds(episodes.observations)[episodes.step_observation + 1].astype(np.float64)

    def distances(self, observations: Float32s) -> Float64s:
        """Say how far each observation is from what is wanted."""
        if self.distance is None:
            raise VMGError(f"'{self.words}' is paid step by step: it holds nowhere, so it cannot be reached.")
        numbers = np.asarray(self.distance(observations), dtype=np.float64)
        if numbers.shape != (len(observations),) or np.isnan(numbers).any():
            raise VMGError(
                f"'{self.words}' must give one number for each of {len(observations)} observations, not the shape "
                f"{numbers.shape}."
            )
        return numbers

    def holds(self, observations: Float32s) -> Bools:
        """Say where the wish is fulfilled."""
        return self.distances(observations) <= self.tolerance


def by_rewards(rewards: ArrayLike) -> Wish:
    """Want what an array says: a reward for each recorded step."""
    return Wish("the rewards given, step by step", rewards=_Relabelled(np.asarray(rewards)))


def by_function(function: RewardFunction, *, words: str | None = None) -> Wish:
    """Want what f(o_t, a_t, o_{t+1}) pays; it gets whole arrays, a row a step."""
    words = words or f"the function {getattr(function, '__name__', 'given')}"
    return Wish(words, rewards=_Relabelled(function))


def by_file(place: str) -> Wish:
    """Want what a function in a file pays, "file.py:function". The file is run: name only files you trust."""
    file, colon, name = place.rpartition(":")
    if not colon or not Path(file).is_file():
        raise VMGError(f"{place!r} does not name a function: write file.py:function, with a file that exists.")
    return by_function(_FileFunction(file, name), words=f"the function {name} of {file}")


def near(place: ArrayLike, *, columns: Sequence[int], tolerance: float, words: str | None = None) -> Wish:
    """Want to be within `tolerance` of a place, given by the numbers `columns` of an observation."""
    numbers = np.asarray(place, dtype=np.float64)
    if numbers.shape != (len(columns),):
        raise VMGError(f"A place in {len(columns)} columns has as many numbers, not the shape {numbers.shape}.")
    if not np.isfinite(numbers).all() or not tolerance >= 0:
        raise VMGError(f"A place and its tolerance are finite numbers, not {numbers.tolist()} and {tolerance}.")
    listed = ", ".join(f"{x:g}" for x in numbers)
    words = words or f"({listed}) in the numbers {list(columns)}"
    return Wish(words, Place(tuple(columns), numbers), tolerance)


def within(low: ArrayLike, high: ArrayLike, *, columns: Sequence[int], words: str | None = None) -> Wish:
    """Want the numbers `columns` of the observation to lie between `low` and `high`."""
    bottom, top = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    if bottom.shape != (len(columns),) or top.shape != bottom.shape or not (bottom <= top).all():
        raise VMGError(f"A region needs a low and a high for each of {len(columns)} columns, low no higher than high.")
    words = words or f"between {bottom.tolist()} and {top.tolist()}"
    return Wish(words, _ToRegion(tuple(columns), bottom, top))


def where(predicate: Predicate, fields: Mapping[str, Sequence[int]], *, words: str | None = None) -> Wish:
    """Want a predicate over named parts to be true: it gets a dict of arrays, a row an observation.

    where(lambda at: at["kettle"][:, 1] > 0.7, task.fields)
    """
    words = words or f"the predicate {getattr(predicate, '__name__', 'given')}"
    return Wish(words, _ToTruth(predicate, {name: tuple(columns) for name, columns in fields.items()}))


def both(wishes: Sequence[Wish]) -> Wish:
    """Want all of these at once: the state where every one of them holds."""
    if not wishes:
        raise VMGError("There is nothing to want: the list of wishes is empty.")
    if any(wish.distance is None for wish in wishes):
        raise VMGError("Only wishes that can be reached can hold at once; add the others with `weighted`.")
    return Wish(" and ".join(wish.words for wish in wishes), _ToAll(tuple(wishes)))


def weighted(parts: Sequence[tuple[float, Wish]]) -> Wish:
    """Want a weighted sum of what other wishes pay, step by step."""
    if not parts:
        raise VMGError("There is nothing to want: the sum is empty.")
    words = " + ".join(f"{weight:g} × ({wish.words})" for weight, wish in parts)
    return Wish(words, rewards=_Sum(tuple(parts)))


# Classes and not closures, so that a wish can be sent to the processes that evaluate it.


@dataclass(frozen=True, eq=False)
class _Relabelled:
    rewards: Float64s | RewardFunction

    def __call__(self, episodes: Episodes) -> Float64s:
        return episodes.relabel(self.rewards).rewards


@dataclass(frozen=True, eq=False)
class _Sum:
    parts: tuple[tuple[float, Wish], ...]

    def __call__(self, episodes: Episodes) -> Float64s:
        total: Float64s = np.sum([weight * wish.pays(episodes) for weight, wish in self.parts], axis=0)
        return total


@dataclass(frozen=True, eq=False)
class _ToRegion:
    columns: tuple[int, ...]
    low: Float64s
    high: Float64s

    def __call__(self, observations: Float32s) -> Float64s:
        x = observations[:, self.columns].astype(np.float64)
        gaps: Float64s = np.linalg.norm(np.maximum(self.low - x, 0) + np.maximum(x - self.high, 0), axis=1)
        return gaps


@dataclass(frozen=True, eq=False)
class _ToTruth:
    predicate: Predicate
    fields: Mapping[str, tuple[int, ...]]

    def __call__(self, observations: Float32s) -> Float64s:
        parts = {field: observations[:, columns] for field, columns in self.fields.items()}
        return np.where(np.asarray(self.predicate(parts), dtype=bool), 0.0, np.inf)


@dataclass(frozen=True, eq=False)
class _ToAll:
    wishes: tuple[Wish, ...]

    def __call__(self, observations: Float32s) -> Float64s:
        excess = [np.maximum(wish.distances(observations) - wish.tolerance, 0.0) for wish in self.wishes]
        worst: Float64s = np.max(excess, axis=0)
        return worst


class _FileFunction:
    """A function in a file; where it is sent, the file is run again."""

    def __init__(self, file: str, name: str) -> None:
        self.file, self.name = file, name
        self._function = runpy.run_path(file).get(name)
        if not callable(self._function):
            raise VMGError(f"{file} has no function {name!r}.")

    def __call__(self, o_t: Float32s, a_t: Float32s, o_tp1: Float32s) -> ArrayLike:
        rewards: ArrayLike = self._function(o_t, a_t, o_tp1)  # type: ignore[misc]
        return rewards

    def __reduce__(self) -> tuple[type["_FileFunction"], tuple[str, str]]:
        return _FileFunction, (self.file, self.name)
