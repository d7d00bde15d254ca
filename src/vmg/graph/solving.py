"""Solving: values, the best vertex each vertex can reach, and the routes to it, tabulated once."""

from vmg.base.arguments import checked
from vmg.base.errors import VMGError
from vmg.base.types import Bools
from vmg.graph.memory import MemoryGraph
from vmg.graph.rewards import EdgeRewards
from vmg.graph.risk import priced_by_risk
from vmg.graph.routes import ROUTES, FinalStates, Problem, Routes
from vmg.graph.settings import DeadEnds, PathWeights, SearchKind, SolveConfig, Ties
from vmg.graph.values import values_of


@checked
def solve(
    graph: MemoryGraph,
    rewards: EdgeRewards,
    discount: float,
    *,
    search: SearchKind = "multi-step",
    search_steps: int | None = None,
    path_weights: PathWeights = "rewards",
    paths: str = "edges",
    switch_cost: float = 30.0,
    fall_cost: float = 0.0,
    slow_cost: float = 0.0,
    ties: Ties = "index",
    dead_ends: DeadEnds = "loop",
    tolerance: float = 1e-6,
) -> Routes:
    """Solve the graph for one reward: value iteration, then targets and routes for every vertex.

    v* is the best-valued vertex within `search_steps` edges (None: all that can be reached), v_c itself included; ties
    go to a looping vertex before one that leads on, then to the lower index or ("nearest", only without a limit) to the
    one that is reached most cheaply. Paths are cheapest by (max R_G) − R_G, or by hops; ties go to fewer edges, then
    to the lower next vertex. "greedy" search replaces both by the best edge out. `paths` names the kind of routes.
    `fall_cost` and `slow_cost` make ways dearer on which recordings fell, or were slow.
    """
    settings = SolveConfig(
        discount=discount, search=search, search_steps=search_steps, path_weights=path_weights, paths=paths,
        switch_cost=switch_cost, fall_cost=fall_cost, slow_cost=slow_cost, ties=ties, dead_ends=dead_ends,
        tolerance=tolerance,
    )  # fmt: skip
    return solve_edges(graph, rewards, settings)


def solve_edges(
    graph: MemoryGraph, rewards: EdgeRewards, settings: SolveConfig, finals: FinalStates | None = None,
    stays: Bools | None = None,
) -> Routes:  # fmt: skip
    """Solve the graph for rewards on its edges, with these settings; the routes carry the final states.

    `stays`: vertices that are headed for before all others, where ties go to the nearest.
    """
    if len(rewards.edges) != graph.n_edges or len(rewards.absorbing) != graph.n_vertices:
        raise VMGError(
            f"The graph has {graph.n_edges} edges and {graph.n_vertices} vertices, but the rewards are for "
            f"{len(rewards.edges)} and {len(rewards.absorbing)}."
        )
    values = values_of(graph, rewards, settings)
    if settings.fall_cost or settings.slow_cost:
        rewards = priced_by_risk(graph, rewards, settings)
    return ROUTES.find(settings.paths).solve(Problem(graph, rewards, values, settings, finals, stays))
