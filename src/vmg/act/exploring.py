"""Exploring: go to the frontier of the graph, wander from there, and set out again."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from vmg.act.body import Body
from vmg.act.plan import Plan
from vmg.act.policy import Policy
from vmg.base.types import Float32s
from vmg.goals.frontier import frontier
from vmg.goals.objectives import Objective
from vmg.networks.encoder import Encoder

Exploration = Literal["frontier", "random"]
NOISE = 0.1
"""Added to actions on the way to the frontier, in the units that networks see."""
WANDER = 60
"""Steps of wandering at least, once the frontier is reached; more where the way there took longer."""
HELD = 15
"""Steps at most for which a random action is kept: what changes at every step gets nowhere."""
PATIENCE = 2.0
"""How many times as long as recorded a way may take."""
STANDING = 3.0
"""How many times as long as an edge usually takes a vertex is stayed at, before what is in the way is given up."""


class Explorer:
    """Acts to learn more of a world than was recorded; "random" wanders from the start, as a baseline."""

    def __init__(
        self, body: Body, plan: Callable[[Objective], Plan], kind: Exploration, seed: int | Sequence[int]
    ) -> None:
        self._body, self._plan, self._kind = body, plan, kind
        self._encode, self._rng = Encoder(body.weights), np.random.default_rng(seed)
        self._low, self._high = (np.array(each, np.float32) for each in (body.data.action_low, body.data.action_high))
        self._settings = replace(body.acting, noise=max(body.acting.noise, NOISE), noise_when="always")
        self._policy: Policy | None = None
        self._target, self._left, self._wandering, self._held = -1, 0, 0, 0
        self._last, self._walked, self._stayed = -1, 0, 0
        self._action = self._low

    def begin(self, observation: Any, objective: Objective | None) -> None:
        """Start an episode; whatever its goal is, it is not headed for."""
        self._policy, self._wandering, self._held = None, 0, 0

    def act(self, state: Float32s) -> Float32s:
        """Return the action in this state."""
        if self._kind == "random" or self._wandering > 0:
            self._wandering -= 1
            return self._wander()
        policy = self._policy or self._set_out(state)
        if self._there(self._vertex(state)):
            self._policy, self._wandering = None, max(WANDER, self._walked)
            return self._wander()
        return policy.act(state)

    def _there(self, vertex: int) -> bool:
        """Say whether the frontier is reached, or is not worth more steps."""
        self._stayed = self._stayed + 1 if vertex == self._last else 0
        self._last, self._walked = vertex, self._walked + 1
        standing = self._stayed > max(HELD, STANDING * self._edge_steps)
        return vertex == self._target or self._walked > self._left or standing

    def _set_out(self, state: Float32s) -> Policy:
        """Plan for a vertex of the frontier."""
        graph = self._body.graph
        there = frontier(graph, self._body.weights, self._vertex(state), self._rng)
        self._target, self._last, self._walked, self._stayed = there.vertex, -1, 0, 0
        self._left = int(PATIENCE * (there.hops + 1) * self._edge_steps + HELD)
        self._policy = Policy(self._body, self._plan(there.objective), self._settings)
        return self._policy

    @cached_property
    def _edge_steps(self) -> float:
        return max(1.0, float(self._body.graph.edge_steps.mean()))

    def _vertex(self, state: Float32s) -> int:
        return int(self._body.graph.nearest_vertices(self._encode(state[None]))[0])

    def _wander(self) -> Float32s:
        if self._held <= 0:
            self._held = int(self._rng.integers(1, HELD + 1))
            self._action = self._rng.uniform(self._low, self._high).astype(np.float32)
        self._held -= 1
        return self._action
