"""How a graph is built and solved; the settings of both stages."""

from dataclasses import dataclass
from typing import Annotated, Literal

from vmg.base.errors import VMGError
from vmg.base.settings import Bounds, Named, Settings
from vmg.graph.edges import EDGE_SOURCES
from vmg.graph.routes import ROUTES

Labelling = Literal["nearest", "online"]
MergingKind = Literal["greedy", "kmeans"]
RewardVariant = Literal["mean", "max", "sum", "rm", "rm_h", "rm_t"]
GoalKind = Literal["reach", "stay"]
SearchKind = Literal["multi-step", "greedy"]
PathWeights = Literal["rewards", "hops"]
Ties = Literal["index", "nearest"]
DeadEnds = Literal["loop", "zero"]


@dataclass(frozen=True, kw_only=True)
class GraphConfig(Settings):
    """How states are merged into vertices, and which edges join them."""

    radius: Annotated[float, Bounds(0)] = 0.5
    """γ_m: a state farther than this from every vertex becomes a vertex."""
    labelling: Labelling = "nearest"
    """A state belongs to the nearest vertex of the finished graph, or ("online") of those there when it was scanned."""
    merging: MergingKind = "greedy"
    """Merge by the paper's greedy scan, or by k-means, which knows no radius and labels by the nearest centroid."""
    clusters: Annotated[int, Bounds(1)] | None = None
    """Vertices k-means is asked for; None: as many as the greedy scan finds at the radius."""
    recordings: bool = False
    """Keep every recorded observation with the graph, so that routes can follow recordings."""
    edges: tuple[Annotated[str, Named(EDGE_SOURCES)], ...] = ("recorded",)
    """Where edges come from; the first source must be "recorded", the others are asked in order."""
    goal_columns: tuple[int, ...] = ()
    """Columns of every recorded observation to keep with the graph, so that a goal in them needs no data."""
    unhandled: tuple[int, ...] = ()
    """Columns that nobody handles, though they stand still in most steps (the weather, a battery): they are no objects,
    and differ by no more than recorded ones usually do. For routes that look."""
    generated: Annotated[float, Bounds(0, 1e6)] | None = None
    """Add short links that nobody recorded, where the low-level policy could go, at this price, which is taken off
    their reward; None: none. For routes along edges."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.merging == "greedy" and self.clusters is not None:
            raise VMGError("Greedy merging finds its number of vertices itself: leave out clusters, or use 'kmeans'.")
        if self.edges[:1] != ("recorded",) or len(set(self.edges)) < len(self.edges):
            raise VMGError(f"The first source of edges must be 'recorded', and none named twice, not {self.edges}.")


ALONG_RECORDINGS = ("recordings", "observed")
"""Kinds of routes that follow recordings."""


@dataclass(frozen=True, kw_only=True)
class SolveConfig(Settings):
    """How the graph is rewarded and solved."""

    discount: Annotated[float, Bounds(0, 1, open_high=True)] = 0.95
    """γ: what a reward one edge later is worth."""
    variant: RewardVariant = "mean"
    """How rewards of steps become rewards of edges."""
    search: SearchKind = "multi-step"
    """Head for the best vertex within reach, or ("greedy", an ablation) along the best edge."""
    search_steps: Annotated[int, Bounds(0)] | None = None
    """N_s: edges the search for the best vertex may go; None: any number."""
    path_weights: PathWeights = "rewards"
    """Paths lose the least reward, or have the fewest hops."""
    paths: Annotated[str, Named(ROUTES)] = "edges"
    """Routes go along edges, or ("recordings") along recorded episodes, with a price on switching between them, or
    the same with that price on what differs in the observations ("observed"), or along edges as the published program
    finds and keeps to them ("program", with `act.keep_path`)."""
    switch_cost: Annotated[float, Bounds(0, 1e6)] = 30.0
    """Cost of switching recordings, in unrewarded steps, per mean recorded step length of feature distance; along
    "observed" recordings, per recorded step that the observations differ by."""
    fall_cost: Annotated[float, Bounds(0, 1e6)] = 0.0
    """What going along with a recording that falls costs, in unrewarded steps, spread over the 25 steps before the
    fall; where only some recordings fell, as much less. 0: falls do not matter."""
    slow_cost: Annotated[float, Bounds(0, 1e6)] = 0.0
    """What a step costs where recordings stood still, in unrewarded steps; where they were slower than usual, as much
    less. 0: pace does not matter."""
    ties: Ties = "index"
    """Of equally good vertices head for the one of lowest index, or for the one reached most cheaply ("nearest")."""
    dead_ends: DeadEnds = "loop"
    """A vertex without edges out loops, worth its best incoming reward, or is worth 0."""
    tolerance: Annotated[float, Bounds(0, open_low=True)] = 1e-6
    """Largest error of a value."""

    def __post_init__(self) -> None:
        super().__post_init__()
        limited = self.search_steps is not None
        if self.paths in ALONG_RECORDINGS and (limited or self.search == "greedy"):
            raise VMGError("Routes along recordings search without a limit: leave search and search_steps as they are.")
        if self.ties == "nearest" and limited:
            raise VMGError("Ties can go to the nearest vertex only where search_steps is None.")
