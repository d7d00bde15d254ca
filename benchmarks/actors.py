"""Actors for the rows of evaluation; in a module of their own, since its processes import what an actor is made of."""

from typing import Any

from numpy.typing import ArrayLike

from vmg.act.evaluation import Actor
from vmg.act.policy import Policy
from vmg.types import Float32s


class OnTheGraph:
    """A policy that is asked about recorded states, one after the other, whatever the environment's are.

    A trained policy meets such states; an untrained one strays far off the graph, where the nearest vertex takes long
    to find.
    """

    def __init__(self, policy: Policy, states: Float32s) -> None:
        self.policy, self.states, self.row = policy, states, 0

    def begin(self, observation: Any) -> None:
        """Begin with the first state."""
        self.policy.begin(observation)
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

    def begin(self, observation: Any) -> None:
        """Begin the next list."""
        self.actor.begin(observation)
        self.actions.append([])

    def act(self, state: Float32s) -> ArrayLike:
        """Decide and keep it."""
        self.actions[-1].append(self.actor.act(state))
        return self.actions[-1][-1]
