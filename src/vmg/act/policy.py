"""One decision: encode, nearest vertex, look-up, translate (Alg. 2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike

from vmg.act.keeping import KeptPath, KeptRecording
from vmg.agent import Agent
from vmg.config import ActConfig
from vmg.data.keys import leaves
from vmg.errors import VMGError
from vmg.graph import Solution, Ways, reaching
from vmg.networks import encode, translate
from vmg.types import Bools, Float32s, Int32s, Int64s
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


class Policy:
    """Follows a solved agent's graph. `begin` starts an episode; a decision in between depends on nothing before it,
    unless paths are kept or there is noise.
    """

    def __init__(self, agent: Agent, config: ActConfig | None = None) -> None:
        self.agent = agent
        self.config = config or agent.config.act
        self._graph = agent.built
        self._low = np.array(agent.data.action_low, np.float32)
        self._high = np.array(agent.data.action_high, np.float32)
        self._current = agent.solution
        self._kept: dict[int, KeptPath] = {}
        self._kept_recordings: dict[int, KeptRecording] = {}
        self._rng = _generator_for(None)
        self._aim: Aim | None = None
        self._ways: list[Ways] = []  # held, or the solutions would make them again for every decision

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
        self._current, self._aim = solution, aim

    def act(self, observations: ArrayLike, solutions: Solution | Sequence[Solution] | None = None) -> Float32s:
        """Return the action for one observation, or one a row for a batch; see `decide`."""
        batch, single = self._batch(observations)
        actions = self._decide(batch, solutions).actions
        return actions[0] if single else actions

    def decide(self, observations: ArrayLike, solutions: Solution | Sequence[Solution] | None = None) -> Decisions:
        """Decide for one observation or a batch, following the current solution, another one, or one a row."""
        return self._decide(self._batch(observations)[0], solutions)

    def _decide(self, batch: Float32s, solutions: Solution | Sequence[Solution] | None) -> Decisions:
        followed = self._solutions(solutions, len(batch))
        grouped = _grouped(followed)
        self._ways = [solution.ways for solution, _ in grouped]
        features = encode(self.agent.weights, batch)
        vertices, distances = self._graph.nearest(features)
        off_graph = distances > self._graph.radius
        targets, subgoals = np.empty_like(vertices), np.empty_like(vertices)
        entries, goals = vertices.copy(), np.empty_like(batch)
        for solution, rows in grouped:
            if solution is self._current and self._aim:
                vertices[rows], distances[rows] = self._rejoined(features[rows], vertices[rows], distances[rows])
            entries[rows] = self._entries(features[rows], vertices[rows], solution)
            if self.config.keep_path and solution.to_go is not None:
                entries[rows] = self._keep_recordings(np.arange(len(batch))[rows], features, entries, solution)
            targets[rows] = solution.targets[solution.vertex_of(entries[rows])]
            ahead = solution.ahead(entries[rows], self.config.subgoal_steps)
            subgoals[rows] = solution.vertex_of(ahead)
            goals[rows] = self._goals(ahead, solution)
            if solution is self._current:
                goals[rows] = self._aimed(goals[rows], subgoals[rows], targets[rows])
        if self.config.keep_path and followed and followed[0].to_go is None:
            subgoals = self._keep(features, vertices, followed)
            goals = self._graph.states[subgoals]
        actions = translate(self.agent.weights, batch, goals)
        if self.config.noise:
            actions = actions + self._rng.normal(0.0, self.config.noise, actions.shape).astype(np.float32)
        return Decisions(
            actions=np.clip(actions, self._low, self._high),
            vertices=vertices,
            distances=distances,
            off_graph=off_graph,
            targets=targets,
            subgoals=subgoals,
            entries=entries,
            solutions=followed,
        )

    def _entries(self, features: Float32s, vertices: Int32s, solution: Solution) -> Int32s:
        """Where on the paths each point is: at its vertex or, along recordings, at an observation in it.

        That is the one from which the way costs least, the gap to it included.
        """
        if (to_go := solution.to_go) is None:
            return vertices
        graph, (first, rows) = self._graph, self._graph.members
        price = self.agent.config.solve.switch_cost / graph.step_length
        entries = np.empty_like(vertices)
        for i, (feature, vertex) in enumerate(zip(features, vertices, strict=True)):
            own = rows[first[vertex] : first[vertex + 1]]
            gaps = np.linalg.norm(graph.recorded.features[own] - feature, axis=1)
            entries[i] = graph.n_vertices + own[np.argmin(price * gaps + to_go[own])]
        return entries

    def _goals(self, entries: Int32s, solution: Solution) -> Float32s:
        """The recorded observation an entry stands for."""
        if solution.to_go is None:
            return self._graph.states[solution.vertex_of(entries)]
        return self._graph.recorded.observations[entries - self._graph.n_vertices]

    def _rejoined(self, features: Float32s, vertices: Int32s, distances: Float32s) -> tuple[Int32s, Float32s]:
        """Where nothing leads on to what is wanted, take the nearest vertex from which something does."""
        assert self._aim is not None
        vertices, distances, ways = vertices.copy(), distances.copy(), np.flatnonzero(self._aim.reaching)
        for row in np.flatnonzero(~self._aim.reaching[vertices]):
            gaps = np.linalg.norm(self._graph.features[ways] - features[row], axis=1)
            vertices[row], distances[row] = ways[np.argmin(gaps)], gaps.min()
        return vertices, distances

    def _aimed(self, goals: Float32s, subgoals: Int32s, targets: Int32s) -> Float32s:
        """Where the path ends at what is wanted, put the place wanted in place of the recorded one beside it."""
        if self._aim is None or self._aim.place is None:
            return goals
        arriving = (subgoals == targets) & self._aim.vertices[targets]
        aimed = goals.copy()
        aimed[np.ix_(arriving, self._aim.place.columns)] = self._aim.place.numbers
        return aimed

    def _keep_recordings(self, rows: Int64s, features: Float32s, found: Int32s, solution: Solution) -> list[int]:
        """Where each episode is on the recording it follows, rather than where planning anew would begin."""
        kept = [self._kept_recordings.setdefault(int(row), KeptRecording()) for row in rows]
        return [
            each.move(features[row], int(found[row]), solution, self._graph)
            for row, each in zip(rows, kept, strict=True)
        ]

    def _keep(self, features: Float32s, vertices: Int32s, solutions: Sequence[Solution]) -> Int32s:
        subgoals = np.empty_like(vertices)
        for row, (feature, vertex, solution) in enumerate(zip(features, vertices, solutions, strict=True)):
            kept = self._kept.setdefault(row, KeptPath(self._graph.features))
            subgoals[row] = kept.subgoal(feature, int(vertex), solution, self.config.subgoal_steps)
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

    def _solutions(self, given: Solution | Sequence[Solution] | None, rows: int) -> Sequence[Solution]:
        if given is None:
            return [self._current or self.agent.solved] * rows
        if isinstance(given, Solution):
            return [given] * rows
        if len(given) != rows:
            raise VMGError(f"There are {rows} observations but {len(given)} solutions: give one, or one a row.")
        return given


def _generator_for(observation: Any) -> np.random.Generator:
    """Noise that an episode's first observation decides, so that an episode run again is the same."""
    seen = b"" if observation is None else b"".join(np.asarray(leaf).tobytes() for leaf in leaves(observation).values())
    return np.random.default_rng(crc32(seen))


def _grouped(solutions: Sequence[Solution]) -> list[tuple[Solution, slice | list[int]]]:
    """Rows by the solution they follow; all of them at once where there is one."""
    rows: dict[int, list[int]] = {}
    for row, solution in enumerate(solutions):
        rows.setdefault(id(solution), []).append(row)
    if len(rows) == 1:
        return [(solutions[0], slice(None))]
    return [(solutions[each[0]], each) for each in rows.values()]
