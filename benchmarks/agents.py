"""An agent of a given size without training: untrained networks, and the radius that gives the vertices asked for."""

import warnings

import numpy as np

from benchmarks.generators import kitchen_like
from vmg.agent import Agent, DataFacts
from vmg.config import AgentConfig, GoalConfig, GraphConfig
from vmg.data.episodes import Episodes
from vmg.graph import merge_greedily
from vmg.learn import LearnConfig
from vmg.learn.models import initial_models, separate
from vmg.learn.objectives import MetricAndTranslator
from vmg.networks import Weights, embed
from vmg.types import Float32s


def synthetic_agent(n_steps: int, n_vertices: int, seed: int = 0) -> tuple[Agent, Episodes]:
    """Return a solved agent with about so many vertices, and the episodes its graph is built from."""
    episodes = kitchen_like(n_steps, seed)
    weights = untrained(episodes, seed)
    radius = radius_for(embed(weights, episodes.observations), n_vertices)
    near = 0.1 * float(episodes.observations[:, :2].std())
    config = AgentConfig(graph=GraphConfig(radius=radius), goal=GoalConfig(columns=(0, 1), tolerance=near))
    return Agent(config, DataFacts.of(episodes), seed, weights).build(episodes).solve(episodes), episodes


def untrained(episodes: Episodes, seed: int) -> Weights:
    """Return the networks training would begin with."""
    objective = MetricAndTranslator(LearnConfig())
    return separate(initial_models(objective.sizes(episodes), [seed]), objective.scalings(episodes))[0]


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
        warnings.simplefilter("ignore")  # that a radius on the way leaves one vertex is no news
        return len(merge_greedily(features, radius).rows)
