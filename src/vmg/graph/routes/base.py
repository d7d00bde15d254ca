"""What routes are: for every vertex the way to its target, in a form that a policy can follow.

An *entry* is a place on a route: a vertex along edges, a recorded observation along recordings. Only the routes
themselves know what their entries mean.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, Self, runtime_checkable

import numpy as np

from vmg.base.errors import VMGError
from vmg.base.registry import ClassRegistry
from vmg.base.types import Bools, Float32s, Float64s, Int32s, Int64s
from vmg.graph.routes.finals import FinalStates

if TYPE_CHECKING:
    from vmg.graph.evidence import Piece
    from vmg.graph.memory import MemoryGraph
    from vmg.graph.rewards import EdgeRewards
    from vmg.graph.settings import SolveConfig
    from vmg.graph.values import Values


@dataclass(frozen=True, eq=False)
class Problem:
    """What routes are made from."""

    graph: "MemoryGraph"
    rewards: "EdgeRewards"
    values: "Values"
    settings: "SolveConfig"
    finals: FinalStates | None = None
    stays: Bools | None = None
    """Vertices that are headed for before all others, where ties go to the nearest."""


class Tracker(Protocol):
    """Where one episode is on the routes it keeps to."""

    @property
    def stuck(self) -> bool:
        """Whether the episode has not moved on along its route for a while."""

    def locate(self, feature: Float32s, vertex: int) -> tuple[int, int]:
        """Return the entry where the episode is now, and how many steps further ahead than usual to look."""


@runtime_checkable
class LookingTracker(Protocol):
    """A tracker that is shown the observation before it is asked where the episode is."""

    def look(self, observation: Float32s) -> None:
        """See the observation of this step."""


class Routes(Protocol):
    """The way from every vertex to its target."""

    kind: ClassVar[str]
    """The name it is registered under, which sets it, and saved with."""

    @property
    def graph(self) -> "MemoryGraph":
        """The graph they lie in."""

    @property
    def values(self) -> Float64s:
        """What every vertex is worth."""

    @property
    def targets(self) -> Int32s:
        """The vertex where the route from each vertex ends."""

    @property
    def finals(self) -> FinalStates | None:
        """The recorded states that are headed for where routes end; None: vertices alone."""

    @classmethod
    def solve(cls, problem: Problem) -> Self:
        """Find the routes."""

    def enter(self, features: Float32s, vertices: Int32s) -> Int32s:
        """Return the entry for each state, given where it lies in the metric space and its vertex."""

    def ahead(self, entries: Int32s, steps: int) -> Int32s:
        """Return the entry so many steps on, or the last one if that comes first; `steps=1` is the next."""

    def vertices(self, entries: Int32s) -> Int32s:
        """Return the vertex each entry lies in."""

    def states(self, entries: Int32s) -> Float32s:
        """Return the recorded observation at each entry: what a low-level policy is given as a subgoal."""

    def features(self, entries: Int32s) -> Float32s:
        """Return where those lie in the metric space."""

    def ends(self, entries: Int32s) -> Int32s:
        """Return the target of each entry: where its route ends, or one that is as good."""

    def path(self, vertex: int) -> list[int]:
        """Return the vertices from a vertex to its target, both included."""

    def path_from(self, entry: int) -> list[int]:
        """Return the vertices on the route from an entry, each once where the route stays in it."""

    def pieces(self, entry: int) -> "list[Piece]":
        """Return the recorded pieces that the route from an entry is stitched from."""

    def cost(self, entry: int) -> float:
        """Return the environment steps that the route from an entry took in the recordings."""

    def tracker(self, subgoal_steps: int) -> Tracker:
        """Return what keeps an episode on its route, instead of entering anew at every step."""

    def arrays(self) -> dict[str, np.ndarray]:
        """Return what is kept on disk."""

    @classmethod
    def from_arrays(cls, graph: "MemoryGraph", arrays: Mapping[str, np.ndarray]) -> Self:
        """Undo `arrays`, or say in a sentence what does not fit."""


ROUTES: ClassRegistry[type[Routes]] = ClassRegistry("kind of routes")


def without_repeats(vertices: Sequence[int]) -> list[int]:
    """Return the vertices of a route, each once where it stays in it."""
    return [vertex for i, vertex in enumerate(vertices) if i == 0 or vertex != vertices[i - 1]]


def distances_to(points: Float32s, point: Float32s) -> Float32s:
    """Distance of one point to each of many: what `np.linalg.norm` gives, without all it looks at first."""
    apart = points - point
    apart *= apart
    distances: Float32s = np.sqrt(np.add.reduce(apart, axis=1))
    return distances


def followed_for(following: Int32s, entries: Int32s, steps: int) -> Int32s:
    """Where each entry leads after so many hops, or up to its end; far more hops than a route has cost no more."""
    entries = np.asarray(entries, dtype=np.int32)
    for step in range(steps):
        before, entries = entries, following.take(entries)
        if step % 64 == 63 and np.array_equal(before, entries):
            break
    return entries


def followed_to_end(following: Int32s) -> Int32s:
    """Where each entry leads in the end: follow one hop, then two, four, eight, ... until nothing moves."""
    ends = following
    for _ in range(len(following).bit_length() + 1):
        if np.array_equal(ends, twice := ends[ends]):
            break
        ends = twice
    if not np.array_equal(following[ends], ends):  # a circle of two, four, eight, ... comes to rest as well
        raise VMGError("its routes run in a circle")
    return ends


def summed_to_end(costs: Int64s, after: Int32s) -> tuple[Int64s, Int32s]:
    """Sum costs along routes, and say in which vertex they end: follow one vertex, then two, four, eight, ...

    Vertex n and those beyond, where routes have ended in vertex 0 and those beyond, cost nothing.
    """
    n = len(costs)
    costs = np.concatenate([costs, np.zeros(n, costs.dtype)])
    after = np.concatenate([after, np.arange(n, 2 * n, dtype=np.int32)])
    for _ in range(len(after).bit_length()):
        if np.array_equal(after, following := after[after]):
            break
        costs, after = costs + costs[after], following
    return costs[:n], after[:n] - np.int32(n)
