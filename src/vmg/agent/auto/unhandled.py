"""Columns that stand still in most steps, as objects do, but that nobody handles: the weather, a battery, a clock.

What an object does begins where the robot is at it. What nobody handles begins to change wherever the robot happens to
be: beginnings of two episodes are then no more alike, in the robot's own columns and actions, than a beginning and any
step of another episode in which the column stands still. Steps are compared with others as late in their episodes, so
that a column which changes by the clock does not look handled because robots go by the clock, too.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from vmg.base.lazy import LazyModule
from vmg.base.types import Float64s, Int64s
from vmg.data.episodes import Episodes
from vmg.data.rests import noise
from vmg.graph.sight import LATER, LITTLE, Sight

spatial = LazyModule("scipy.spatial")

MOST = 2_000
"""Beginnings looked at."""
LEAST = 200
"""Beginnings below which chance has too large a part: what an object is stays one."""
ERRORS = 2.0
"""Standard errors beyond which more beginnings are nearer to another episode's than to a step at rest than by chance,
which half of them are."""
MOVED, TOLD = 0.2, 0.5
"""Columns are the robot's own whose change over some steps goes with its actions in these, by this correlation. Where
those are not this share of its body, as with an ant, too little is known of where it is."""
SPAN: tuple[tuple[int, Literal["left", "right"]], ...] = ((-1, "left"), (1, "right"))
"""As late as a step are those up to one step earlier or later."""
TRIED = 8
"""Draws of a step of another episode."""
NEAREST = 64
"""Neighbours among which the nearest of another episode is looked for."""


def unhandled_columns(episodes: Episodes, sight: Sight, asked: Sequence[int]) -> dict[int, float]:
    """Return those of some objects' columns that nobody handles, each with its share of alike beginnings."""
    own = np.flatnonzero(sight.body & (_moved_by_actions(episodes) > MOVED))
    if len(own) < TOLD * max(int(sight.body.sum()), 1) or len(episodes) < 2:
        return {}
    table = _standard(np.hstack([episodes.observations[episodes.step_observation][:, own], episodes.actions]))
    shares = {int(each): _share_alike(episodes, int(each), table) for each in asked}
    return {column: share for column, (share, n) in shares.items() if share < 0.5 + ERRORS * np.sqrt(0.25 / n)}


def _share_alike(episodes: Episodes, column: int, table: Float64s) -> tuple[float, int]:
    """Return how many beginnings of change are nearest to another such, of how many; 1 where they are too few."""
    rng, moves = np.random.default_rng(0), _moves(episodes, column)
    late = np.arange(episodes.n_steps) - episodes.first_step[episodes.step_episode]
    begins = np.flatnonzero(moves & ~np.concatenate([[False], moves[:-1]]) & (late > 0))
    begins, rests = rng.permutation(begins)[:MOST], rng.permutation(np.flatnonzero(~moves))
    if len(begins) < LEAST or not len(rests):
        return 1.0, LEAST
    others = _as_late(begins, rests[np.argsort(late[rests], kind="stable")], late, episodes.step_episode)
    gaps = [_gaps(table, begins, among, episodes.step_episode) for among in (begins, others)]
    return float(np.mean((gaps[0] < gaps[1]) + 0.5 * (gaps[0] == gaps[1]))), len(begins)


def _moves(episodes: Episodes, column: int) -> np.ndarray:
    """Say in which steps a column changes: by more than a little of its usual change, and than its sensor's noise."""
    rows = episodes.step_observation
    changes = np.abs(episodes.observations[rows + 1, column].astype(np.float64) - episodes.observations[rows, column])
    hidden = noise(episodes.observations, episodes.lengths, (column,))[0]
    return np.asarray(changes > max(LITTLE * np.sqrt(np.mean(changes**2)), hidden))


def _as_late(steps: Int64s, rests: Int64s, late: Int64s, episode_of: Int64s) -> Int64s:
    """Draw for each step one of these, sorted by how late they are, about as late, of another episode if it can be."""
    first, end = (np.searchsorted(late[rests], late[steps] + by, side) for by, side in SPAN)
    first, end = np.minimum(first, len(rests) - 1)[:, None], np.maximum(end, first + 1)[:, None]
    found = rests[np.minimum(np.random.default_rng(1).integers(first, end, (len(steps), TRIED)), len(rests) - 1)]
    return np.asarray(found[np.arange(len(steps)), (episode_of[found] != episode_of[steps][:, None]).argmax(1)])


def _gaps(table: Float64s, steps: Int64s, among: Int64s, episode_of: Int64s) -> Float64s:
    """Return how far the nearest of some steps of other episodes is from each step."""
    gaps, found = spatial.cKDTree(table[among]).query(table[steps], k=min(NEAREST, len(among)))
    same = episode_of[among][found] == episode_of[steps][:, None]
    nearest: Float64s = np.where(same, np.inf, gaps).min(1)
    return nearest


def _moved_by_actions(episodes: Episodes) -> Float64s:
    """Return how well the change of each column over some steps goes with that action that it goes with best."""
    steps = min(LATER, int(episodes.lengths.max()))
    first = np.flatnonzero(episodes.steps_left >= steps)
    rows = episodes.step_observation[first]
    changes = episodes.observations[rows + steps].astype(np.float64) - episodes.observations[rows]
    total = np.vstack([np.zeros(episodes.action_size), np.cumsum(episodes.actions, axis=0, dtype=np.float64)])
    alike = np.abs(_standard(changes).T @ _standard(total[first + steps] - total[first])) / len(first)
    best: Float64s = alike.max(1)
    return best


def _standard(values: np.ndarray) -> Float64s:
    spread = values.std(axis=0, dtype=np.float64)
    standard: Float64s = (values - values.mean(axis=0, dtype=np.float64)) / np.where(spread > 0, spread, 1)
    return standard
