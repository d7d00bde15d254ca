"""Value iteration on the graph, with a guaranteed error and both treatments of dead ends."""

import warnings
from dataclasses import dataclass

import numpy as np

from vmg.base.errors import VMGError
from vmg.base.types import Bools, Float64s
from vmg.graph import kernels
from vmg.graph.memory import MemoryGraph
from vmg.graph.rewards import EdgeRewards
from vmg.graph.settings import DeadEnds, SolveConfig

LARGEST = 1e150
"""Values beyond this are refused: their squares, and sums of many, are no numbers any more."""


@dataclass(frozen=True, eq=False)
class Values:
    """What every vertex is worth, and the vertices that loop onto themselves."""

    values: Float64s
    looping: Bools
    """Goals, and dead ends where these loop."""
    sweeps: int


def iterate_values(
    graph: MemoryGraph,
    rewards: EdgeRewards,
    discount: float,
    *,
    dead_ends: DeadEnds = "loop",
    tolerance: float = 1e-6,
) -> Values:
    """Solve V(j) = max over edges of R_G + discount · V(next) to within `tolerance` of the exact solution.

    Sweeps stop at a change of tolerance·(1−discount)/discount, which bounds the error by `tolerance`. A vertex without
    edges out loops onto itself, worth its best incoming R_G ("loop", 0 if nothing comes in), or is worth 0 ("zero").
    A goal loops with its own worth. The value of a loop needs no iteration: worth/(1−discount). Where the discount is
    so near 1 that rounding could cost more than the tolerance, policy iteration finds the last digits; a warning says
    where float64 has too few for that.
    """
    return values_of(graph, rewards, SolveConfig(discount=discount, dead_ends=dead_ends, tolerance=tolerance))


def values_of(graph: MemoryGraph, rewards: EdgeRewards, settings: SolveConfig) -> Values:
    """Solve for values with these settings; see `iterate_values`."""
    discount, dead_ends, tolerance = settings.discount, settings.dead_ends, settings.tolerance
    ended = np.diff(graph.first_edge) == 0
    worth = _loop_worth(graph, rewards) if dead_ends == "loop" else np.zeros(graph.n_vertices)
    worth[rewards.absorbing] = rewards.loop
    settled = ended | rewards.absorbing
    followed = rewards.edges[~rewards.absorbing[graph.tails]]
    least = min(followed.min(initial=0.0), worth[settled].min(initial=0.0))  # nothing is worth less, for ever
    _check_size(max(followed.max(initial=0.0), worth[settled].max(initial=0.0), -least), discount)
    edges = (graph.first_edge, graph.heads, rewards.edges, settled)
    values = np.where(settled, worth, least) / (1 - discount)
    stop = tolerance * (1 - discount) / discount if discount > 0 else np.inf
    sweeps = kernels.values.iterate_values(*edges, values, float(discount), stop)
    if _rounding(float(np.abs(values).max()), discount) > tolerance:
        largest = kernels.values.refine_values(*edges, worth, values, float(discount))
        _warn_of_rounding(_rounding(largest, discount), values, settings)
    looping = settled if dead_ends == "loop" else rewards.absorbing
    return Values(values, looping, sweeps)


def _check_size(reward: float, discount: float) -> None:
    """Refuse rewards whose values are no numbers any more."""
    largest = reward / (1 - discount)
    if not largest < LARGEST:
        raise VMGError(
            f"With a discount of {discount:.9g} and rewards as large as {reward:.3g} values can reach {largest:.3g}, "
            f"which is more than the {LARGEST:g} that can be solved for: scale the rewards, or lower the discount."
        )


def _rounding(largest: float, discount: float) -> float:
    """How exactly float64 holds the sum of numbers as large as this, for ever."""
    return kernels.values.ROUNDING * largest / (1 - discount)


def _warn_of_rounding(error: float, values: Float64s, settings: SolveConfig) -> None:
    """Say so where float64 cannot hold the values to within the tolerance."""
    if error > settings.tolerance:
        warnings.warn(
            f"With a discount of {settings.discount:.9g} values reach {np.abs(values).max():.3g}, and float64 holds "
            f"them to about {error:.2g}, not to the tolerance of {settings.tolerance:g}: lower the discount, or scale "
            "the rewards.",
            stacklevel=4,
        )


def _loop_worth(graph: MemoryGraph, rewards: EdgeRewards) -> Float64s:
    """Best R_G that comes in over an edge that is not ignored, 0 where nothing does."""
    followed = ~rewards.absorbing[graph.tails]
    worth = np.full(graph.n_vertices, -np.inf)
    np.maximum.at(worth, graph.heads[followed], rewards.edges[followed])
    return np.where(np.isfinite(worth), worth, 0.0)
