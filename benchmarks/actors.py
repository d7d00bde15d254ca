"""Actors for the rows of evaluation; in a module of their own, since worker processes import what an actor needs."""

from typing import Any

from numpy.typing import ArrayLike

from vmg.act.policy import Policy
from vmg.base.types import Float32s
from vmg.evaluation import Actor
from vmg.goals import Objective


class OnTheGraph:
    """A policy that is asked about recorded states, one after another, whatever the environment's states are.

    A trained policy meets such states; an untrained one strays far off the graph, where the nearest vertex takes long
    to find.
    """

    def __init__(self, policy: Policy, states: Float32s) -> None:
        self.policy, self.states, self.row = policy, states, 0

    def begin(self, observation: Any, objective: Objective | None) -> None:
        """Begin with the first state."""
        self.policy.begin(observation, objective)
        self.row = 0

    def act(self, state: Float32s) -> Float32s:
        """Decide for the next recorded state."""
        self.row += 1
        return self.policy.act(self.states[self.row])


class Recorder:
    """An actor that keeps the actions of every episode."""

    def __init__(self, actor: Actor) -> None:
        self.actor = actor
        self.actions: list[list[ArrayLike]] = []

    def begin(self, observation: Any, objective: Objective | None) -> None:
        """Begin the next list."""
        self.actor.begin(observation, objective)
        self.actions.append([])

    def act(self, state: Float32s) -> ArrayLike:
        """Decide, and keep the action."""
        self.actions[-1].append(self.actor.act(state))
        return self.actions[-1][-1]
