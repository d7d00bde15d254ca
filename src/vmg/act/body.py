"""What acts, whatever it is asked for, and what it knows of the episodes it was made from."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from vmg.act.settings import ActConfig
from vmg.base.errors import VMGError
from vmg.base.types import Float32s, Float64s
from vmg.data.episodes import Episodes
from vmg.data.facts import DataFacts
from vmg.data.rests import Pieces, find_pieces
from vmg.goals.combinations import Either
from vmg.goals.measures import Relabelled
from vmg.goals.objectives import Objective, Place, Together
from vmg.goals.vertices import InVertices, PaidInVertices
from vmg.graph.memory import MemoryGraph
from vmg.graph.settings import SolveConfig
from vmg.networks.lowlevel import LowLevel
from vmg.networks.weights import Weights


@dataclass(frozen=True, eq=False)
class Body:
    """A graph, the networks that act on it, the facts of the data, and how it plans and acts."""

    graph: MemoryGraph
    weights: Weights
    low_level: LowLevel
    data: DataFacts
    solving: SolveConfig
    acting: ActConfig

    @cached_property
    def pieces(self) -> Pieces | None:
        """The pieces of all recordings, for a low-level policy that places things; None for others."""
        objects, observations = getattr(self.low_level, "objects", ()), self.graph.kept_observations
        found = find_pieces(observations, self.graph.lengths, objects) if objects and observations is not None else None
        return found if found and len(found.first) else None

    @property
    def not_looking(self) -> "Body":
        """The same with routes that do not look at what differs in observations, where its own do."""
        if self.solving.paths != "observed":
            return self
        return replace(self, solving=replace(self.solving, paths="recordings", switch_cost=SolveConfig.switch_cost))


COMPARED = 1000
"""So many vertices are held against the episodes at most: that takes microseconds, and no other data are the same."""


class NeedsEpisodesError(VMGError):
    """What is wanted cannot be found in what a saved agent keeps: the episodes are needed."""


@dataclass(frozen=True, eq=False)
class Recorded:
    """The recorded episodes as far as they are at hand: whole, or what the graph keeps of their observations."""

    graph: MemoryGraph
    episodes: Episodes | None = None

    def __post_init__(self) -> None:
        if self.episodes is None:
            return
        if len(self.episodes.observations) != len(self.graph.labels):
            raise VMGError(
                f"The graph was built from {len(self.graph.labels)} observations, but {self.episodes.source} has "
                f"{len(self.episodes.observations)}: give the episodes it was built from."
            )
        some = slice(None, None, 1 + self.graph.n_vertices // COMPARED)
        states = self.episodes.observations[self.graph.rows[some]]
        alike = np.array_equal(self.episodes.lengths, self.graph.lengths)
        if not alike or not np.array_equal(states, self.graph.states[some]):
            raise VMGError(
                f"{self.episodes.source} has as many observations as the graph was built from, but others: give the "
                "episodes it was built from."
            )

    def distances(self, objective: Objective) -> Float64s:
        """Say how far each recorded observation is from an objective."""
        distance = objective.distance
        if isinstance(distance, InVertices):
            return distance.of(self.graph.labels)
        if isinstance(distance, Either | Together):  # each part where it is quickest to look up
            over = [np.maximum(self.distances(part) - part.tolerance, 0.0) for part in distance.parts]
            joined: Float64s = np.max(over, axis=0) if isinstance(distance, Together) else np.min(over, axis=0)
            return joined
        place, known, places = objective.place, self.graph.goal_columns, self.graph.places
        if place and places is not None and set(place.columns) <= set(known):  # the same numbers, closer together
            return Place(tuple(known.index(column) for column in place.columns), place.numbers)(places)
        if self.observations is None:
            raise self._missing(objective)
        return objective.distances(self.observations)

    def step_rewards(self, objective: Objective) -> Float64s:
        """Say what each recorded step is paid."""
        if isinstance(objective.rewards, PaidInVertices):
            return objective.rewards.of(self.graph.labels[self.graph.arrivals])
        if self.episodes is not None and not isinstance(objective.distance, InVertices):
            return objective.step_rewards(self.episodes)
        if objective.distance is None:
            raise self._missing(objective)
        within = self.distances(objective) <= objective.tolerance
        return within[self.graph.arrivals].astype(np.float64)

    def planned_rewards(self, objective: Objective, discount: float) -> Float64s:
        """Say what each recorded step is paid in a plan: on arriving, what it would be paid on leaving.

        A reward for a change is taken back when the change is undone. A vertex that holds states from before and after
        would pay on every round. So of a step paid f(oₜ) + g(aₜ, oₜ₊₁) the plan pays γ f(oₜ₊₁) + g(aₜ, oₜ₊₁). Both want
        the same: Σ γᵗ f(oₜ) = f(o₀) + Σ γᵗ γ f(oₜ₊₁).
        """
        paid = self.step_rewards(objective)
        if self.episodes is None or not isinstance(objective.rewards, Relabelled):
            return paid
        leaving = objective.rewards.paid_on_leaving(self.episodes)
        if leaving is None:
            return paid
        arrivals = self.graph.arrivals
        return paid - leaving[arrivals - 1] + discount * leaving[arrivals]

    @property
    def observations(self) -> Float32s | None:
        """Every recorded observation; None where neither the episodes nor the graph has them."""
        if self.episodes is not None:
            return self.episodes.observations
        return self.graph.kept_observations

    def _missing(self, objective: Objective) -> NeedsEpisodesError:
        kept = " Or build the graph with its columns as goal_columns, which are kept." if objective.place else ""
        return NeedsEpisodesError(
            f"{objective.name!r} needs the episodes the graph was built from, which a saved agent does not keep: give "
            f"them, agent.plan(objective, episodes).{kept}"
        )
