"""Generated edges: short links that nobody recorded, where the networks say that the agent could go.

Two recorded states in vertices that no edge joins are a candidate where they lie no farther apart than states `STEPS`
steps apart in a recording usually do. From the one towards the other so many steps are imagined in the metric space:

    f ← f + Enc_a(f, a)        a: the low-level policy's at first, then Dec_a(f, what is left of the way per step left)

The candidate becomes a link where this ends as near to the other state as it does for nine of ten pairs of recorded
states that are so many steps apart. An action moves few of the dimensions, so what takes a turn, a stop or a leap that
the body cannot do ends elsewhere. No environment is needed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vmg.base.errors import VMGError
from vmg.base.types import Float32s, Float64s, Int64s
from vmg.data.episodes import Episodes
from vmg.data.facts import DataFacts
from vmg.graph import MemoryGraph, add_edges
from vmg.networks.actions import recorded_actions, scaled_actions
from vmg.networks.lowlevel import Act, actor
from vmg.networks.mlp import mlp, side_by_side
from vmg.networks.weights import Weights

if TYPE_CHECKING:
    from vmg.agent.agent import Agent

KIND = "generated"
STEPS = 10
"""Environment steps of a link."""
USUAL = 0.9
"""Share of the recorded pairs that are imagined as well as a link must be."""
SAMPLED = 4_000
"""Recorded pairs that are looked at."""
NEAREST = 32
"""States near each one that are looked at."""
BLOCK = 2**14
"""States whose links are looked for at once."""


class Links(NamedTuple):
    """Pairs of recorded states, by their rows."""

    first: Int64s
    second: Int64s


def with_generated(agent: "Agent", graph: MemoryGraph, features: Float32s, episodes: Episodes) -> MemoryGraph:
    """Return the graph with links that the agent could take, at the price that its settings name."""
    config, weights = agent.config, agent.weights
    if not config.learn.action_decoder:
        raise VMGError(
            "Generated edges are imagined with the action decoder, and this agent learned without: build its graph "
            "without them (`--graph.generated None`)."
        )
    act = actor(config.learn.low_level, weights)
    links = find_links(graph, Imagination(weights, act, agent.data, features, episodes.observations), episodes)
    inside = float(graph.edge_steps.mean()) - 1 if graph.n_edges else 0.0  # recorded edges count from entering the tail
    tails, heads = (graph.labels[rows] for rows in links)
    return add_edges(graph, KIND, tails, heads, steps=STEPS + inside, prices=config.graph.generated or 0.0)


@dataclass(frozen=True, eq=False)
class Imagination:
    """What an agent's networks say of the way from one recorded state to another."""

    weights: Weights
    act: Act
    facts: DataFacts
    features: Float32s
    observations: Float32s

    def distances(self, first: Int64s, second: Int64s) -> Float64s:
        """Return how far recorded states are apart, by their rows."""
        return _lengths(self.features[second].astype(np.float64) - self.features[first])

    def misses(self, first: Int64s, second: Int64s) -> Float64s:
        """Return how far from the second state one ends after `STEPS` steps from the first one towards it."""
        here, there = self.features[first], self.features[second]
        actions = self.act(self.observations[first], self.observations[second])
        for left in range(STEPS - 1, -1, -1):
            here = here + mlp(self.weights["action_encoder"], side_by_side(here, self._possible(actions)))
            if left:
                way = (there - here) / np.float32(left)
                actions = mlp(self.weights["action_decoder"], side_by_side(here, way))
                actions = np.tanh(actions) if "action_spread" in self.weights else actions  # where it learned to sample
        return _lengths(there.astype(np.float64) - here)

    def _possible(self, actions: Float32s) -> Float32s:
        """Clip actions to what was recorded, as a policy does."""
        clipped = np.clip(recorded_actions(self.weights, actions), self.facts.action_low, self.facts.action_high)
        possible: Float32s = scaled_actions(self.weights, clipped).astype(np.float32)
        return possible


def find_links(graph: MemoryGraph, imagined: Imagination, episodes: Episodes) -> Links:
    """Return the best link between any two vertices that no edge joins and that can be had."""
    rows = episodes.step_observation[episodes.steps_left >= STEPS]
    rows = rows[:: 1 + len(rows) // SAMPLED]
    if not len(rows):
        return Links(rows, rows)
    reach = float(np.median(imagined.distances(rows, rows + STEPS)))
    bar = float(np.quantile(imagined.misses(rows, rows + STEPS), USUAL))
    found = []
    for first, second in _candidates(graph, imagined.features, reach):
        misses = imagined.misses(first, second)
        kept = misses <= bar
        found.append((first[kept], second[kept], misses[kept]))
    first, second, misses = (np.concatenate(each) for each in zip(*found, strict=True))
    pairs = graph.labels[first].astype(np.int64) * graph.n_vertices + graph.labels[second]
    order = np.lexsort((second, first, misses, pairs))
    best = order[np.diff(pairs[order], prepend=-1) > 0]
    return Links(first[best], second[best])


def _candidates(graph: MemoryGraph, features: Float32s, reach: float) -> Iterator[tuple[Int64s, Int64s]]:
    """Yield pairs of rows within reach of each other, in vertices that no edge joins."""
    from scipy.spatial import cKDTree

    labels, n = graph.labels.astype(np.int64), graph.n_vertices
    tree, joined = cKDTree(features), graph.tails.astype(np.int64) * n + graph.heads
    for start in range(0, len(features), BLOCK):
        some = features[start : start + BLOCK]
        distances, near = tree.query(some, range(1, NEAREST + 1), distance_upper_bound=reach, workers=-1)
        rows, which = np.nonzero(np.isfinite(distances))
        first, second = start + rows, near[rows, which]
        apart = labels[first] != labels[second]
        apart[apart] = ~np.isin((labels[first] * n + labels[second])[apart], joined)
        yield first[apart], second[apart]


def _lengths(vectors: Float64s) -> Float64s:
    lengths: Float64s = np.linalg.norm(vectors, axis=1)
    return lengths
