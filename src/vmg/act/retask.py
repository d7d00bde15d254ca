"""A new task in milliseconds: solve a built graph for a wish, and say before acting whether and how it can be done."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vmg.act.policy import Aim, Policy
from vmg.agent import Agent
from vmg.config import ActConfig
from vmg.data.episodes import Episodes
from vmg.errors import VMGError
from vmg.graph import (
    EdgeRewards,
    GoalKind,
    MemoryGraph,
    Piece,
    Solution,
    expected_steps,
    find_goal,
    followed,
    reachable_from,
    reaching,
    reward,
    stitched,
)
from vmg.networks import embed
from vmg.types import Bools, Float32s
from vmg.wishes import Wish

PIECES_NAMED = 4


@dataclass(frozen=True, eq=False)
class Nearest:
    """The recorded state that comes nearest to what is wanted."""

    distance: float
    episode: int
    step: int
    """Which observation of its episode it is."""
    observation: Float32s


@dataclass(frozen=True)
class Explanation:
    """What can be said about a task before acting, from one observation."""

    possible: bool
    """Whether any recorded way leads from here to what is wanted."""
    vertex: int
    evidence: float
    """How far the nearest vertex, a recorded state, is in the metric space."""
    off_graph: bool
    """Farther than the radius: nothing recorded looks like this."""
    path: tuple[int, ...]
    """The vertices on the way there, or to what stands for it, from here or from where a way begins."""
    steps: float
    """Environment steps such a way took in the recordings."""
    pieces: tuple[Piece, ...]
    """The recorded episodes the path is stitched from."""
    detour: float | None = None
    """Where no recorded way leads on from here: how far the nearest vertex is from which one does."""
    nearest: Nearest | None = None
    """Where it is not possible: what comes nearest of all that can be reached from here, if that can be said."""

    def in_words(self) -> str:
        """Answer in sentences."""
        near = "off the graph: nothing recorded looks like this" if self.off_graph else "on the graph"
        here = f"The observation is at vertex {self.vertex}, {self.evidence:.2g} away from it ({near})."
        way = f"{len(self.path) - 1} edges, about {self.steps:.0f} steps, {self._pieces_in_words()}"
        if self.possible:
            return f"{here} It can be done: {way}." if self.pieces else f"{here} It is there already."
        text = f"{here} No recorded way leads from here to what is wanted."
        if self.nearest:
            there = f"where episode {self.nearest.episode} was at step {self.nearest.step}"
            text += f" The nearest that can be reached is {self.nearest.distance:.3g} away from it: {there}."
        begins = "" if self.detour is None else f", from a state {self.detour:.2g} away in the metric space"
        return f"{text} What the policy tries{begins}: {way}." if self.pieces else text

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        content = asdict(self)
        if self.nearest:
            content["nearest"]["observation"] = self.nearest.observation.tolist()
        return content

    def _pieces_in_words(self) -> str:
        parts = [f"episode {p.episode} (steps {p.first} to {p.last})" for p in self.pieces[:PIECES_NAMED]]
        more = f" and {len(self.pieces) - PIECES_NAMED} more" if len(self.pieces) > PIECES_NAMED else ""
        many = "s" * (len(self.pieces) > 1)
        return f"stitched from {len(self.pieces)} recorded piece{many}: {', '.join(parts)}{more}"

    __str__ = in_words


@dataclass(frozen=True, eq=False)
class Prospect:
    """A wish solved for: the solution to follow, and what the data know about it."""

    wish: Wish
    kind: GoalKind
    solution: Solution
    wanted: Bools
    """The vertices where it is: those with a state that fulfils it or, if it is only paid, those a paid edge leaves."""
    paid_steps: int
    """Recorded steps that it rewards."""
    distance: float | None
    """How far the nearest recorded state is from it; None where the wish is only paid."""
    entered: bool
    """Whether any recorded step leads to it from elsewhere."""
    tolerance: float
    """How near is there: the wish's own, or as wide as it takes for anything recorded to lead there."""
    agent: Agent = field(repr=False)
    episodes: Episodes = field(repr=False)

    @property
    def known(self) -> bool:
        """Whether any recorded state fulfils it; if not, the nearest one stands for it."""
        return self.distance is None or self.distance <= self.wish.tolerance

    @cached_property
    def reaching(self) -> Bools:
        """The vertices from which it can be reached."""
        return reaching(self.agent.built, self.wanted)

    @property
    def aim(self) -> Aim | None:
        """What a policy heads for; None where the wish is only paid."""
        return Aim(self.wanted, self.reaching, self.wish.place) if self.wish.distance else None

    def policy(self, config: ActConfig | None = None) -> Policy:
        """Return a policy that does this, whatever goal an environment names."""
        bare = replace(self.agent, config=replace(self.agent.config, goal=None), solution=self.solution)
        policy = Policy(bare, config)
        policy.follow(self.solution, self.aim)
        return policy

    def explain(self, observation: ArrayLike) -> Explanation:
        """Answer from one observation: can it be done, on which path, from which episodes, how near is evidence."""
        graph, state = self.agent.built, np.asarray(observation, dtype=np.float32)
        if state.ndim != 1:
            raise VMGError(f"One observation is explained at a time, not an array of shape {state.shape}.")
        policy = self.policy()
        decisions = policy.decide(state)
        vertices, distances = graph.nearest(embed(self.agent.weights, state[None]))
        here, leads_on = int(vertices[0]), bool(self.reaching[vertices[0]])
        way = self.solution.way_from(int(decisions.entries[0]))
        path = self.solution.path_from(way[0])
        if self.solution.along is None:
            pieces, steps = stitched(graph, path), expected_steps(graph, path)
        else:
            pieces = followed(graph, [entry - graph.n_vertices for entry in way])
            steps = float(sum(piece.last - piece.first + 1 for piece in pieces))
        nearest = self.nearest(reachable_from(graph, here))
        possible = nearest.distance <= self.wish.tolerance if nearest else self.wish.distance is None and leads_on
        return Explanation(
            possible=possible,
            vertex=here,
            evidence=float(distances[0]),
            off_graph=bool(decisions.off_graph[0]),
            path=tuple(path),
            steps=steps,
            pieces=tuple(pieces),
            detour=None if leads_on else float(decisions.distances[0]),
            nearest=None if possible else nearest,
        )

    def nearest(self, vertices: Bools) -> Nearest | None:
        """Return the recorded state in these vertices that comes nearest; None where nothing says what is near."""
        if self.wish.distance is None:
            return None
        distances = np.where(vertices[self.agent.built.labels], self.wish.distances(self.episodes.observations), np.inf)
        row = int(np.argmin(distances))
        if not np.isfinite(distances[row]):
            return None
        episode = int(np.searchsorted(self.episodes.first_observation, row, side="right")) - 1
        step = row - int(self.episodes.first_observation[episode])
        return Nearest(float(distances[row]), episode, step, self.episodes.observations[row])

    def in_words(self) -> str:
        """Say what the task is and how much of the graph can do it."""
        n, done = len(self.wanted), "can reach it" if self.wish.distance else "can reach a step that it pays"
        done = done if self.known and self.entered else "can reach what stands for it"
        text = (
            f"Task: {self.wish.words}. {self.paid_steps:,} of {self.episodes.n_steps:,} recorded steps are rewarded; "
            f"{self.reaching.sum():,} of {n:,} vertices ({100 * self.reaching.mean():.0f} %) {done}."
        )
        if not self.known and (nearest := self.nearest(np.ones(n, bool))):
            text += (
                f" No recorded state fulfils it: the nearest, {nearest.distance:.3g} away from it, stands for it "
                f"(episode {nearest.episode}, step {nearest.step}{_numbers_there(self.wish, nearest)})."
            )
        if not self.entered:
            text += " Nothing recorded leads there from elsewhere"
            text += (
                "."
                if self.tolerance == self.wish.tolerance
                else (f": the nearest that can be reached, {self.tolerance:.3g} away, stands for it too.")
            )
        return text

    __str__ = in_words


def want(agent: Agent, episodes: Episodes, wish: Wish, *, kind: GoalKind = "reach") -> Prospect:
    """Solve the agent's graph for a wish; `episodes` are those the graph was built from. No network is trained.

    A wish that can be reached absorbs ("reach") or goes on paying ("stay"); one that is only paid is always the latter.
    The solution takes 16 bytes a vertex; along recordings 12 and a bit an observation (see `vmg.graph.solution.Along`).
    """
    graph, variant = agent.built, agent.config.solve.variant
    if len(episodes.observations) != len(graph.labels):
        raise VMGError(
            f"The graph was built from {len(graph.labels)} observations, but {episodes.source} has "
            f"{len(episodes.observations)}: give the episodes it was built from."
        )
    if wish.distance is None:
        pays = wish.pays(episodes)
        rewards = reward(graph, pays, variant=variant)
        solution, paid = agent.solve_edges(rewards), int(np.count_nonzero(pays))
        return Prospect(wish, kind, solution, _paying(graph, rewards), paid, None, True, 0.0, agent, episodes)
    distances = wish.distances(episodes.observations)
    if not np.isfinite(distances).any():
        raise VMGError(f"No recorded state fulfils '{wish.words}', and nothing says which would come nearest.")
    found = find_goal(graph, distances, wish.tolerance, kind=kind, variant=variant)
    solution, paid = agent.solve_edges(found.rewards), int((distances <= wish.tolerance)[graph.arrivals].sum())
    facts = (found.distance, found.entered, found.tolerance)
    return Prospect(wish, kind, solution, found.vertices, paid, *facts, agent, episodes)


def want_many(
    agent: Agent, episodes: Episodes, wishes: Sequence[Wish], *, kind: GoalKind = "reach", workers: int | None = None
) -> list[Prospect]:
    """Solve for many wishes at once, on all cores: the kernels run side by side on one graph."""
    if wishes:
        want(agent, episodes, wishes[0], kind=kind)  # what the graph keeps for all of them is made once
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda wish: want(agent, episodes, wish, kind=kind), wishes))


def _paying(graph: MemoryGraph, rewards: EdgeRewards) -> Bools:
    """The vertices that a paying edge leaves, and the ends such an edge leads to; all, where everything only costs."""
    pays, ends = rewards.edges > 0, np.diff(graph.first_edge) == 0
    if not pays.any():
        return np.ones(graph.n_vertices, bool)
    wanted = np.zeros(graph.n_vertices, bool)
    wanted[graph.tails[pays]] = True
    wanted[graph.heads[pays]] |= ends[graph.heads[pays]]
    return wanted


def _numbers_there(wish: Wish, nearest: Nearest) -> str:
    if wish.place is None:
        return ""
    numbers = ", ".join(f"{x:.3g}" for x in nearest.observation[list(wish.place.columns)])
    return f", at {numbers}"
