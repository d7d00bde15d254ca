"""Angles as networks see them: sine and cosine in place of a number that leaps from one end of its turn to the other.

    observation            x, y, 359°, v             what the user records: graphs, goals and fields have it, too
    as networks see it     x, y, sin, cos, v

Both stand where the angle stood. So goals and states in which it has just begun again do not differ by a turn.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from vmg.base.types import Float32s, Int64s
from vmg.data.episodes import Episodes
from vmg.data.mapping import like, slices
from vmg.networks.weights import Weights

ANGLES = "angles"
"""The part of a model's weights that says which columns are angles; models without it see all numbers as they are."""
COLUMN, TURN = "column", "turn"
"""Its arrays: columns of the observation, from the first to the last, and what a turn is in each."""


def angles_part(turns: Mapping[int, float]) -> Weights:
    """Return which columns are angles, and what a turn is in each, as a part of the weights; nothing where none is."""
    columns = sorted(turns)
    arrays = {
        COLUMN: np.array(columns, np.int32),
        TURN: np.array([turns[column] for column in columns], np.float32),
    }
    return {ANGLES: arrays} if turns else {}


def turned(weights: Weights, observations: Float32s) -> Float32s:
    """Return observations as a model sees them, in numpy; themselves where it sees no angles."""
    if ANGLES not in weights:
        return observations
    columns, turns = weights[ANGLES][COLUMN], weights[ANGLES][TURN]
    seen: Float32s = observations.take(_sources(observations.shape[-1], columns), -1)
    radians = observations.take(columns, -1) * (2 * np.pi / turns.astype(np.float64))
    sines = columns + np.arange(len(columns))
    seen[..., sines], seen[..., sines + 1] = np.sin(radians), np.cos(radians)
    return seen


def turned_episodes(episodes: Episodes, weights: Weights) -> Episodes:
    """Return episodes as a model sees them."""
    if ANGLES not in weights:
        return episodes
    columns, observations = weights[ANGLES][COLUMN].tolist(), episodes.observations
    seen = like(observations, (len(observations), observations.shape[1] + len(columns)), np.float32)
    for rows in slices(observations):
        seen[rows] = turned(weights, observations[rows])
    fields = {name: turned_columns(each, columns) for name, each in episodes.fields.items()}
    return replace(episodes, observations=seen, fields=fields)


def turned_columns(columns: Sequence[int], angles: Sequence[int]) -> tuple[int, ...]:
    """Return where networks see these columns of an observation."""
    first = [column + sum(angle < column for angle in angles) for column in columns]
    both = [(place, place + 1) if column in angles else (place,) for column, place in zip(columns, first, strict=True)]
    return tuple(place for places in both for place in places)


def own_columns(columns: Sequence[int], angles: Sequence[int], size: int) -> tuple[int, ...]:
    """Return the columns of an observation of this size that stand behind what networks see; undoes the former."""
    return tuple(dict.fromkeys(_sources(size, np.array(angles, np.int64))[list(columns)].tolist()))


def _sources(size: int, angles: Int64s) -> Int64s:
    """The column behind each number that networks see."""
    every = np.arange(size)
    return np.repeat(every, 1 + np.isin(every, angles))
