"""Rests: when things that only move while they are handled lie still again.

row       0   1   2   3   4   5   6   7   8   9       the thing moves in the steps from 2 to 5
moves             x   x   x                           it rests at 0 and comes to rest again at 5
to rest   5   4   3   2   1   .   .   .   .   .       it is not moved any more after that
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from vmg.base.errors import VMGError
from vmg.base.types import Bools, Float32s, Float64s, Int64s
from vmg.data.episodes import Episodes

MOVES = 0.05
"""A number changes where it does so by more than this share of its usual change in a step."""
LEAST = 1e-6
"""No number changes by less than this share of its size, or of 1."""
SETTLED = 8
"""Steps without a change after which a thing lies still, and is not just held still."""
NOISE, ADDS_UP, TO_AND_FRO = 6.0, 2.0, 0.5
"""Where the middle change of a number is less than the second times as much over `SETTLED` steps as over one, and it
goes back in more than the third share of the steps, its sensor is noisy: while a thing lies still, the number changes
by up to the first times that."""
PLAY = 3
"""Pieces of the middle recording from which on recordings are play."""


class Pieces(NamedTuple):
    """Rows in which the pieces of all recordings begin and end: from one rest of the things to the next."""

    first: Int64s
    last: Int64s

    @property
    def steps(self) -> Int64s:
        return self.last - self.first

    def of_the_middle(self, lengths: Int64s) -> float:
        """Return how many pieces the middle recording has."""
        return float(np.median(np.diff(np.searchsorted(self.first, np.append(0, np.cumsum(lengths + 1))))))


def find_pieces(observations: Float32s, lengths: Int64s, columns: tuple[int, ...]) -> Pieces:
    """Cut recordings into pieces: from where they begin, or these columns come to rest, to where they do next."""
    begun = np.cumsum(lengths + 1) - (lengths + 1)
    rests = np.union1d(begun, np.flatnonzero(come_to_rest(observations, lengths, columns)))
    goes_on = ~np.isin(rests[1:], begun)
    return Pieces(rests[:-1][goes_on], rests[1:][goes_on])


def steps_to_rest(episodes: Episodes, columns: tuple[int, ...]) -> Int64s:
    """Return for every step how many steps later these columns come to rest, having changed; 0 where they do not."""
    if max(columns) >= episodes.observation_size:
        raise VMGError(
            f"{episodes.source}: an observation has the columns 0 to {episodes.observation_size - 1}, but things are "
            f"asked for in {list(columns)}. Name others with --learn.low-level.objects."
        )
    rests = np.flatnonzero(come_to_rest(episodes.observations, episodes.lengths, columns))
    rows = episodes.step_observation
    following = np.searchsorted(rests, rows, side="right")
    ahead = np.append(rests, len(episodes.observations))[following] - rows
    return np.where(ahead <= episodes.steps_left, ahead, 0)


def come_to_rest(observations: Float32s, lengths: Int64s, columns: tuple[int, ...]) -> Bools:
    """Say in which rows these columns come to rest: they changed in the step before, and do not for a while."""
    moving = moves(observations, lengths, columns)
    rows, when = np.arange(len(moving)), np.flatnonzero(moving)
    again = np.append(when, len(moving))[np.searchsorted(when, rows)]
    ends = np.repeat(np.cumsum(lengths + 1), lengths + 1)
    settled = ((again - rows >= SETTLED) | (again >= ends)) & (rows < ends - 1)  # in the last row nobody knows
    return np.asarray(np.concatenate([[False], moving[:-1]]) & settled)


def moves(observations: Float32s, lengths: Int64s, columns: tuple[int, ...]) -> Bools:
    """Say whether any of these columns changes from each row to the next of its episode."""
    last = np.zeros(len(observations), bool)
    last[np.cumsum(lengths + 1) - 1] = True
    changes = np.abs(np.diff(observations[:, list(columns)], axis=0, append=observations[-1:, list(columns)]))
    changes[last] = 0
    usual: Float64s = np.sqrt(np.square(changes, dtype=np.float64).mean(0))
    trembles = LEAST * np.maximum(1.0, np.abs(observations[:, list(columns)]).max(0))
    least = np.maximum(MOVES * usual, trembles)
    return np.asarray((changes > np.maximum(least, noise(observations, lengths, columns))).any(1))


def noise(observations: Float32s, lengths: Int64s, columns: Sequence[int]) -> Float64s:
    """Return by how much each column changes at most while it lies still, where its sensor is noisy; else 0."""
    ends = np.repeat(np.cumsum(lengths + 1), lengths + 1)
    inside, numbers = np.flatnonzero(np.arange(len(ends)) + SETTLED < ends), observations[:, list(columns)]
    if not len(inside):
        return np.zeros(len(columns))
    once, again = (numbers[inside + 1 + i].astype(np.float64) - numbers[inside + i] for i in (0, 1))
    middle, later = (np.median(np.abs(numbers[inside + n] - numbers[inside]), axis=0) for n in (1, SETTLED))
    back = (once * again < 0).mean(0) > TO_AND_FRO
    return np.where((later < ADDS_UP * middle) & back, NOISE * middle, 0.0)
