"""The graph: merging, construction, rewards, values, planning. No JAX; numba only where something is computed."""

from vmg.graph.construction import MemoryGraph, Recordings, build, connect
from vmg.graph.evidence import Piece, expected_steps, followed, reachable_from, reaching, stitched
from vmg.graph.merging import Labelling, Merging, MergingKind, merge_by_kmeans, merge_greedily
from vmg.graph.planning import Paths, PathWeights, Search, Ties, solve
from vmg.graph.rewards import EdgeRewards, Goal, GoalKind, Variant, find_goal, goal, reward
from vmg.graph.solution import Along, Solution, Ways
from vmg.graph.summary import GraphSummary, summarise
from vmg.graph.values import DeadEnds, Values, iterate_values

__all__ = [
    "Along",
    "DeadEnds",
    "EdgeRewards",
    "Goal",
    "GoalKind",
    "GraphSummary",
    "Labelling",
    "MemoryGraph",
    "Merging",
    "MergingKind",
    "PathWeights",
    "Paths",
    "Piece",
    "Recordings",
    "Search",
    "Solution",
    "Ties",
    "Values",
    "Variant",
    "Ways",
    "build",
    "connect",
    "expected_steps",
    "find_goal",
    "followed",
    "goal",
    "iterate_values",
    "merge_by_kmeans",
    "merge_greedily",
    "reachable_from",
    "reaching",
    "reward",
    "solve",
    "stitched",
    "summarise",
]
