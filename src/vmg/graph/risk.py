"""How safely and how fast ways were recorded, so that a plan can prefer those that bodies survived and got on in.

A *fall* is where the environment ended a recording without success, or where a task says that the body lies. The steps
shortly before it are to blame for it. A step is *slow* where its recording gets less far in the metric space than
others.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from vmg.base.errors import VMGError
from vmg.base.types import Bools, Float32s, Float64s, Int32s, Int64s
from vmg.data.episodes import Episodes

if TYPE_CHECKING:
    from vmg.graph.memory import MemoryGraph
    from vmg.graph.rewards import EdgeRewards
    from vmg.graph.settings import SolveConfig

SOON = 25
"""Steps before a fall that are to blame for it; each bears as much."""
PACE = 20
"""Steps over which a recording's progress is measured: a gait sways, and only over some strides it gets anywhere."""
USUAL = 0.9
"""A recording that the environment ended was a success if its last step paid more than this share of all others."""
BLOCK = 2**16
"""Steps whose progress is measured at once."""


def knowing_falls(
    graph: "MemoryGraph", episodes: Episodes, fallen: Callable[[Float32s], Bools] | None = None
) -> "MemoryGraph":
    """Return the graph with the falls in these episodes; `fallen` says of states, one per row, whether a body lies."""
    rows = np.zeros(len(episodes.observations), bool)
    rows[episodes.first_observation[1:] - 1] = ended_in_falls(episodes)
    if fallen is not None:
        rows |= _lying(episodes, fallen)
    return replace(graph, falls=np.flatnonzero(rows).astype(np.int32))


def ended_in_falls(episodes: Episodes) -> Bools:
    """Say which episodes their environment ended without success: no step that ends one pays so little by chance.

    Where all rewards are the same they do not tell success from a fall, and nothing is one.
    """
    last = episodes.first_step[1:] - 1
    others = np.delete(episodes.rewards, last)
    if not len(others) or np.ptp(episodes.rewards) == 0:
        return np.zeros(len(episodes), bool)
    unpaid: Bools = episodes.rewards[last] <= np.quantile(others, USUAL)
    return unpaid & episodes.terminated


def _lying(episodes: Episodes, fallen: Callable[[Float32s], Bools]) -> Bools:
    rows = np.asarray(fallen(episodes.observations))
    if rows.shape != (len(episodes.observations),) or rows.dtype != bool:
        raise VMGError(
            f"What says whether a body lies must give true or false for each of {len(episodes.observations)} states, "
            f"not {rows.dtype} of the shape {rows.shape}."
        )
    return rows


def fall_shares(graph: "MemoryGraph") -> Float64s:
    """Return the share of the recorded steps in each slot that leave a fall or have one within `SOON` steps."""
    rows, left = _rows_of_steps(graph)
    following = np.searchsorted(graph.falls, rows)
    fall = np.append(graph.falls, np.iinfo(np.int64).max)[following]
    return _means(graph, fall <= rows + np.minimum(left, SOON))


def slow_shares(graph: "MemoryGraph") -> Float64s:
    """Return how much slower than usual the recorded steps in each slot are: from 0, not at all, to 1, nothing moves.

    A step's pace is the distance between its vertex and that of `PACE` steps later, per step; the median is usual.
    """
    rows, left = _rows_of_steps(graph)
    ahead = np.minimum(left, PACE)
    paces = np.empty(len(rows))
    for first in range(0, len(rows), BLOCK):
        some = slice(first, first + BLOCK)
        here, there = (graph.features[graph.labels[each]] for each in (rows[some], rows[some] + ahead[some]))
        paces[some] = np.linalg.norm(there.astype(np.float64) - here, axis=1) / ahead[some]
    usual = float(np.median(paces)) if len(paces) else 0.0
    return _means(graph, np.maximum(1 - paces / usual, 0.0) if usual > 0 else np.zeros(len(paces)))


def priced_by_risk(graph: "MemoryGraph", rewards: "EdgeRewards", settings: "SolveConfig") -> "EdgeRewards":
    """Return the rewards with penalties on ways that were recorded with falls, or slowly."""
    penalties = np.zeros(len(graph.counts)) if rewards.penalties is None else rewards.penalties
    if settings.fall_cost:
        penalties = penalties + settings.fall_cost / SOON * graph.fall_shares
    if settings.slow_cost:
        penalties = penalties + settings.slow_cost * graph.slow_shares
    return replace(rewards, penalties=penalties)


def _rows_of_steps(graph: "MemoryGraph") -> tuple[Int64s, Int64s]:
    """Return the row that each recorded step leaves, and how many rows of its recording follow."""
    rows = graph.arrivals - 1
    last = np.repeat(np.cumsum(graph.lengths + 1) - 1, graph.lengths)
    return rows, last - rows


def _means(graph: "MemoryGraph", steps: Float64s | Bools) -> Float64s:
    """Return the mean over the recorded steps in each slot; 0 where there are none."""
    sums = np.bincount(graph.slots, steps, len(graph.counts))
    return sums / np.maximum(graph.counts, 1)


NO_FALLS: Int32s = np.zeros(0, np.int32)
