"""Small agents the tests share: a short recording of the small maze, little networks, a real graph."""

from dataclasses import replace
from functools import lru_cache

from maze_settings import MAZE

from vmg.act.settings import ActConfig
from vmg.agent.agent import Agent
from vmg.agent.settings import AgentConfig
from vmg.data import Episodes, load
from vmg.graph import GraphConfig, SolveConfig
from vmg.learn import LearnConfig
from vmg.networks import Translator

DATA = "pointmaze:umaze?steps=3000&seed=0"
LITTLE = LearnConfig(
    hidden_units=32,
    metric_dimension=4,
    batch_size=32,
    steps=200,
    checkpoint_every=100,
    margins="program",
    encoder_inputs="normalised",
    low_level=Translator(inputs="relative"),
)


def little_config() -> AgentConfig:
    graph = GraphConfig(radius=0.3, goal_columns=(0, 1))
    return replace(MAZE, learn=LITTLE, graph=graph)


@lru_cache
def episodes() -> Episodes:
    return load(DATA)


@lru_cache
def agent() -> Agent:
    """Built and solved for the recorded rewards."""
    (learned,) = Agent.fit(episodes(), little_config())
    return learned.build(episodes()).solve()


@lru_cache
def follower(noise: float = 0.0) -> Agent:
    """The same, along recordings."""
    config = agent().config
    config = replace(
        config,
        graph=replace(config.graph, recordings=True),
        solve=SolveConfig(paths="recordings", ties="nearest"),
        act=ActConfig(subgoal_steps=4, noise=noise),
    )
    return replace(agent(), config=config).build(episodes()).solve()
