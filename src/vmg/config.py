"""Everything an agent can be told, stage by stage. These dataclasses are the command line's flags and `config.json`.

paper       name              paper       name
γ_m         radius            K           goal_horizon
N_sg        subgoal_steps     m           margin
N_s         search_steps      γ           discount
"""

import types
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from vmg.errors import VMGError
from vmg.graph.merging import Labelling, MergingKind
from vmg.graph.planning import Paths, PathWeights, Search, Ties
from vmg.graph.rewards import GoalKind, Variant
from vmg.graph.values import DeadEnds
from vmg.learn.config import LearnConfig

Config = TypeVar("Config")


@dataclass(frozen=True, kw_only=True)
class GraphConfig:
    """How states are merged into vertices."""

    radius: float = 0.5
    """γ_m: a state farther than this from every vertex becomes a vertex."""
    labelling: Labelling = "nearest"
    """A state belongs to the nearest vertex of the finished graph, or ("online") of those there when it was scanned."""
    merging: MergingKind = "greedy"
    """Merge by the paper's greedy scan, or by k-means, which knows no radius and labels by the nearest centroid."""
    clusters: int | None = None
    """Vertices k-means is asked for; None: as many as the greedy scan finds at the radius."""
    recordings: bool = False
    """Keep every recorded observation with the graph, so that paths can follow recordings."""


@dataclass(frozen=True, kw_only=True)
class SolveConfig:
    """How the graph is rewarded and solved."""

    discount: float = 0.95
    """γ: what a reward one edge later is worth."""
    variant: Variant = "mean"
    """How rewards of steps become rewards of edges."""
    search: Search = "multi-step"
    """Head for the best vertex within reach, or ("greedy", an ablation) along the best edge."""
    search_steps: int | None = None
    """N_s: edges the search for the best vertex may go; None: any number."""
    path_weights: PathWeights = "rewards"
    """Paths lose the least reward, or have the fewest hops."""
    paths: Paths = "edges"
    """Paths go along edges, or ("recordings") along recorded episodes, with a price on changing from one to another."""
    switch_cost: float = 30.0
    """That price: unrewarded steps for every recorded step's length of gap between the two recordings."""
    ties: Ties = "index"
    """Of equally good vertices head for the one of lowest index, or for the one reached most cheaply ("nearest")."""
    dead_ends: DeadEnds = "loop"
    """A vertex without edges out loops, worth its best incoming reward, or is worth 0."""
    tolerance: float = 1e-6
    """Largest error of a value."""


@dataclass(frozen=True, kw_only=True)
class GoalConfig:
    """How a goal that an environment names is to be understood."""

    columns: tuple[int, ...]
    """The numbers of the state in which goals are named (a maze's x and y)."""
    tolerance: float
    """How near counts as there."""
    kind: GoalKind = "reach"
    """Reach it and be done, or stay."""
    key: str = "desired_goal"
    """Where the environment's observation names it."""


@dataclass(frozen=True, kw_only=True)
class ActConfig:
    """How the path becomes actions."""

    subgoal_steps: int = 2
    """N_sg: how many edges ahead on the path the translator's goal lies, or recorded steps along recordings."""
    keep_path: bool = False
    """Keep to a path until lost or stuck, instead of planning at every step: along edges as the published program does,
    along recordings in our own way."""
    noise: float = 0.0
    """Spread of normal noise on actions, the same whenever an episode is run again; frees a body that sticks."""

    def __post_init__(self) -> None:
        if self.subgoal_steps < 0:
            raise VMGError(f"subgoal_steps must be at least 0, not {self.subgoal_steps}.")
        if not self.noise >= 0:
            raise VMGError(f"The noise must be at least 0, not {self.noise}.")


@dataclass(frozen=True, kw_only=True)
class AgentConfig:
    """The whole agent; the defaults are the paper's for the kitchen."""

    learn: LearnConfig = field(default_factory=LearnConfig)
    graph: GraphConfig = field(default_factory=GraphConfig)
    solve: SolveConfig = field(default_factory=SolveConfig)
    act: ActConfig = field(default_factory=ActConfig)
    goal: GoalConfig | None = None
    """Set where goals are named by the environment."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return asdict(self)


def from_dict(kind: type[Config], values: Any, *, place: str) -> Config:
    """Undo `asdict`; anything missing, unknown or of the wrong type is said with its place."""
    if not isinstance(values, Mapping):
        raise VMGError(f"{place} must be an object with named values, not {values!r}.")
    known = {f.name for f in fields(kind)}  # type: ignore[arg-type]
    if unknown := sorted(set(values) - known):
        raise VMGError(f"{place} has the unknown entry {unknown[0]!r}: it was written by another version.")
    hints = get_type_hints(kind)
    try:
        return kind(**{name: _value(hints[name], value, f"{place}.{name}") for name, value in values.items()})
    except TypeError as error:
        raise VMGError(f"{place} is incomplete: {error}.") from error


def _value(hint: Any, value: Any, place: str) -> Any:
    if get_origin(hint) in (types.UnionType, Union):
        if value is None:
            return None
        hint = next(choice for choice in get_args(hint) if choice is not types.NoneType)
    if is_dataclass(hint):
        return from_dict(hint, value, place=place)  # type: ignore[arg-type]
    if get_origin(hint) is tuple:
        return tuple(value)
    if get_origin(hint) is Literal:
        return value
    if not isinstance(value, (int, float) if hint is float else hint) or (isinstance(value, bool) and hint is not bool):
        raise VMGError(f"{place} must be of the type {hint.__name__}, not {value!r}.")
    return value
