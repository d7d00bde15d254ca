"""One decision: encode, nearest vertex, look-up, translate (Alg. 2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike

from vmg.act.keeping import KeptPath, KeptRecording, gaps
from vmg.act.networks import ActingNetworks
from vmg.agent import Agent
from vmg.config import ActConfig
from vmg.data.keys import leaves
from vmg.errors import VMGError
from vmg.graph import Solution, Ways, reaching
from vmg.types import Bools, Float32s, Int32s
from vmg.wishes import Place


@dataclass(frozen=True, eq=False)
class Decision:
    """What was decided for one observation, and why."""

    action: Float32s
    vertex: int
    distance: float
    off_graph: bool
    """Farther from its vertex than the graph's radius: nothing recorded looks like this."""
    target: int
    subgoal: int
    path: list[int]


@dataclass(frozen=True, eq=False)
class Decisions:
    """What was decided for a batch; `decisions[i]` is one of them with its path."""

    actions: Float32s
    vertices: Int32s
    distances: Float32s
    off_graph: Bools
    targets: Int32s
    subgoals: Int32s
    entries: Int32s = field(repr=False)
    """Where each path begins: a vertex, or an observation where paths follow recordings."""
    solutions: Sequence[Solution] = field(repr=False)
    """The solution followed in each row."""

    def __len__(self) -> int:
        return len(self.actions)

    def __getitem__(self, row: int) -> Decision:
        row = range(len(self))[row]
        vertex = int(self.vertices[row])
        return Decision(
            action=self.actions[row],
            vertex=vertex,
            distance=float(self.distances[row]),
            off_graph=bool(self.off_graph[row]),
            target=int(self.targets[row]),
            subgoal=int(self.subgoals[row]),
            path=self.solutions[row].path_from(int(self.entries[row])),
        )


@dataclass(frozen=True, eq=False)
class Aim:
    """What a solution leads to, for what the table of hops cannot know."""

    vertices: Bools
    """The vertices where it is."""
    reaching: Bools
    """Those from which it can be reached; elsewhere the nearest of them is taken for where the policy is."""
    place: Place | None = None
    """A place that is wanted itself: where a path ends there, it stands in for the recorded state beside it."""


Groups: TypeAlias = list[tuple[Solution, Sequence[int]]]


class _Heading(NamedTuple):
    """Where each row is on its path, and what it heads for."""

    vertices: Int32s
    entries: Int32s
    targets: Int32s
    subgoals: Int32s
    goals: Float32s


class Policy:
    """Follows a solved agent's graph. `begin` starts an episode; a decision in between depends on nothing before it,
    unless paths are kept or there is noise.
    """

    def __init__(self, agent: Agent, config: ActConfig | None = None) -> None:
        self.agent = agent
        self.config = config or agent.config.act
        self._graph = agent.built
        self._networks = ActingNetworks(agent.weights)
        self._low = np.array(agent.data.action_low, np.float32)
        self._high = np.array(agent.data.action_high, np.float32)
        self._current = agent.solution
        self._kept: dict[int, KeptPath] = {}
        self._kept_recordings: dict[int, KeptRecording] = {}
        self._rng = _generator_for(None)
        self._aim: Aim | None = None
        self._ways: list[Ways] = []  # held, or the solutions would make them again for every decision
        self._ahead: Int32s | None = None

    def begin(self, observation: Any = None) -> None:
        """Start an episode: forget kept paths and, where the environment names the goal, solve for this one."""
        self._kept.clear()
        self._kept_recordings.clear()
        self._rng = _generator_for(observation)
        goal = self.agent.config.goal
        if goal and isinstance(observation, Mapping) and goal.key in observation:
            place = np.asarray(observation[goal.key], dtype=np.float32)
            solution, found = self.agent.goal(place)
            named = Place(goal.columns, place.astype(np.float64))
            self.follow(solution, Aim(found.vertices, reaching(self._graph, found.vertices), named))

    def follow(self, solution: Solution, aim: Aim | None = None) -> None:
        """Follow this solution from now on; `aim` says what it leads to, where that is something to reach."""
        self._current, self._aim, self._ahead = solution, aim, None

    def act(self, observations: ArrayLike, solutions: Solution | Sequence[Solution] | None = None) -> Float32s:
        """Return the action for one observation, or one a row for a batch; see `decide`."""
        batch, single = self._batch(observations)
        features = self._networks.encode(batch)
        heading = self._headings(features, self._graph.nearest_vertices(features), self._groups(solutions, len(batch)))
        actions = self._actions(batch, heading.goals)
        return actions[0] if single else actions

    def decide(self, observations: ArrayLike, solutions: Solution | Sequence[Solution] | None = None) -> Decisions:
        """Decide for one observation or a batch, following the current solution, another one, or one a row."""
        batch, _ = self._batch(observations)
        features, groups = self._networks.encode(batch), self._groups(solutions, len(batch))
        vertices, distances = self._graph.nearest(features)
        heading = self._headings(features, vertices, groups)
        followed = {row: solution for solution, rows in groups for row in rows}
        return Decisions(
            actions=self._actions(batch, heading.goals),
            vertices=heading.vertices,
            distances=self._graph.distances(features, heading.vertices),
            off_graph=distances > self._graph.radius,
            targets=heading.targets,
            subgoals=heading.subgoals,
            entries=heading.entries,
            solutions=[followed[row] for row in range(len(batch))],
        )

    def _actions(self, batch: Float32s, goals: Float32s) -> Float32s:
        actions = self._networks.translate(batch, goals)
        if self.config.noise:
            actions += self._rng.normal(0.0, self.config.noise, actions.shape).astype(np.float32)
        return np.minimum(np.maximum(actions, self._low), self._high)

    def _headings(self, features: Float32s, vertices: Int32s, groups: Groups) -> _Heading:
        """The heading of every row; rows that follow the same solution are looked up together."""
        self._ways = [solution.ways for solution, _ in groups if solution.along]
        if len(groups) == 1:
            (solution, rows), *_ = groups
            return self._heading(rows, features, vertices, solution)
        headings = [self._heading(rows, features[rows], vertices[rows], solution) for solution, rows in groups]
        order = np.argsort(np.concatenate([rows for _, rows in groups]))
        return _Heading(*(np.concatenate(parts)[order] for parts in zip(*headings, strict=True)))

    def _heading(self, rows: Sequence[int], features: Float32s, vertices: Int32s, solution: Solution) -> _Heading:
        """Where each of these rows is on its path, and what it heads for."""
        graph, steps = self._graph, self.config.subgoal_steps
        aim = self._aim if solution is self._current else None
        if aim:
            vertices = self._rejoined(features, vertices, aim)
        if solution.along:
            entries = self._entries(rows, features, vertices, solution)
            observations = solution.ahead(entries, steps) - graph.n_vertices
            targets = solution.targets.take(graph.labels.take(entries - graph.n_vertices))
            subgoals, goals = graph.labels.take(observations), graph.recorded.observations.take(observations, 0)
        else:
            entries, targets = vertices, solution.targets.take(vertices)
            keep = self.config.keep_path
            subgoals = self._keep(rows, features, vertices, solution) if keep else self._subgoals(vertices, solution)
            goals = graph.states.take(subgoals, 0)
        if aim and aim.place and (solution.along or not self.config.keep_path):
            _aim_at(aim.place, goals, (subgoals == targets) & aim.vertices.take(targets))
        return _Heading(vertices, entries, targets, subgoals, goals)

    def _subgoals(self, vertices: Int32s, solution: Solution) -> Int32s:
        """The subgoal from each vertex; of the current solution all are looked up once, since it is asked often."""
        steps = self.config.subgoal_steps
        if solution is not self._current:
            return solution.subgoals(vertices, steps)
        if self._ahead is None:
            self._ahead = solution.subgoals(np.arange(self._graph.n_vertices, dtype=np.int32), steps)
        return self._ahead.take(vertices)

    def _entries(self, rows: Sequence[int], features: Float32s, vertices: Int32s, solution: Solution) -> Int32s:
        """Where on ways along recordings each row is: on along the one it keeps to, or where it enters anew."""
        entries = np.empty_like(vertices)
        for i, (row, feature, vertex) in enumerate(zip(rows, features, vertices, strict=True)):
            if not self.config.keep_path:
                entries[i] = self._entry(feature, vertex, solution)
                continue
            kept = self._kept_recordings.setdefault(row, KeptRecording())
            if not kept.move(feature, solution, self._graph):
                kept.begin(self._entry(feature, vertex, solution), solution)
            entries[i] = kept.entry
        return entries

    def _entry(self, feature: Float32s, vertex: np.int32, solution: Solution) -> int:
        """The observation in the vertex from which the way costs least, the gap to it included."""
        to_go = solution.to_go
        assert to_go is not None
        graph, (first, members) = self._graph, self._graph.members
        price = self.agent.config.solve.switch_cost / graph.step_length
        own = members[first[vertex] : first[vertex + 1]]
        costs = price * gaps(graph.recorded.features.take(own, 0), feature) + to_go.take(own)
        return graph.n_vertices + int(own[costs.argmin()])

    def _rejoined(self, features: Float32s, vertices: Int32s, aim: Aim) -> Int32s:
        """Where nothing leads on to what is wanted, take the nearest vertex from which something does."""
        leading = aim.reaching.take(vertices)
        if leading.all():
            return vertices
        vertices, ways = vertices.copy(), np.flatnonzero(aim.reaching)
        for row in np.flatnonzero(~leading):
            vertices[row] = ways[gaps(self._graph.features[ways], features[row]).argmin()]
        return vertices

    def _keep(self, rows: Sequence[int], features: Float32s, vertices: Int32s, solution: Solution) -> Int32s:
        subgoals = np.empty_like(vertices)
        for i, (row, feature, vertex) in enumerate(zip(rows, features, vertices, strict=True)):
            kept = self._kept.setdefault(row, KeptPath(self._graph.features))
            subgoals[i] = kept.subgoal(feature, int(vertex), solution, self.config.subgoal_steps)
        return subgoals

    def _batch(self, observations: ArrayLike) -> tuple[Float32s, bool]:
        batch = np.asarray(observations, dtype=np.float32)
        single = batch.ndim == 1
        if single:
            batch = batch[None]
        size = self.agent.data.observation_size
        if batch.ndim != 2 or batch.shape[1] != size:
            raise VMGError(
                f"An observation of this agent is {size} numbers (as in {self.agent.data.source}), but the shape given "
                f"is {np.shape(observations)}. Give it the same parts of the observation, in the same order."
            )
        if not np.isfinite(batch).all():
            row, column = np.argwhere(~np.isfinite(batch))[0]
            raise VMGError(f"The observation in row {row} has {batch[row, column]} in column {column}.")
        return batch, single

    def _groups(self, given: Solution | Sequence[Solution] | None, n_rows: int) -> Groups:
        """Solutions, each with the rows that follow it."""
        if given is None:
            given = self._current or self.agent.solved
        if isinstance(given, Solution):
            return [(given, range(n_rows))]
        if len(given) != n_rows:
            raise VMGError(f"There are {n_rows} observations but {len(given)} solutions: give one, or one a row.")
        rows: dict[int, list[int]] = {}
        for row, solution in enumerate(given):
            rows.setdefault(id(solution), []).append(row)
        return [(given[each[0]], each) for each in rows.values()]


def _generator_for(observation: Any) -> np.random.Generator:
    """Noise that an episode's first observation decides, so that an episode run again is the same."""
    seen = b"" if observation is None else b"".join(np.asarray(leaf).tobytes() for leaf in leaves(observation).values())
    return np.random.default_rng(crc32(seen))


def _aim_at(place: Place, goals: Float32s, arriving: Bools) -> None:
    """Where a path ends at what is wanted, put the place wanted in place of the recorded one beside it."""
    rows = arriving.nonzero()[0]
    if len(rows):
        goals[rows[:, None], place.columns] = place.numbers
