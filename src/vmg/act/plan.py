"""A plan: an objective solved on a graph. It knows its values, its way from any state and its explanation, and gives a
policy.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vmg.act.arriving import best_paid, fulfilling
from vmg.act.body import Body, Recorded
from vmg.act.explanation import Explanation, Nearest
from vmg.act.placing import placing
from vmg.act.policy import Policy
from vmg.act.rules import PROHIBITIVE, RecordedPart, besides, inside, keeping_off, steps_inside
from vmg.act.settings import ActConfig
from vmg.base.arguments import checked, numbers_of
from vmg.base.errors import VMGError
from vmg.base.types import Bools, Float32s, Float64s
from vmg.goals.objectives import Objective
from vmg.graph.evidence import reachable_from, reaching
from vmg.graph.memory import MemoryGraph
from vmg.graph.rewards import EdgeRewards, find_goal, reward
from vmg.graph.routes import Routes
from vmg.graph.solving import solve_edges
from vmg.networks.encoder import embed


@dataclass(frozen=True, eq=False)
class Plan:
    """What is wanted, the routes to it, and what the data know about it."""

    objective: Objective
    routes: Routes
    body: Body = field(repr=False)
    recorded: Recorded | None = field(repr=False)
    """The recorded episodes, as far as they are at hand; not sent to other processes."""
    reached_vertices: Bools | None = field(default=None, repr=False)
    """Where it can be reached: the vertices with a recorded state that reaches it, or what stands for them."""
    distance: float | None = None
    """How far the nearest recorded state is from it; None where it is only paid."""
    entered: bool = True
    """Whether any edge leads to it from elsewhere."""
    tolerance: float = 0.0
    """How near counts as reached: its own tolerance, or as wide as it takes for anything recorded to lead there."""

    @property
    def graph(self) -> MemoryGraph:
        return self.body.graph

    @property
    def values(self) -> Float64s:
        """What every vertex is worth."""
        return self.routes.values

    @property
    def stages(self) -> tuple["Plan", ...]:
        """The plans that are followed one after the other: this one alone."""
        return (self,)

    @property
    def has_goal(self) -> bool:
        """Whether there is something to reach, and not only rewards."""
        return self.objective.distance is not None

    @property
    def known(self) -> bool:
        """Whether any recorded state reaches it; if not, the nearest one stands for it."""
        return self.distance is None or self.distance <= self.objective.tolerance

    @cached_property
    def goal_vertices(self) -> Bools:
        """The vertices where it is reached or, if it is only paid, those that a paid edge leaves."""
        if self.reached_vertices is not None:
            return self.reached_vertices
        solving = self.body.solving
        rewards = self._data.planned_rewards(self.objective, solving.discount)
        return _paying(self.graph, reward(self.graph, rewards, variant=solving.variant))

    @cached_property
    def can_reach(self) -> Bools:
        """The vertices from which it can be reached."""
        return reaching(self.graph, self.goal_vertices)

    @property
    def rewarded_steps(self) -> int:
        """Recorded steps that it pays."""
        return self._paid_and_charged[0]

    @property
    def charged_steps(self) -> int:
        """Recorded steps that it charges for."""
        return self._paid_and_charged[1]

    @cached_property
    def _paid_and_charged(self) -> tuple[int, int]:
        rewards = self._data.step_rewards(self.objective)
        return int((rewards > 0).sum()), int((rewards < 0).sum())

    @checked
    def policy(self, settings: ActConfig | None = None) -> Policy:
        """Return a policy that follows this plan, whatever goal an environment names."""
        return Policy(self.body, self, settings)

    def explain(self, observation: ArrayLike) -> Explanation:
        """Answer from one observation: can it be done, on which path, from which episodes, how near is evidence."""
        state = numbers_of(observation, "An observation", np.float32)
        if state.ndim != 1:
            raise VMGError(f"One observation is explained at a time, not an array of shape {state.shape}.")
        decisions = self.policy().decide(state)
        vertices, distances = self.graph.nearest(embed(self.body.weights, state[None]))
        here, leads_on = int(vertices[0]), bool(self.can_reach[vertices[0]])
        entry = int(decisions.entries[0])
        nearest = self.nearest(reachable_from(self.graph, here))
        possible = nearest.distance <= self.objective.tolerance if nearest else not self.has_goal and leads_on
        pieces, path = tuple(self.routes.pieces(entry)), tuple(self.routes.path_from(entry))
        if (found := placing(self)) and (placed := found.puts(state)):
            known = self.distance is not None and self.distance <= self.objective.tolerance
            off, apart = bool(decisions.off_graph[0]), float(distances[0])
            return Explanation(known, here, apart, off, (here,), found.steps, (), reached=False, placed=placed)
        return Explanation(
            possible=possible,
            vertex=here,
            distance=float(distances[0]),
            off_graph=bool(decisions.off_graph[0]),
            path=path,
            steps=self.routes.cost(entry),
            pieces=pieces,
            reached=bool(self.objective.reached(state[None])[0]) if self.has_goal else None,
            detour=None if leads_on else float(decisions.distances[0]),
            nearest=None if possible else nearest,
            inside=self._inside(state, possible),
            begins_inside=any(bool(region.reached(state[None])[0]) for region in self.objective.avoided),
            goal_inside=self.goal_inside,
            ends_there=not self.has_goal or bool(self._fulfilled[self.graph.labels == path[-1]].any()),
        )

    @cached_property
    def _fulfilled(self) -> Bools:
        """The recorded states that fulfil it."""
        fulfilled: Bools = self._data.distances(self.objective) <= self.objective.tolerance
        return fulfilled

    @property
    def goal_inside(self) -> bool:
        """Whether recorded states fulfil it, and all that do lie in what is to be avoided."""
        if not self.has_goal or not isinstance(self.recorded, RecordedPart) or self.recorded.whole is None:
            return False
        whole = self.recorded.whole[1].distances(self.objective)
        return not self._fulfilled.any() and bool((whole <= self.objective.tolerance).any())

    @property
    def _everywhere(self) -> bool:
        """Whether every recorded state fulfils it, of those that are not to be avoided."""
        avoided = self.recorded.left_out if isinstance(self.recorded, RecordedPart) else False
        return self.has_goal and bool((self._fulfilled | avoided).all())

    def _inside(self, state: Float32s, possible: bool) -> int | None:
        """Recorded steps, on the way that passes the fewest, in what is to be avoided; None where that says nothing."""
        if not isinstance(self.recorded, RecordedPart) or self.recorded.whole is None or not self.objective.avoided:
            return None
        if possible:
            return 0
        regions, (body, recorded) = self.objective.avoided, self.recorded.whole
        costly = tuple((PROHIBITIVE, region) for region in regions)
        freely = replace(self.objective, avoided=(), penalties=self.objective.penalties + costly)
        answer = make_plan(body.not_looking, freely, recorded).explain(state)  # who looks may enter behind a region
        return steps_inside(body.graph, answer.pieces, inside(recorded, regions)) if answer.possible else None

    def nearest(self, vertices: Bools) -> Nearest | None:
        """Return the recorded state in these vertices that comes nearest; None where nothing says what is near."""
        vertices = numbers_of(vertices, "Vertices", None)
        if vertices.shape != (self.graph.n_vertices,) or vertices.dtype != bool:
            raise VMGError(f"Vertices are named by true or false for each of {self.graph.n_vertices}.")
        if not self.has_goal:
            return None
        distances = np.where(vertices[self.graph.labels], self._data.distances(self.objective), np.inf)
        row = int(np.argmin(distances))
        if not np.isfinite(distances[row]):
            return None
        firsts = np.cumsum(self.graph.lengths + 1) - (self.graph.lengths + 1)
        episode = int(np.searchsorted(firsts, row, side="right")) - 1
        observations = self._data.observations
        state = None if observations is None else observations[row]
        return Nearest(float(distances[row]), episode, row - int(firsts[episode]), state)

    def in_words(self) -> str:
        """Say what the plan is for and how much of the graph can do it."""
        if not self.has_goal and not self.rewarded_steps:
            return f"Task: {self.objective.name}. {self._unpaid_in_words()}"
        n, done = len(self.goal_vertices), "can reach it" if self.has_goal else "can reach a step that it pays"
        done = done if self.known and (self.entered or self._everywhere) else "can reach what stands for it"
        cost = f", {self.charged_steps:,} cost something" if self.charged_steps else ""
        text = (
            f"Task: {self.objective.name}. {self.rewarded_steps:,} of {len(self.graph.slots):,} recorded steps are "
            f"rewarded{cost}; {self.can_reach.sum():,} of {n:,} vertices ({100 * self.can_reach.mean():.0f} %) {done}."
        )
        if not self.known and (nearest := self.nearest(np.ones(n, bool))):
            outside = " outside of what is to be avoided" if self.goal_inside else ""
            text += (
                f" No recorded state{outside} fulfils it: the nearest, {nearest.distance:.3g} away from it, stands for "
                f"it (episode {nearest.episode}, step {nearest.step}{self._numbers_at(nearest)})."
            )
        if self._everywhere:
            text += " Every recorded state fulfils it: there is nothing to do."
        elif not self.entered:
            text += " Nothing recorded leads there from elsewhere"
            text += (
                "."
                if self.tolerance == self.objective.tolerance
                else (f": the nearest that can be reached, {self.tolerance:.3g} away, stands for it too.")
            )
        return text

    __str__ = in_words

    def _unpaid_in_words(self) -> str:
        """Say of rewards that are nowhere above 0 what can be planned with them."""
        cost, n = self.charged_steps, len(self.graph.slots)
        if not cost:
            return f"It pays nothing in any of the {n:,} recorded steps, so no way is better than another."
        return (
            f"It pays nothing, and {cost:,} of {n:,} recorded steps cost something: where that is least is headed for."
        )

    def unreached_in_words(self) -> str:
        """Say of a goal that nothing leads to what stands for it."""
        stand_in = f"the nearest recorded state, which is {self.distance:.3g} away from it and stands for it"
        wider = self.tolerance > self.objective.tolerance
        widened = f" What lies within {self.tolerance:.3g} is the goal instead." if wider else ""
        return (
            f"Nothing reaches this goal: no recorded step leads from elsewhere to {'it' if self.known else stand_in}."
            f"{widened} Choose a goal that the episodes arrived at."
        )

    @property
    def _data(self) -> Recorded:
        if self.recorded is None:
            raise VMGError("This plan was sent to another process, without the recorded episodes that this needs.")
        return self.recorded

    def _numbers_at(self, nearest: Nearest) -> str:
        if self.objective.place is None or nearest.observation is None:
            return ""
        numbers = ", ".join(f"{x:.3g}" for x in nearest.observation[list(self.objective.place.columns)])
        return f", at {numbers}"

    def __getstate__(self) -> dict[str, Any]:
        """Leave the recorded episodes behind, which acting does not need, and bring what would take a compiler."""
        if self.has_goal:
            _ = self.can_reach
        return {**{name: value for name, value in self.__dict__.items() if name != "_fulfilled"}, "recorded": None}


def make_plan(body: Body, objective: Objective, recorded: Recorded) -> Plan:
    """Solve a graph for an objective. No network is trained.

    What can be reached absorbs ("reach") or goes on paying ("stay"); what is only paid is always the latter. What is to
    be avoided is left out of the graph; penalties change the way to a goal, and neither the goal nor its value.
    """
    if objective.avoided:
        body, recorded = keeping_off(body, recorded, objective.avoided)
    graph, solving = body.graph, body.solving
    if objective.distance is None:
        steps = recorded.planned_rewards(objective, solving.discount)
        rewards = reward(graph, steps, variant=solving.variant)
        routes = solve_edges(graph, rewards, solving, *best_paid(body, recorded, steps))
        return Plan(objective, routes, body, recorded, _paying(graph, rewards))
    distances = recorded.distances(objective)
    if not np.isfinite(distances).any():
        raise VMGError(f"No recorded state fulfils {objective.name!r}, and nothing says which would come nearest.")
    found = find_goal(graph, distances, objective.tolerance, kind=objective.kind, variant=solving.variant)
    rewards = replace(found.rewards, penalties=besides(body, recorded, objective))
    routes = solve_edges(graph, rewards, solving, fulfilling(body, recorded, objective, found, distances))
    facts = (found.vertices, found.distance, found.entered, found.tolerance)
    return Plan(objective, routes, body, recorded, *facts)


def _paying(graph: MemoryGraph, rewards: EdgeRewards) -> Bools:
    """The vertices that a paying edge leaves, and the ends such an edge leads to; all, where everything only costs."""
    pays, ends = rewards.edges > 0, np.diff(graph.first_edge) == 0
    if not pays.any():
        return np.ones(graph.n_vertices, bool)
    wanted = np.zeros(graph.n_vertices, bool)
    wanted[graph.tails[pays]] = True
    wanted[graph.heads[pays]] |= ends[graph.heads[pays]]
    return wanted
