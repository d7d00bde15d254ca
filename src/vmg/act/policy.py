"""One decision: encode, nearest vertex, look-up, low-level policy (Alg. 2)."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, cast
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike

from vmg.act.arriving import Heading
from vmg.act.body import Body
from vmg.act.following import Follower
from vmg.act.likeness import Likeness, likeness
from vmg.act.progress import Progress, progress
from vmg.act.settings import ActConfig
from vmg.base.arguments import checked, numbers_of
from vmg.base.errors import VMGError
from vmg.base.settings import shown
from vmg.base.types import Bools, Float32s, Int32s
from vmg.data.keys import leaves
from vmg.goals.objectives import Objective
from vmg.networks.actions import recorded_actions
from vmg.networks.encoder import Encoder
from vmg.networks.lowlevel import Drawing, actor

if TYPE_CHECKING:
    from vmg.act.plan import Plan


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
    """Where on its route each row is."""
    plans: "Sequence[Plan]" = field(repr=False)
    """The plan followed in each row."""

    def __len__(self) -> int:
        return len(self.actions)

    def __getitem__(self, row: int) -> Decision:
        row = range(len(self))[row]
        return Decision(
            action=self.actions[row],
            vertex=int(self.vertices[row]),
            distance=float(self.distances[row]),
            off_graph=bool(self.off_graph[row]),
            target=int(self.targets[row]),
            subgoal=int(self.subgoals[row]),
            path=self.plans[row].routes.path_from(int(self.entries[row])),
        )


class Policy:
    """Follows a plan. `begin` starts an episode; in between, a decision depends on nothing before it, unless routes are
    kept to, there is noise, or a goal does not come nearer for long.

    Made by `Plan.policy`, or by `Agent.policy`, which plans anew for the goal that an episode begins with. Threads may
    share agents and plans, but not a policy: it knows where its episode is, so make one for each thread.
    """

    def __init__(
        self,
        body: Body,
        plan: "Plan | None" = None,
        settings: ActConfig | None = None,
        *,
        replan: "Callable[[Objective], Plan] | None" = None,
    ) -> None:
        self.plan = plan
        self.settings = settings or body.acting
        self._body, self._replan = body, replan
        self._encode, self._act = Encoder(body.weights), actor(body.low_level, body.weights)
        self._low = np.array(body.data.action_low, np.float32)
        self._high = np.array(body.data.action_high, np.float32)
        self._draw_from(_generator_for(None))
        self._followers: dict[int, Follower] = {}

    @checked
    def begin(self, observation: Any = None, objective: Objective | None = None) -> None:
        """Start an episode: forget the last one and, if it has an objective of its own, plan for it."""
        self._followers.clear()
        self._draw_from(_generator_for(observation))
        if objective is not None and self._replan:
            self.plan = self._replan(objective)
            if not self.plan.entered:
                warnings.warn(self.plan.unreached_in_words(), stacklevel=2)

    def follow(self, plan: "Plan") -> None:
        """Follow this plan from now on."""
        self.plan = _checked_plan(plan)

    def act(self, observations: ArrayLike, plans: "Plan | Sequence[Plan] | None" = None) -> Float32s:
        """Return the action for one observation, or one per row for a batch; see `decide`."""
        batch, single = self._batch(observations)
        features = self._encode(batch)
        vertices = self._body.graph.nearest_vertices(features)
        groups = self._groups(plans, len(batch))
        heading = self._headings(batch, features, vertices, groups)
        actions = self._actions(batch, heading.goals, groups)
        return actions[0] if single else actions

    def decide(self, observations: ArrayLike, plans: "Plan | Sequence[Plan] | None" = None) -> Decisions:
        """Decide for one observation or a batch, following the policy's own plan, another one, or one per row."""
        batch, _ = self._batch(observations)
        features, groups = self._encode(batch), self._groups(plans, len(batch))
        graph = self._body.graph
        vertices, distances = graph.nearest(features)
        heading = self._headings(batch, features, vertices, groups)
        followed = {row: follower.plan for follower, rows in groups for row in rows}
        return Decisions(
            actions=self._actions(batch, heading.goals, groups),
            vertices=heading.vertices,
            distances=graph.distances(features, heading.vertices),
            off_graph=distances > graph.radius,
            targets=heading.targets,
            subgoals=heading.subgoals,
            entries=heading.entries,
            plans=[followed[row] for row in range(len(batch))],
        )

    def likeness(self, states: Float32s) -> Likeness:
        """Say how much an episode's states are like what was recorded."""
        batch = self._episode(states)
        return likeness(self._body.graph, self._encode(batch))

    def progress(self, states: Float32s) -> Progress:
        """Say how an episode with these states got on along the policy's plan."""
        batch = self._episode(states)
        return progress(self._own_plan(), batch, self._encode(batch))

    def _episode(self, states: Float32s) -> Float32s:
        batch, _ = self._batch(states)
        if not len(batch):
            raise VMGError("An episode has at least one state, but there is none.")
        return batch

    def _draw_from(self, rng: np.random.Generator) -> None:
        self._rng, actor = rng, cast("object", self._act)
        if isinstance(actor, Drawing):
            actor.draw_from(rng)

    def _actions(self, batch: Float32s, goals: Float32s, groups: "_Groups") -> Float32s:
        actions = self._act(batch, goals)
        if self.settings.noise:
            noise = self._rng.normal(0.0, self.settings.noise, actions.shape).astype(np.float32)
            actions += noise if self.settings.noise_when == "always" else self._freeing(noise, actions, groups)
        actions = recorded_actions(self._body.weights, actions)
        return np.minimum(np.maximum(actions, self._low), self._high)

    def _freeing(self, noise: Float32s, actions: Float32s, groups: "_Groups") -> Float32s:
        """Leave the noise to rows that are stuck, and push those that stand still; none for others."""
        noise = noise * _stuck(groups, len(noise))
        for follower, rows in groups:
            for row in rows:
                push = follower.push(row, actions[row], lambda: self._drawn(noise.shape[1]))
                noise[row] = noise[row] if push is None else push
        return noise

    def _drawn(self, size: int) -> Float32s:
        return self._rng.normal(0.0, self.settings.noise, size).astype(np.float32)

    def _headings(self, batch: Float32s, features: Float32s, vertices: Int32s, groups: "_Groups") -> Heading:
        """The heading of every row; rows that follow the same plan are looked up together."""
        if len(groups) == 1:
            (follower, rows), *_ = groups
            return follower.heading(rows, batch, features, vertices)
        headings = [follower.heading(rows, batch[rows], features[rows], vertices[rows]) for follower, rows in groups]
        order = np.argsort(np.concatenate([rows for _, rows in groups]))
        return Heading(*(np.concatenate(parts)[order] for parts in zip(*headings, strict=True)))

    def _batch(self, observations: ArrayLike) -> tuple[Float32s, bool]:
        batch = _numbers(observations)
        single = batch.ndim == 1
        if single:
            batch = batch[None]
        data = self._body.data
        if batch.ndim != 2 or batch.shape[1] != data.observation_size:
            raise VMGError(
                f"An observation of this agent is {data.observation_size} numbers (as in {data.source}), but the shape "
                f"given is {np.shape(observations)}. Give it the same parts of the observation, in the same order."
            )
        if not np.isfinite(batch).all():
            row, column = np.argwhere(~np.isfinite(batch))[0]
            raise VMGError(f"The observation in row {row} has {batch[row, column]} in column {column}.")
        return batch, single

    def _groups(self, given: "Plan | Sequence[Plan] | None", n_rows: int) -> "_Groups":
        """Plans, each with the rows that follow it; what was made to follow them is kept for the next decision."""
        if given is None:
            given = self._own_plan()
        if id(given) in self._followers and len(self._followers) == 1:  # the same plan again, as at almost every step
            return [(self._followers[id(given)], range(n_rows))]
        if not isinstance(given, Sequence):
            groups: _Groups = [(self._follower(given), range(n_rows))]
        else:
            if len(given) != n_rows:
                raise VMGError(f"There are {n_rows} observations but {len(given)} plans: give one, or one per row.")
            rows: dict[int, list[int]] = {}
            for row, plan in enumerate(given):
                rows.setdefault(id(plan), []).append(row)
            groups = [(self._follower(given[each[0]]), each) for each in rows.values()]
        if len(groups) != len(self._followers):
            self._followers = {id(follower.plan): follower for follower, _ in groups}
        return groups

    def _own_plan(self) -> "Plan":
        if self.plan is None:
            raise VMGError(
                "This agent has no plan yet: solve it first (Agent.solve, or `vmg solve`), or plan for a goal."
            )
        return self.plan

    def _follower(self, plan: "Plan") -> Follower:
        if id(plan) not in self._followers:
            self._followers[id(plan)] = Follower(_checked_plan(plan), self.settings, self._act)
        return self._followers[id(plan)]

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Find what is followed by its plan again: a copy, here or in another process, has an identity of its own."""
        self.__dict__.update(state)
        self._followers = {id(follower.plan): follower for follower in self._followers.values()}


_Groups: TypeAlias = list[tuple[Follower, Sequence[int]]]


def _stuck(groups: _Groups, n_rows: int) -> Float32s:
    """1 for the rows that are stuck, 0 for others, one below the other."""
    stuck = np.zeros((n_rows, 1), np.float32)
    for follower, rows in groups:
        stuck[[row for row in rows if follower.is_stuck(row)]] = 1
    return stuck


def _numbers(observations: ArrayLike) -> Float32s:
    """Observations as numbers; too large ones become infinite, which is said with their place."""
    if isinstance(observations, np.ndarray) and observations.dtype == np.float32:
        return observations
    return numbers_of(observations, "An observation", np.float32)


def _checked_plan(plan: "Plan") -> "Plan":
    """Return a plan, or say that this is none."""
    if not hasattr(plan, "routes"):
        raise VMGError(f"A policy follows a plan, as Agent.plan makes it, or one per observation, not {shown(plan)}.")
    return plan


def _generator_for(observation: Any) -> np.random.Generator:
    """Noise that an episode's first observation decides, so that an episode run again is the same."""
    try:
        seen = [] if observation is None else [np.asarray(leaf).tobytes() for leaf in leaves(observation).values()]
    except ValueError as error:
        raise VMGError(f"An episode begins with an observation, not with {shown(observation)}: {error}.") from error
    return np.random.default_rng(crc32(b"".join(seen)))
