"""Rewards on edges (eq. 4-6), in the paper's six variants, and the two kinds of goal; the graph stays untouched.

R_G(j1→j2) = ½ R(j1→j1) + R(j1→j2) + ½ R(j2→j2)        R(a→b): mean reward of the steps from a to b
"""

import warnings
from bisect import bisect_left
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from vmg.base.arguments import checked, numbers_of
from vmg.base.errors import VMGError
from vmg.base.types import Bools, Float64s
from vmg.data.episodes import Episodes
from vmg.graph.evidence import reaching
from vmg.graph.memory import MemoryGraph
from vmg.graph.settings import GoalKind, RewardVariant, SolveConfig

ENOUGH = 0.1
"""Share of the vertices that lead to a goal which is widened: a handful next to it are of no use to the others."""

# How the steps of a slot are combined, and which halves of the rewards inside the two vertices are added: (tail, head).
_VARIANTS: dict[str, tuple[str, float, float]] = {
    "mean": ("mean", 0.5, 0.5),
    "max": ("max", 0.5, 0.5),
    "sum": ("sum", 0.5, 0.5),
    "rm": ("mean", 0.0, 0.0),
    "rm_h": ("mean", 0.0, 0.5),
    "rm_t": ("mean", 0.5, 0.0),
}


@dataclass(frozen=True, eq=False)
class EdgeRewards:
    """A reward for every edge, and the vertices where a task ends."""

    edges: Float64s
    absorbing: Bools
    """Vertices whose edges out are ignored: a goal, once reached, is not left."""
    loop: float = 1.0
    """What an absorbing vertex pays for every step on the spot."""
    slots: Float64s | None = None
    """R of every slot, the recorded steps themselves; paths along recordings need it."""
    penalties: Float64s | None = None
    """What a step in each slot costs on a path besides, in unrewarded steps; values know nothing of it."""


@dataclass(frozen=True, eq=False)
class Goal:
    """The rewards of a goal, and how well the data know it."""

    rewards: EdgeRewards
    vertices: Bools
    """The vertices that hold a recorded state within the tolerance, or that of the nearest where none does."""
    tolerance: float
    """How near counts as there: as given, or as wide as it takes for any edge to lead there from elsewhere."""
    distance: float
    """How far the nearest recorded state lies from the goal."""
    known: bool
    """Whether any recorded state lies within the tolerance; if not, the nearest one stands for the goal."""
    entered: bool
    """Whether any edge leads to it from elsewhere, within the tolerance given."""


@checked
def reward(graph: MemoryGraph, rewards: Episodes | ArrayLike, *, variant: RewardVariant = "mean") -> EdgeRewards:
    """Define R_G from one reward per recorded step: those of the episodes the graph was built from, or any array."""
    if variant not in _VARIANTS:
        SolveConfig(variant=variant)  # says what it can be
    steps = numbers_of(rewards.rewards if isinstance(rewards, Episodes) else rewards, "Rewards, one per recorded step,")
    if steps.shape != graph.slots.shape:
        raise VMGError(f"The graph knows {len(graph.slots)} steps, but the rewards have the shape {steps.shape}.")
    if not np.isfinite(steps).all():
        raise VMGError(f"The reward of step {int(np.argmin(np.isfinite(steps)))} is not a finite number.")
    how, half_tail, half_head = _VARIANTS[variant]
    slots = _combined(graph, steps, how)
    between, inside = slots[: graph.n_edges], slots[graph.n_edges :]
    edges = half_tail * inside[graph.tails] + between + half_head * inside[graph.heads]
    if graph.unrecorded:
        edges -= graph.edge_prices
    return EdgeRewards(edges, np.zeros(graph.n_vertices, bool), slots=slots)


@checked
def goal(
    graph: MemoryGraph,
    distances: ArrayLike,
    tolerance: float,
    *,
    kind: GoalKind = "reach",
    variant: RewardVariant = "mean",
) -> Goal:
    """Pay 1 for every step that arrives within `tolerance` of a goal; `distances` holds one for each observation.

    "reach": a vertex that holds such a state is absorbing and loops with worth 1, or with the best R_G that leads into
    a goal if that is more: it is, by half of what steps inside the goal earn, and the vertex before a goal must never
    be worth more than the goal. "stay": nothing absorbs. If no recorded state lies within the tolerance, the nearest
    recorded state's vertex is the goal. If nothing leads there from elsewhere, the tolerance is widened until something
    does, with a warning.
    """
    found = find_goal(graph, distances, tolerance, kind=kind, variant=variant)
    if not found.entered:
        _warn_unreached(found, tolerance)
    return found


def find_goal(
    graph: MemoryGraph, distances: ArrayLike, tolerance: float, *, kind: GoalKind, variant: RewardVariant
) -> Goal:
    """Like `goal`, without the warning: the caller reports goals that nothing reaches."""
    if kind not in ("reach", "stay"):
        raise VMGError(f"The kind of goal must be 'reach' or 'stay', not {kind!r}.")
    distance = numbers_of(distances, "Distances, one per observation,")
    if distance.shape != graph.labels.shape:
        raise VMGError(
            f"The graph knows {len(graph.labels)} observations, but the distances have the shape {distance.shape}."
        )
    if np.isnan(distance).any() or not tolerance >= 0:
        raise VMGError(f"Distances and the tolerance must be numbers, none below 0; the tolerance is {tolerance}.")
    found = _goal_within(graph, distance, tolerance, kind, variant)
    if found.entered:
        return found
    widened = _widened(graph, distance, max(tolerance, found.distance))
    if not np.isfinite(widened):
        return found
    return replace(_goal_within(graph, distance, widened, kind, variant), known=found.known, entered=False)


def _goal_within(
    graph: MemoryGraph, distance: Float64s, tolerance: float, kind: GoalKind, variant: RewardVariant
) -> Goal:
    closest = int(np.argmin(distance))
    known = bool(distance[closest] <= tolerance)
    vertices = np.zeros(graph.n_vertices, bool)
    vertices[graph.labels[distance <= tolerance] if known else graph.labels[closest]] = True
    within = distance <= tolerance if known else vertices[graph.labels]
    paid = reward(graph, within[graph.arrivals], variant=variant)
    absorbing = vertices if kind == "reach" else np.zeros_like(vertices)
    leading_in = vertices[graph.heads] & ~vertices[graph.tails]
    loop = paid.edges[leading_in].max(initial=1.0)
    rewards = replace(paid, absorbing=absorbing, loop=loop)
    return Goal(rewards, vertices, float(tolerance), float(distance[closest]), known, bool(leading_in.any()))


def _widened(graph: MemoryGraph, distance: Float64s, tolerance: float) -> float:
    """The least tolerance from this one on at which something leads into the goal from outside, and from `ENOUGH`."""
    nearest = np.full(graph.n_vertices, np.inf)
    np.minimum.at(nearest, graph.labels, distance)
    entered = _nearest_entered(graph, nearest, tolerance)
    wider = np.unique(nearest[np.isfinite(nearest) & (nearest > entered)])
    if not np.isfinite(entered) or _leading(graph, nearest <= entered) >= ENOUGH or not len(wider):
        return entered
    first = bisect_left(range(len(wider)), ENOUGH, key=lambda i: _leading(graph, nearest <= wider[i]))
    if first == len(wider):
        return entered
    enough = _nearest_entered(graph, nearest, float(wider[first]))
    return enough if np.isfinite(enough) else entered


def _leading(graph: MemoryGraph, goal: Bools) -> float:
    """Share of the vertices from which a goal can be reached."""
    return float(reaching(graph, goal).mean())


def _nearest_entered(graph: MemoryGraph, nearest: Float64s, tolerance: float) -> float:
    """The least tolerance from this one on at which some step leads into the goal from outside of it."""
    entering = np.maximum(nearest[graph.heads], tolerance)
    return float(entering[nearest[graph.tails] > entering].min(initial=np.inf))


def _warn_unreached(found: Goal, tolerance: float) -> None:
    stand_in = f"the nearest recorded state, which is {found.distance:.3g} away from it and stands for it"
    widened = f" What lies within {found.tolerance:.3g} is the goal instead." if found.tolerance > tolerance else ""
    warnings.warn(
        f"Nothing reaches this goal: no recorded step leads from elsewhere to {'it' if found.known else stand_in}."
        f"{widened} Choose a goal that the episodes arrived at.",
        stacklevel=3,
    )


def _combined(graph: MemoryGraph, steps: Float64s, how: str) -> Float64s:
    """R of every slot; 0 inside a vertex that no step stays in."""
    if how == "max":
        slots = np.full(len(graph.counts), -np.inf)
        np.maximum.at(slots, graph.slots, steps)
        return np.where(graph.counts > 0, slots, 0.0)
    slots = np.bincount(graph.slots, steps, len(graph.counts)).astype(np.float64, copy=False)
    return slots / np.maximum(graph.counts, 1) if how == "mean" else slots
