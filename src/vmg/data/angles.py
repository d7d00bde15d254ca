"""Angles that begin again: a heading from -π to π, or from 0 to 360°. From one end to the other it is no way."""

from collections.abc import Mapping

import numpy as np

from vmg.base.types import Float32s, Float64s, Int64s
from vmg.data.mapping import slices

TURNS = (2 * np.pi, 360.0)
WIDE = (0.95, 1.001)
"""An angle is recorded over so much of a turn."""
NONE = (0.25, 0.75)
"""Its steps are shorter or longer than these shares of a turn, none in between: what begins again does not turn so far
in a step, and what is carried off does not come out just one turn on."""
LEAST = 3
"""Longer ones that there are at least."""
PARTS = 10
"""Parts of the turn, each of which it has been in: a switch has two ends and nothing between."""


def angles(observations: Float32s, lengths: Int64s) -> dict[int, float]:
    """Return the columns that are angles which begin again, each with its turn, in radians or degrees."""
    least, most = observations[:1].min(0), observations[:1].max(0)
    for rows in slices(observations):
        least, most = np.minimum(least, observations[rows].min(0)), np.maximum(most, observations[rows].max(0))
    wide = most.astype(np.float64) - least
    found = [
        (int(column), turn)
        for turn in TURNS
        for column in np.flatnonzero((wide >= WIDE[0] * turn) & (wide <= WIDE[1] * turn))
    ]
    return {column: turn for column, turn in found if _begins_again(observations[:, column], lengths, turn)}


def round_the_turn(changes: Float64s, turns: Mapping[int, float]) -> Float64s:
    """Return changes, one row per step, with those of angles the shorter way round."""
    for column, turn in turns.items():
        changes[:, column] -= turn * np.rint(changes[:, column] / turn)
    return changes


def _begins_again(values: Float32s, lengths: Int64s, turn: float) -> bool:
    within = np.ones(len(values) - 1, bool)
    within[np.cumsum(lengths + 1)[:-1] - 1] = False
    steps = np.abs(np.diff(values.astype(np.float64)))[within] / turn
    between = (steps > NONE[0]) & (steps < NONE[1])
    everywhere = np.histogram(values, PARTS)[0].all()
    return bool(np.count_nonzero(steps >= NONE[1]) >= LEAST and not between.any() and everywhere)
