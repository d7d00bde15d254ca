"""Objectives made of others: all at once, one of them, a sum of what they pay, one after the other."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vmg.base.arguments import checked
from vmg.base.errors import VMGError
from vmg.base.types import Float32s, Float64s
from vmg.data.episodes import Episodes
from vmg.goals.objectives import Conjunction, Objective, Stages, Together, excess, joined_columns


@checked
def all_of(objectives: Sequence[Objective], *, before: Sequence[tuple[Objective, Objective]] = ()) -> Conjunction:
    """Want all of these at once: a state in which every one of them is reached.

    Where no recorded state is like that, `Agent.plan` finds an order in which they can be reached one after the other,
    each kept while the next is done. `before` names pairs of them: the first is reached before the second.
    """
    if not objectives:
        raise VMGError("There is nothing to want: the list of objectives is empty.")
    if any(each.distance is None for each in objectives):
        raise VMGError("Only objectives that can be reached can hold at once; add the others with `weighted`.")
    pairs = tuple((_place_of(first, objectives), _place_of(second, objectives)) for first, second in before)
    if in_circle(len(objectives), pairs):
        raise VMGError("No order fits: by `before` one of the objectives would have to come before itself.")
    orders = [f"{first.name} before {second.name}" for first, second in before]
    name = ", ".join([" and ".join(each.name for each in objectives), *dict.fromkeys(orders)])
    avoided = tuple(region for each in objectives for region in each.avoided)
    penalties = tuple(penalty for each in objectives for penalty in each.penalties)
    return Conjunction(name, Together(tuple(objectives), pairs), avoided=avoided, penalties=penalties)


@checked
def any_of(objectives: Sequence[Objective]) -> Objective:
    """Want one of these, whichever: a state in which at least one of them is reached."""
    if not objectives:
        raise VMGError("There is nothing to want: the list of objectives is empty.")
    if any(each.distance is None for each in objectives):
        raise VMGError("Only objectives that can be reached can be one or the other; add the others with `weighted`.")
    if any(each.avoided or each.penalties for each in objectives):
        raise VMGError("Which way is taken is not known beforehand: say any_of([...]).avoiding(...) or .costing(...).")
    return Objective(" or ".join(each.name for each in objectives), Either(tuple(objectives)))


@checked
def weighted(parts: Sequence[tuple[float, Objective]]) -> Objective:
    """Want a weighted sum of what other objectives pay, step by step."""
    if not parts:
        raise VMGError("There is nothing to want: the sum is empty.")
    name = " + ".join(f"{weight:g} × ({each.name})" for weight, each in parts)
    avoided = tuple(region for _, each in parts for region in each.avoided)
    return Objective(name, rewards=_Sum(tuple(parts)), avoided=avoided)


@checked
def in_order(objectives: Sequence[Objective]) -> Stages:
    """Want these one after the other: the next as soon as one is reached."""
    if not objectives:
        raise VMGError("There is nothing to do: the list of objectives is empty.")
    if len(objectives) > 1 and any(each.distance is None for each in objectives):
        raise VMGError("Only objectives that can be reached can follow one another.")
    return Stages(tuple(objectives))


@dataclass(frozen=True, eq=False)
class Either:
    """Objectives of which one is enough; called, it says how far the nearest is away."""

    parts: tuple[Objective, ...]

    def __call__(self, observations: Float32s) -> Float64s:
        nearest: Float64s = np.min([excess(each, observations) for each in self.parts], axis=0)
        return nearest

    @property
    def columns(self) -> tuple[int, ...] | None:
        return joined_columns(self.parts)


@dataclass(frozen=True, eq=False)
class _Sum:
    parts: tuple[tuple[float, Objective], ...]

    def __call__(self, episodes: Episodes) -> Float64s:
        total: Float64s = np.sum([weight * each.step_rewards(episodes) for weight, each in self.parts], axis=0)
        return total


def _place_of(objective: Objective, objectives: Sequence[Objective]) -> int:
    for place, each in enumerate(objectives):
        if each is objective:
            return place
    raise VMGError(f"`before` names {objective.name!r}, which is not one of the objectives wanted.")


def in_circle(n: int, pairs: Sequence[tuple[int, int]]) -> bool:
    """Say whether any must come before itself."""
    left = set(range(n))
    while free := {each for each in left if not any(b == each and a in left for a, b in pairs)}:
        left -= free
    return bool(left)
