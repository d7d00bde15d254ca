"""Angles that begin again: a heading from -π to π, or from 0 to 360°. From one end to the other it is no way."""

from collections.abc import Mapping, Sequence

import numpy as np

from vmg.base.errors import VMGError
from vmg.base.types import Float32s, Float64s, Int64s
from vmg.data.episodes import Episodes
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
    wide = _widths(observations)
    found = [
        (int(column), turn)
        for turn in TURNS
        for column in np.flatnonzero((wide >= WIDE[0] * turn) & (wide <= WIDE[1] * turn))
    ]
    return {column: turn for column, turn in found if _begins_again(observations[:, column], lengths, turn)}


def turns_of(episodes: Episodes, columns: Sequence[int]) -> dict[int, float]:
    """Return what a turn is in each of these columns: in radians where that is all they span, else in degrees."""
    if missing := [column for column in columns if not 0 <= column < episodes.observation_size]:
        raise VMGError(
            f"{episodes.source}: column {missing[0]} is named as an angle, but an observation has the columns 0 to "
            f"{episodes.observation_size - 1}."
        )
    wide, (radians, degrees) = _widths(episodes.observations) if columns else np.empty(0), TURNS
    for column in columns:
        if wide[column] > WIDE[1] * degrees:
            raise VMGError(
                f"{episodes.source}: column {column} is named as an angle, but is recorded over {wide[column]:.4g}, "
                "more than a turn in degrees. Leave it out of --learn.angles."
            )
    return {column: radians if wide[column] <= WIDE[1] * radians else degrees for column in sorted(set(columns))}


def round_the_turn(changes: Float64s, turns: Mapping[int, float]) -> Float64s:
    """Return changes, one row per step, with those of angles the shorter way round."""
    for column, turn in turns.items():
        changes[:, column] -= turn * np.rint(changes[:, column] / turn)
    return changes


def _widths(observations: Float32s) -> Float64s:
    """How far apart the least and the most of each column are."""
    least, most = observations[:1].min(0), observations[:1].max(0)
    for rows in slices(observations):
        least, most = np.minimum(least, observations[rows].min(0)), np.maximum(most, observations[rows].max(0))
    wide: Float64s = most.astype(np.float64) - least
    return wide


def _begins_again(values: Float32s, lengths: Int64s, turn: float) -> bool:
    within = np.ones(len(values) - 1, bool)
    within[np.cumsum(lengths + 1)[:-1] - 1] = False
    steps = np.abs(np.diff(values.astype(np.float64)))[within] / turn
    between = (steps > NONE[0]) & (steps < NONE[1])
    everywhere = np.histogram(values, PARTS)[0].all()
    return bool(np.count_nonzero(steps >= NONE[1]) >= LEAST and not between.any() and everywhere)
