"""Getting a body off that stands still though it has somewhere to go: against a wall, say, or wedged in.

The low-level policy never saw that, and noise that changes from decision to decision adds up to nothing. So noise is
drawn once and kept up for a while, against what the body did, and more of it from try to try.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from vmg.base.types import Float32s
from vmg.graph.sight import Sight

LONG = 10
"""Decisions for which a body stands still before it is pushed, and for which the push is kept up."""
STILL, SHARE = 1.0, 0.75
"""A body stands still as long as such a share of its numbers is no more than so many recorded steps from where they
were: wheels that turn to and fro bring it nowhere."""
AWAY = 0.5
"""Recorded steps from what is headed for within which a body may stand still."""
MOST = 3
"""Times the noise that a push is at most."""


@dataclass
class _Struggle:
    """One episode's: where it stands, for how long, how often it was pushed, and how it is now."""

    place: Float32s
    standing: int = 0
    tries: int = 0
    left: int = 0
    push: Float32s | None = None


class Struggles:
    """Who stands still, of the episodes that follow a plan, and how each is pushed."""

    def __init__(self, sight: Sight) -> None:
        self._sight = sight
        self._rows: dict[int, _Struggle] = {}

    def note(self, rows: Sequence[int], seen: Float32s, goals: Float32s, there: Collection[int]) -> None:
        """Note what each row sees, what it heads for, and which rows are where they are to be."""
        for row, observation, goal in zip(rows, seen, goals, strict=True):
            if (one := self._rows.get(row)) is None:
                one = self._rows[row] = _Struggle(observation.copy())
            if self._moved(observation, one.place):
                one.place, one.standing = observation.copy(), 0
            elif row in there or self._off(observation, goal) <= AWAY:
                one.standing = 0
            else:
                one.standing += 1

    def push(self, row: int, idle: int, action: Float32s, draw: Callable[[], Float32s]) -> Float32s | None:
        """Return what is added to a row's action, against what has led nowhere; None while it gets on by itself.

        `idle`: for how many decisions it has not got on along its route. Who goes straight on moves few numbers.
        """
        one = self._rows.get(row)
        if one is None or (not one.left and min(one.standing, idle) < LONG):
            return None
        if not one.left:
            one.tries = min(one.tries + 1, MOST)
            one.left, one.push = LONG, -np.sign(action) * one.tries * np.abs(draw())
        one.left -= 1
        return one.push

    def _moved(self, observation: Float32s, place: Float32s) -> bool:
        apart = np.sort(self._sight.apart(observation, place)[self._sight.body])
        return bool(len(apart) and apart[int(SHARE * (len(apart) - 1))] > STILL)

    def _off(self, observation: Float32s, goal: Float32s) -> float:
        return float(self._sight.off(self._sight.apart(observation[None], goal[None]))[0])
