"""An agent whose graph knows more episodes: the networks are as they were, the graph is extended."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from vmg.agent.generating import with_generated
from vmg.base.errors import VMGError
from vmg.base.types import Bools, Float32s, Int32s, Int64s
from vmg.data.episodes import Episodes, concatenate
from vmg.data.fields import moved_fields
from vmg.graph import extend, knowing_falls
from vmg.networks import Weights, embed_alike

if TYPE_CHECKING:
    from vmg.agent.agent import Agent


def extended(
    agent: "Agent", episodes: Episodes, earlier: Episodes | None, fallen: Callable[[Float32s], Bools] | None = None
) -> "Agent":
    """Return the agent with the graph of earlier and new episodes, and no plan yet."""
    config = agent.config.graph
    if config.merging == "kmeans":
        raise VMGError(
            "A graph merged by k-means cannot be extended, since every new episode moves its centroids: build it again "
            "from all episodes (Agent.build)."
        )
    if earlier is None:
        raise VMGError(
            "To extend a graph takes the episodes it was built from, and a loaded agent does not have them: "
            "agent.extend(episodes, earlier=vmg.load(...))."
        )
    refuse_other_data(agent, episodes)
    joined = concatenate([earlier, episodes])
    features = _features(agent, joined)
    graph = extend(agent.built, features, joined, labelling=config.labelling, edges=config.edges)
    if config.generated is not None:
        graph = with_generated(agent, graph, np.asarray(features[:]), joined)
    return replace(agent, graph=knowing_falls(graph, joined, fallen), episodes=joined, routes=None)


def refuse_other_data(agent: "Agent", episodes: Episodes) -> None:
    """Refuse episodes of other sizes than the agent learned from, or with columns in another order."""
    refuse_other_sizes(agent, episodes)
    if episodes.action_size != agent.data.action_size:
        raise VMGError(
            f"{episodes.source} has actions of {episodes.action_size} numbers, but the agent learned from "
            f"{agent.data.source} with {agent.data.action_size}: these are not of one robot."
        )
    if moved := moved_fields(agent.data.fields, episodes.fields):
        raise VMGError(
            f"{episodes.source} has its columns in another order than {agent.data.source}, which the agent learned "
            f"from: {moved}. Write them in the same order."
        )


def refuse_other_sizes(agent: "Agent", episodes: Episodes) -> None:
    """Refuse episodes whose observations do not go into the agent's networks."""
    if episodes.observation_size != agent.data.observation_size:
        raise VMGError(
            f"{episodes.source} has observations of {episodes.observation_size} numbers, but the agent learned "
            f"from {agent.data.source} with {agent.data.observation_size}. Choose the same keys for the state."
        )


@dataclass(frozen=True, eq=False)
class _Embedded:
    """Features that are made when they are asked for: most of the earlier ones never are."""

    weights: Weights
    observations: Float32s

    @property
    def shape(self) -> tuple[int, ...]:
        return len(self.observations), self.weights["state_encoder"]["b2"].shape[-1]

    def __getitem__(self, rows: slice | Int32s | Int64s) -> Float32s:
        return embed_alike(self.weights, self.observations[rows])


def _features(agent: "Agent", episodes: Episodes) -> Float32s | _Embedded:
    """Return the features of all observations; earlier ones that were kept are not made again."""
    made = _Embedded(agent.weights, episodes.observations)
    kept = agent.built.recordings
    return made if kept is None else np.concatenate([kept.features, made[len(kept.features) :]])
