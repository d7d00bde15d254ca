"""Wishes: new tasks for a graph that is already built, and no network is trained again.

A wish says what every recorded step would have paid and, where there is something to *reach*, how far every recorded
observation is from it. `Agent.want` solves the graph for it in milliseconds.

    by_rewards(array)                         a number for each recorded step
    by_function(f)                            f(o_t, a_t, o_{t+1}), vectorised over rows
    by_file("file.py:function")               the same, from a file
    near(place, columns=(0, 1), tolerance=0.5)   a place in some of the observation's numbers
    within(low, high, columns=...)            a box of them
    where(predicate, fields)                  a predicate over the named parts of an observation
    weighted([(2.0, a), (-1.0, b)])           a sum of wishes
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


@dataclass(frozen=True)
class Wish:
    """What is wanted, in words, in rewards and, where it can be reached, in distances."""

    words: str
    pays: Callable[[Episodes], Float64s]
    """A reward for each recorded step."""
    distance: Distance | None = None
    """How far each observation is from what is wanted; None: there is nothing to reach, only rewards."""
    tolerance: float = 0.0
    """How near is there."""

    def holds(self, observations: Float32s) -> Bools:
        """Say where the wish is fulfilled."""
        if self.distance is None:
            raise VMGError(f"'{self.words}' is paid step by step: it holds nowhere, so it cannot be reached.")
        return _row_numbers(self.distance(observations), len(observations), self.words) <= self.tolerance


def by_rewards(rewards: ArrayLike) -> Wish:
    """Want what an array says: a reward for each recorded step."""
    return Wish("the rewards given, step by step", lambda episodes: episodes.relabel(rewards).rewards)


def by_function(function: RewardFunction, *, words: str | None = None) -> Wish:
    """Want what f(o_t, a_t, o_{t+1}) pays; it gets whole arrays, a row a step."""
    name = words or f"the function {getattr(function, '__name__', 'given')}"
    return Wish(name, lambda episodes: episodes.relabel(function).rewards)


def by_file(place: str) -> Wish:
    """Want what a function in a file pays, "file.py:function". The file is run: name only files you trust."""
    file, colon, name = place.rpartition(":")
    if not colon or not Path(file).is_file():
        raise VMGError(f"{place!r} does not name a function: write file.py:function, with a file that exists.")
    found = runpy.run_path(file).get(name)
    if not callable(found):
        raise VMGError(f"{file} has no function {name!r}.")
    return by_function(found, words=f"the function {name} of {file}")


def near(place: ArrayLike, *, columns: Sequence[int], tolerance: float, words: str | None = None) -> Wish:
    """Want to be within `tolerance` of a place, given by the numbers `columns` of an observation."""
    where_to = np.asarray(place, dtype=np.float64)
    if where_to.shape != (len(columns),):
        raise VMGError(f"A place in {len(columns)} columns has as many numbers, not the shape {where_to.shape}.")
    if not np.isfinite(where_to).all() or not tolerance >= 0:
        raise VMGError(f"A place and its tolerance are finite numbers, not {where_to.tolist()} and {tolerance}.")

    def distance(observations: Float32s) -> Float64s:
        gaps: Float64s = np.linalg.norm(observations[:, list(columns)] - where_to, axis=1)
        return gaps

    numbers = ", ".join(f"{x:g}" for x in where_to)
    return _reachable(words or f"({numbers}) in the numbers {list(columns)}", distance, tolerance)


def within(low: ArrayLike, high: ArrayLike, *, columns: Sequence[int], words: str | None = None) -> Wish:
    """Want the numbers `columns` of the observation to lie between `low` and `high`."""
    bottom, top = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    if bottom.shape != (len(columns),) or top.shape != bottom.shape or not (bottom <= top).all():
        raise VMGError(f"A region needs a low and a high for each of {len(columns)} columns, low no higher than high.")

    def distance(observations: Float32s) -> Float64s:
        x = observations[:, list(columns)].astype(np.float64)
        gaps: Float64s = np.linalg.norm(np.maximum(bottom - x, 0) + np.maximum(x - top, 0), axis=1)
        return gaps

    return _reachable(words or f"between {bottom.tolist()} and {top.tolist()}", distance, 0.0)


def where(predicate: Predicate, fields: Mapping[str, Sequence[int]], *, words: str | None = None) -> Wish:
    """Want a predicate over named parts to be true: it gets a dict of arrays, a row an observation.

    where(lambda at: at["kettle"][:, 1] > 0.7, task.fields)
    """
    name = words or f"the predicate {getattr(predicate, '__name__', 'given')}"

    def distance(observations: Float32s) -> Float64s:
        parts = {field: observations[:, list(columns)] for field, columns in fields.items()}
        return np.where(np.asarray(predicate(parts), dtype=bool), 0.0, np.inf)

    return _reachable(name, distance, 0.0)


def both(wishes: Sequence[Wish]) -> Wish:
    """Want all of these at once: the state where every one of them holds."""
    if not wishes:
        raise VMGError("There is nothing to want: the list of wishes is empty.")

    def distance(observations: Float32s) -> Float64s:
        excess = [np.maximum(np.asarray(w.distance(observations)) - w.tolerance, 0.0) for w in wishes if w.distance]
        worst: Float64s = np.max(excess, axis=0)
        return worst

    if any(wish.distance is None for wish in wishes):
        raise VMGError("Only wishes that can be reached can hold at once; add the others with `weighted`.")
    return _reachable(" and ".join(wish.words for wish in wishes), distance, 0.0)


def weighted(parts: Sequence[tuple[float, Wish]]) -> Wish:
    """Want a weighted sum of what other wishes pay, step by step."""
    if not parts:
        raise VMGError("There is nothing to want: the sum is empty.")
    words = " + ".join(f"{weight:g} × ({wish.words})" for weight, wish in parts)
    return Wish(words, lambda episodes: np.sum([weight * wish.pays(episodes) for weight, wish in parts], axis=0))


def _reachable(words: str, distance: Distance, tolerance: float) -> Wish:
    """Pay 1 for every step that arrives where it holds."""

    def pays(episodes: Episodes) -> Float64s:
        there = wish.holds(episodes.observations)
        return there[episodes.step_observation + 1].astype(np.float64)

    wish = Wish(words, pays, distance, tolerance)
    return wish


def _row_numbers(values: ArrayLike, rows: int, words: str) -> Float64s:
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.shape != (rows,) or np.isnan(numbers).any():
        raise VMGError(
            f"'{words}' must give one number for each of {rows} observations, not the shape {numbers.shape}."
        )
    return numbers
