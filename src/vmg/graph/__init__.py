"""The graph: merging, edges, rewards, values, routes. No JAX; numba only where something is computed."""

from vmg.graph.edges import EDGE_SOURCES, Edge, Unrecorded, add_edges
from vmg.graph.evidence import Piece, expected_steps, followed, reachable_from, reaching, stitched
from vmg.graph.extending import extend
from vmg.graph.memory import MemoryGraph, Recordings, build, connect
from vmg.graph.merging import Merging, merge_by_kmeans, merge_greedily
from vmg.graph.restricting import without_edges
from vmg.graph.rewards import EdgeRewards, Goal, find_goal, goal, reward
from vmg.graph.risk import knowing_falls
from vmg.graph.routes import ROUTES, FinalStates, Routes
from vmg.graph.routes.edges import EdgeRoutes
from vmg.graph.routes.observed import ObservedRoutes
from vmg.graph.routes.program import ProgramRoutes
from vmg.graph.routes.recordings import RecordingRoutes
from vmg.graph.settings import GoalKind, GraphConfig, RewardVariant, SolveConfig
from vmg.graph.solving import solve
from vmg.graph.summary import GraphSummary, summarise
from vmg.graph.values import Values, iterate_values

__all__ = [
    "EDGE_SOURCES",
    "ROUTES",
    "Edge",
    "EdgeRewards",
    "EdgeRoutes",
    "FinalStates",
    "Goal",
    "GoalKind",
    "GraphConfig",
    "GraphSummary",
    "MemoryGraph",
    "Merging",
    "ObservedRoutes",
    "Piece",
    "ProgramRoutes",
    "RecordingRoutes",
    "Recordings",
    "RewardVariant",
    "Routes",
    "SolveConfig",
    "Unrecorded",
    "Values",
    "add_edges",
    "build",
    "connect",
    "expected_steps",
    "extend",
    "find_goal",
    "followed",
    "goal",
    "iterate_values",
    "knowing_falls",
    "merge_by_kmeans",
    "merge_greedily",
    "reachable_from",
    "reaching",
    "reward",
    "solve",
    "stitched",
    "summarise",
    "without_edges",
]
