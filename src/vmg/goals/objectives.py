"""Objectives: what can be asked of a graph that is already built. Nothing is trained again.

An objective says what every step is paid and, where there is something to *reach*, how far every observation is from
it. `Agent.plan` solves the graph for it in milliseconds.

    recorded_rewards()                           the rewards in the data
    step_rewards(array)                          a number for each recorded step
    reward_function(f)                           f(o_t, a_t, o_{t+1}), vectorised over rows
    reward_file("file.py:function")              the same, from a file
    near(place, columns=(0, 1), tolerance=0.5)   a place in some of the observation's columns
    within(low, high, columns=...)               a region of them
    where(predicate, fields)                     a predicate over the named fields of an observation
    all_of([a, b], before=[(a, b)])              several of these at once, in an order that is found
    any_of([a, b])                               one of these
    weighted([(2.0, a), (-1.0, b)])              a weighted sum of what objectives pay
    in_order([a, b])                             one after the other
    a.avoiding(b)                                a, but never where b is reached
    a.costing(2.0, b)                            a, on a way where each step costs 2 × what b pays on top

Objectives made of functions that can be sent to other processes can be sent there themselves.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from vmg.base.arguments import check_fields, checked, numbers_of
from vmg.base.errors import VMGError
from vmg.base.settings import shown
from vmg.base.types import Bools, Float32s, Float64s
from vmg.data.counting import counted
from vmg.data.episodes import Episodes, RewardFunction
from vmg.data.own import DISTANCE, REWARDS, is_ours, numbers_from
from vmg.goals.measures import FileFunction, Given, Predicate, Region, Relabelled, ToTruth, own_rewards
from vmg.graph.settings import GoalKind

Distance = Callable[[Float32s], ArrayLike]
Fields: TypeAlias = Mapping[str, Sequence[int]]


@dataclass(frozen=True, eq=False)
class Place:
    """Some columns of an observation, and the numbers wanted there; called, it says how far observations are away."""

    columns: tuple[int, ...]
    numbers: Float64s

    def __call__(self, observations: Float32s) -> Float64s:
        squares = np.zeros(len(observations))
        for column, number in zip(self.columns, self.numbers, strict=True):  # faster than picking the columns out first
            squares += (observations[:, column] - number) ** 2
        return np.sqrt(squares)


@dataclass(frozen=True, eq=False)
class Together:
    """Objectives wanted at once, and which must come before which; called, it says how far the farthest is away."""

    parts: "tuple[Objective, ...]"
    before: tuple[tuple[int, int], ...] = ()
    """Pairs of parts, by their place in `parts`: the first is reached before the second."""

    def __call__(self, observations: Float32s) -> Float64s:
        worst: Float64s = np.max([excess(each, observations) for each in self.parts], axis=0)
        return worst

    @property
    def columns(self) -> tuple[int, ...] | None:
        return joined_columns(self.parts)


@dataclass(frozen=True, eq=False)
class Objective:
    """What is wanted: in words, in rewards and, where it can be reached, in distances."""

    name: str
    distance: Distance | None = None
    """How far each observation is from what is wanted; None: there is nothing to reach, only rewards."""
    tolerance: float = 0.0
    """How near counts as reached."""
    rewards: Callable[[Episodes], Float64s] | None = None
    """What steps are paid; None: 1 for arriving there."""
    kind: GoalKind = "reach"
    """Where it can be reached: reach it and be done, or stay there."""
    avoided: "tuple[Objective, ...]" = ()
    """Regions that no way may pass."""
    penalties: "tuple[tuple[float, Objective], ...]" = ()
    """What steps on the way cost besides: a weight, in steps, and the objective that says how much of it."""

    def __post_init__(self) -> None:
        check_fields(self)
        if not self.tolerance >= 0:
            raise VMGError(f"How near counts as reached is 0 or more, not {self.tolerance}.")

    @property
    def place(self) -> Place | None:
        """The one place that is wanted, if it is one."""
        return self.distance if isinstance(self.distance, Place) else None

    @property
    def columns(self) -> tuple[int, ...] | None:
        """The columns of an observation that decide how far it is; None where that is not known."""
        columns: tuple[int, ...] | None = getattr(self.distance, "columns", None)
        return columns

    def staying(self) -> "Objective":
        """Return the same objective, to stay where it is reached."""
        return replace(self, kind="stay")

    @checked
    def avoiding(self, region: "Objective") -> "Objective":
        """Return the same objective, with a region that no way may pass: the states in which another is reached."""
        if region.distance is None:
            raise VMGError(f"{region.name!r} says nowhere that could be avoided: use near, within or where.")
        return replace(self, name=f"{self.name}, avoiding {region.name}", avoided=(*self.avoided, region))

    @checked
    def costing(self, weight: float, paying: "Objective") -> "Objective":
        """Return the same objective, on ways where each step costs `weight` more steps times what `paying` pays it."""
        if self.distance is None:
            raise VMGError(f"{self.name!r} defines only rewards: take off what a step costs with `weighted`.")
        if not 0 <= weight < np.inf:
            raise VMGError(f"A penalty weighs 0 or more steps, not {weight}.")
        name = f"{self.name}, at {weight:g} {'step' if weight == 1 else 'steps'} × ({paying.name})"
        return replace(self, name=name, penalties=(*self.penalties, (float(weight), paying)))

    def step_rewards(self, episodes: Episodes) -> Float64s:
        """Return the reward of each step."""
        if not isinstance(episodes, Episodes):
            raise VMGError(f"Steps are rewarded in Episodes, not in {shown(episodes)}.")
        if self.rewards:
            ours = is_ours(self.rewards)
            return (
                self.rewards(episodes) if ours else numbers_from(self.rewards, (episodes,), episodes.n_steps, REWARDS)
            )
        return self.reached(episodes.observations)[episodes.step_observation + 1].astype(np.float64)

    def distances(self, observations: Float32s) -> Float64s:
        """Say how far each observation is from what is wanted."""
        if self.distance is None:
            raise VMGError(f"{self.name!r} defines only rewards, no goal region: use near, within or where.")
        rows = numbers_of(observations, "Observations", np.float32)
        if rows.ndim != 2 or max(self.columns or (0,)) >= rows.shape[1]:
            raise VMGError(f"{self.name!r} is not to be found in observations of the shape {rows.shape}.")
        if not is_ours(self.distance):
            return numbers_from(self.distance, (rows,), len(rows), DISTANCE)
        numbers = np.asarray(self.distance(rows), np.float64)
        if np.isnan(numbers).any():
            raise VMGError(f"How far {self.name!r} is cannot be said of observations with nan in them.")
        return numbers

    def reached(self, observations: Float32s) -> Bools:
        """Say in which observations it is reached."""
        return self.distances(observations) <= self.tolerance


@dataclass(frozen=True, eq=False)
class Conjunction(Objective):
    """Several objectives wanted at once; made by `all_of`."""

    @property
    def parts(self) -> tuple[Objective, ...]:
        """The objectives that are wanted at once."""
        return self._together.parts

    @property
    def before(self) -> tuple[tuple[int, int], ...]:
        """Pairs of parts, by their places: the first is reached before the second."""
        return self._together.before

    @property
    def _together(self) -> Together:
        assert isinstance(self.distance, Together)
        return self.distance


@dataclass(frozen=True, eq=False)
class Stages:
    """Objectives to reach one after the other."""

    stages: tuple[Objective, ...]

    @property
    def name(self) -> str:
        return ", then ".join(stage.name for stage in self.stages)

    def staying(self) -> "Stages":
        """Return the same sequence, each stage to stay at."""
        return Stages(tuple(stage.staying() for stage in self.stages))

    @checked
    def avoiding(self, region: Objective) -> "Stages":
        """Return the same sequence, with a region that no stage may pass."""
        return Stages(tuple(stage.avoiding(region) for stage in self.stages))

    @checked
    def costing(self, weight: float, paying: Objective) -> "Stages":
        """Return the same sequence, with a penalty on the ways of every stage."""
        return Stages(tuple(stage.costing(weight, paying) for stage in self.stages))


def recorded_rewards() -> Objective:
    """Want what the data itself was paid."""
    return Objective("the recorded rewards", rewards=own_rewards)


def step_rewards(rewards: ArrayLike) -> Objective:
    """Want what an array says: a reward for each recorded step."""
    numbers = numbers_of(rewards, "Rewards, one per recorded step,")
    if numbers.ndim != 1 or not np.isfinite(numbers).all():
        raise VMGError(f"Rewards are one finite number per recorded step, not {shown(rewards)}.")
    return Objective("the rewards given, step by step", rewards=Given(numbers))


@checked
def reward_function(function: RewardFunction, *, name: str | None = None) -> Objective:
    """Want what f(o_t, a_t, o_{t+1}) pays; it gets whole arrays, one row per step."""
    name = name or f"the function {getattr(function, '__name__', 'given')}"
    return Objective(name, rewards=Relabelled(function))


@checked
def reward_file(place: str) -> Objective:
    """Want what a function in a file pays, "file.py:function". The file is run: name only files you trust."""
    file, colon, name = place.rpartition(":")
    if not colon or not Path(file).is_file():
        raise VMGError(f"{place!r} does not name a function: write file.py:function, with a file that exists.")
    return reward_function(FileFunction(file, name), name=f"the function {name} of {file}")


@checked
def near(place: ArrayLike, *, columns: Sequence[int], tolerance: float, name: str | None = None) -> Objective:
    """Want to be within `tolerance` of a place, given by the numbers in `columns` of an observation."""
    numbers = numbers_of(place, "A place")
    _check_columns(columns)
    if numbers.shape != (len(columns),):
        raise VMGError(f"A place in {len(columns)} columns has as many numbers, not the shape {numbers.shape}.")
    if not np.isfinite(numbers).all() or not 0 <= tolerance < np.inf:
        raise VMGError(f"A place and its tolerance are finite numbers, not {numbers.tolist()} and {tolerance}.")
    listed = ", ".join(f"{x:g}" for x in numbers)
    name = name or f"({listed}) in the columns {list(columns)}"
    return Objective(name, Place(tuple(columns), _as_observed(numbers)), tolerance)


@checked
def within(low: ArrayLike, high: ArrayLike, *, columns: Sequence[int], name: str | None = None) -> Objective:
    """Want the numbers in `columns` of the observation to lie between `low` and `high`."""
    bottom, top = (numbers_of(each, "The bounds of a region") for each in (low, high))
    _check_columns(columns)
    if bottom.shape != (len(columns),) or top.shape != bottom.shape or not (bottom <= top).all():
        raise VMGError(
            f"A region needs a low and a high for each of {counted(len(columns), 'column')}, low no higher than high, "
            f"not {bottom.tolist()} and {top.tolist()}."
        )
    name = name or f"between {bottom.tolist()} and {top.tolist()}"
    return Objective(name, Region(tuple(columns), _as_observed(bottom), _as_observed(top)))


@checked
def where(predicate: Predicate, fields: Fields, *, name: str | None = None) -> Objective:
    """Want a predicate over named fields to be true: it gets a dict of arrays, one row per observation.

    where(lambda at: at["kettle"][:, 1] > 0.7, task.fields)
    """
    name = name or f"the predicate {getattr(predicate, '__name__', 'given')}"
    return Objective(name, ToTruth(predicate, {field: tuple(columns) for field, columns in fields.items()}))


def _as_observed(numbers: Float64s) -> Float64s:
    """Round numbers as those of observations are, so that 1.013 is reached where 1.013 was recorded."""
    with np.errstate(over="ignore"):
        rounded = numbers.astype(np.float32).astype(np.float64)
    return np.where(np.isfinite(rounded), rounded, numbers)


def _check_columns(columns: Sequence[int]) -> None:
    if not len(columns) or min(columns) < 0 or len(set(columns)) < len(columns):
        raise VMGError(f"Columns of an observation are different numbers from 0 on, not {list(columns)}.")


def joined_columns(objectives: Sequence[Objective]) -> tuple[int, ...] | None:
    """The columns of any of these objectives; None where those of one are not known."""
    columns = [each.columns for each in objectives]
    if None in columns:
        return None
    return tuple(dict.fromkeys(column for each in columns for column in each or ()))


def excess(objective: Objective, observations: Float32s) -> Float64s:
    """How much farther each observation is from an objective than its tolerance."""
    return np.maximum(objective.distances(observations) - objective.tolerance, 0.0)
