"""An agent of a given size without training: untrained networks, and the radius that gives the vertices asked for."""

import warnings
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from benchmarks.generators import kitchen_like
from benchmarks.rows import Level
from vmg.agent.agent import Agent
from vmg.agent.settings import AgentConfig
from vmg.base.types import Float32s
from vmg.data.episodes import Episodes
from vmg.data.facts import DataFacts
from vmg.graph import GraphConfig, merge_greedily
from vmg.learn import LearnConfig
from vmg.learn.models import AgentModel
from vmg.learn.stacking import initial_models, separate
from vmg.networks import Weights, embed
from vmg.networks.mlp import layer_sizes


@dataclass(frozen=True)
class Size:
    """Steps and vertices of an agent, and how often ours is timed."""

    steps: int
    vertices: int
    rounds: int


SIZES: dict[Level, Size] = {
    "full": Size(124_000, 34_000, 9),
    "quick": Size(12_400, 3_400, 5),
    "tiny": Size(800, 200, 1),
}
"""The sizes of kitchen-partial, and smaller ones."""

GOAL_COLUMNS = (0, 1)
"""Where goals are named; the graph keeps these columns."""


@cache
def synthetic_agent(n_steps: int, n_vertices: int) -> tuple[Agent, Episodes]:
    """Return a solved agent with about this many vertices, and the episodes its graph is built from."""
    episodes = kitchen_like(n_steps, seed=0)
    config = AgentConfig(graph=GraphConfig(goal_columns=GOAL_COLUMNS))
    return untrained_agent(episodes, config, n_vertices), episodes


def untrained_agent(episodes: Episodes, config: AgentConfig, n_vertices: int) -> Agent:
    """Return a solved agent with these settings, except the radius, and the networks that training would begin with."""
    weights = untrained(episodes, config.learn)
    radius = radius_for(embed(weights, episodes.observations), n_vertices)
    config = replace(config, graph=replace(config.graph, radius=radius))
    return Agent(config, DataFacts.of(episodes), 0, weights).build(episodes).solve()


def untrained(episodes: Episodes, config: LearnConfig) -> Weights:
    """Return the networks that training would begin with."""
    model = AgentModel(config)
    sizes = layer_sizes(model.parts(episodes), config.hidden_units)
    return separate(initial_models(sizes, [0]), model.scalings(episodes))[0]


def radius_for(features: Float32s, n_vertices: int, tolerance: float = 0.005) -> float:
    """Halve an interval until the merge leaves `n_vertices`, give or take the tolerance."""
    low, high = 0.0, float(np.ptp(features, axis=0).max())
    for _ in range(40):
        middle = (low + high) / 2
        found = _count(features, middle)
        if abs(found - n_vertices) <= tolerance * n_vertices:
            break
        low, high = (middle, high) if found > n_vertices else (low, middle)
    return middle


def _count(features: Float32s, radius: float) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some radius tried on the way may well leave a single vertex
        return len(merge_greedily(features, radius).rows)
