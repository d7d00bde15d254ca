"""Rewards on edges (eq. 4-6), in the paper's six variants, and the two kinds of goal; the graph stays untouched.

R_G(j1→j2) = ½ R(j1→j1) + R(j1→j2) + ½ R(j2→j2)        R(a→b): mean reward of the steps from a to b
"""

import warnings
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from vmg.data.episodes import Episodes
from vmg.errors import VMGError
from vmg.graph.construction import MemoryGraph
from vmg.types import Bools, Float64s

Variant = Literal["mean", "max", "sum", "rm", "rm_h", "rm_t"]
GoalKind = Literal["reach", "stay"]

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


@dataclass(frozen=True, eq=False)
class Goal:
    """The rewards of a goal, and how well the data know it."""

    rewards: EdgeRewards
    vertices: Bools
    """The vertices that hold a recorded state within the tolerance."""
    distance: float
    """How far the nearest recorded state lies from the goal."""
    known: bool
    """Whether any recorded state lies within the tolerance; if not, the nearest one stands for the goal."""


def reward(graph: MemoryGraph, rewards: Episodes | ArrayLike, *, variant: Variant = "mean") -> EdgeRewards:
    """Define R_G from one reward a recorded step: those of the episodes the graph was built from, or any array."""
    if variant not in _VARIANTS:
        raise VMGError(f"The reward variant must be one of {', '.join(_VARIANTS)}; not {variant!r}.")
    steps = np.asarray(rewards.rewards if isinstance(rewards, Episodes) else rewards, dtype=np.float64)
    if steps.shape != graph.slots.shape:
        raise VMGError(f"The graph knows {len(graph.slots)} steps, but the rewards have the shape {steps.shape}.")
    if not np.isfinite(steps).all():
        raise VMGError(f"The reward of step {int(np.argmin(np.isfinite(steps)))} is not a finite number.")
    how, half_tail, half_head = _VARIANTS[variant]
    slots = _combined(graph, steps, how)
    between, inside = slots[: graph.n_edges], slots[graph.n_edges :]
    edges = half_tail * inside[graph.tails] + between + half_head * inside[graph.heads]
    return EdgeRewards(edges, np.zeros(graph.n_vertices, bool), slots=slots)


def goal(
    graph: MemoryGraph,
    distances: ArrayLike,
    tolerance: float,
    *,
    kind: GoalKind = "reach",
    variant: Variant = "mean",
) -> Goal:
    """Pay 1 for every step that arrives within `tolerance` of a goal; `distances` holds one for each observation.

    "reach": a vertex that holds such a state is absorbing and loops with worth 1, or with the best R_G that leads into
    a goal if that is more: it is, by half of what steps inside the goal earn, and the vertex before a goal must never
    be worth more than the goal. "stay": nothing absorbs. If no recorded state lies within the tolerance, the nearest
    recorded state's vertex is the goal.
    """
    if kind not in ("reach", "stay"):
        raise VMGError(f"The kind of goal must be 'reach' or 'stay', not {kind!r}.")
    distance = np.asarray(distances, dtype=np.float64)
    if distance.shape != graph.labels.shape:
        raise VMGError(
            f"The graph knows {len(graph.labels)} observations, but the distances have the shape {distance.shape}."
        )
    closest = int(np.argmin(distance))
    known = bool(distance[closest] <= tolerance)
    vertices = np.zeros(graph.n_vertices, bool)
    vertices[graph.labels[distance <= tolerance] if known else graph.labels[closest]] = True
    within = distance <= tolerance if known else vertices[graph.labels]
    paid = reward(graph, within[graph.arrivals], variant=variant)
    absorbing = vertices if kind == "reach" else np.zeros_like(vertices)
    leading_in = vertices[graph.heads] & ~vertices[graph.tails]
    if not leading_in.any():
        _warn_unreached(vertices, float(distance[closest]), known)
    loop = paid.edges[leading_in].max(initial=1.0)
    return Goal(replace(paid, absorbing=absorbing, loop=loop), vertices, float(distance[closest]), known)


def _warn_unreached(vertices: Bools, distance: float, known: bool) -> None:
    where = "it" if known else f"the nearest recorded state, which is {distance:.3g} away from it and stands for it"
    warnings.warn(
        f"Nothing reaches this goal: no recorded step leads from elsewhere to {where} ({vertices.sum()} vertices). "
        "Choose a goal the episodes arrived at, or a larger tolerance.",
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
