"""A new task in milliseconds: solve a built graph for a wish, and say before acting whether and how it can be done."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from vmg.agent import Agent
from vmg.data.episodes import Episodes
from vmg.errors import VMGError
from vmg.graph import EdgeRewards, Goal, GoalKind, Piece, Solution, expected_steps, goal, reward, stitched
from vmg.networks import embed
from vmg.types import Bools
from vmg.wishes import Wish


@dataclass(frozen=True, eq=False)
class Prospect:
    """A wish solved for: the solution to follow, and what the data know about it."""

    wish: Wish
    solution: Solution
    rewards: EdgeRewards
    goal: Goal | None
    """Where it is to be reached; None where the wish is only paid."""
    paid_steps: int
    """Recorded steps that it rewards."""
    reaching: Bools
    """The vertices from which it can be reached: the goal, or any step that it rewards."""

    def in_words(self) -> str:
        """Say what the task is and how much of the graph can do it."""
        n = len(self.reaching)
        text = (
            f"Task: {self.wish.words}. {self.paid_steps:,} recorded steps are rewarded; {self.reaching.sum():,} of "
            f"{n:,} vertices ({100 * self.reaching.mean():.0f} %) can reach it."
        )
        if self.goal and not self.goal.known:
            text += f" No recorded state fulfils it: the nearest, {self.goal.distance:.3g} away from it, stands for it."
        return text


@dataclass(frozen=True)
class Explanation:
    """What can be said about a task before acting, from one observation."""

    possible: bool
    """Whether any recorded way leads there from here."""
    vertex: int
    evidence: float
    """How far the nearest recorded state is, in the metric space."""
    off_graph: bool
    """Farther than the radius: nothing recorded looks like this."""
    path: tuple[int, ...]
    steps: float
    """Environment steps such a way took in the recordings."""
    pieces: tuple[Piece, ...]
    """The recorded episodes the path is stitched from."""

    def in_words(self) -> str:
        """Answer in sentences."""
        near = "off the graph: nothing recorded looks like this" if self.off_graph else "on the graph"
        here = f"The observation is at vertex {self.vertex}, {self.evidence:.2g} away from it ({near})."
        if not self.possible:
            return f"{here} No recorded way leads from here to what is wanted."
        parts = ", ".join(f"episode {p.episode} (steps {p.first} to {p.last})" for p in self.pieces)
        stitch = f"stitched from {len(self.pieces)} recorded pieces: {parts}" if self.pieces else "it is there already"
        return f"{here} It can be done: {len(self.path) - 1} edges, about {self.steps:.0f} steps, {stitch}."


def want(agent: Agent, episodes: Episodes, wish: Wish, *, kind: GoalKind = "reach") -> Prospect:
    """Solve the agent's graph for a wish; `episodes` are those the graph was built from. No network is trained.

    A wish that can be reached absorbs ("reach") or goes on paying ("stay"); one that is only paid is always the latter.
    """
    graph, variant = agent.built, agent.config.solve.variant
    if len(episodes.observations) != len(graph.labels):
        raise VMGError(
            f"The graph was built from {len(graph.labels)} observations, but {episodes.source} has "
            f"{len(episodes.observations)}: give the episodes it was built from."
        )
    if wish.distance is None:
        pays = wish.pays(episodes)
        found, rewards, paid = None, reward(graph, pays, variant=variant), int(np.count_nonzero(pays))
    else:
        distances = np.asarray(wish.distance(episodes.observations), dtype=np.float64)
        if not np.isfinite(distances).any():
            raise VMGError(f"No recorded state fulfils '{wish.words}', and nothing says which would come nearest.")
        found = goal(graph, distances, wish.tolerance, kind=kind, variant=variant)
        rewards, paid = found.rewards, int((distances <= wish.tolerance)[graph.arrivals].sum())
    solution = agent.solve_edges(rewards)
    return Prospect(wish, solution, rewards, found, paid, _reaching(agent, rewards, found))


def want_many(
    agent: Agent, episodes: Episodes, wishes: Sequence[Wish], *, kind: GoalKind = "reach", workers: int | None = None
) -> list[Prospect]:
    """Solve for many wishes at once, on all cores: the kernels run side by side on one graph."""
    if wishes:
        want(agent, episodes, wishes[0], kind=kind)  # what the graph keeps for all of them is made once
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda wish: want(agent, episodes, wish, kind=kind), wishes))


def explain(agent: Agent, prospect: Prospect, observation: ArrayLike) -> Explanation:
    """Answer from one observation: can it be done, along which path, stitched from which episodes, on what evidence."""
    state = np.asarray(observation, dtype=np.float32)
    if state.shape != (agent.data.observation_size,):
        raise VMGError(f"An observation of this agent is {agent.data.observation_size} numbers, not {state.shape}.")
    vertices, distances = agent.built.nearest(embed(agent.weights, state[None]))
    vertex, distance = int(vertices[0]), float(distances[0])
    possible = bool(prospect.reaching[vertex])
    path = prospect.solution.path(vertex) if possible else [vertex]
    return Explanation(
        possible=possible,
        vertex=vertex,
        evidence=distance,
        off_graph=distance > agent.built.radius,
        path=tuple(path),
        steps=expected_steps(agent.built, path),
        pieces=tuple(stitched(agent.built, path)),
    )


def _reaching(agent: Agent, rewards: EdgeRewards, found: Goal | None) -> Bools:
    """Which vertices can reach a goal vertex or, without one, an edge that pays (or loop at the end of one)."""
    from vmg.graph import kernels

    graph = agent.built
    wanted = found.vertices if found else np.zeros(graph.n_vertices, bool)
    if found is None:
        pays, ends = rewards.edges > 0, np.diff(graph.first_edge) == 0
        wanted[graph.tails[pays]] = True
        wanted[graph.heads[pays]] |= ends[graph.heads[pays]]
    by_rank = np.argsort(~wanted, kind="stable")
    groups = np.maximum(np.arange(graph.n_vertices) - int(wanted.sum()) + 1, 0)
    first_in, edges_in = graph.incoming
    targets = kernels.best_reachable(first_in, graph.tails[edges_in], rewards.absorbing, by_rank, groups)
    reaching: Bools = wanted[targets]
    return reaching
