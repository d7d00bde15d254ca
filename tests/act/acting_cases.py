"""Small agents the tests share: a short recording of the small maze, little networks, a real graph."""

from dataclasses import replace
from functools import lru_cache

from vmg.act.tasks import find_task
from vmg.agent import Agent
from vmg.config import AgentConfig, GraphConfig
from vmg.data import Episodes, load
from vmg.learn.config import LearnConfig

DATA = "pointmaze:umaze?steps=3000&seed=0"
LITTLE = LearnConfig(
    hidden_units=32,
    metric_dimension=4,
    batch_size=32,
    steps=200,
    checkpoint_every=100,
    margins="program",
    encoder_inputs="normalised",
    translator_inputs="relative",
)


def little_config() -> AgentConfig:
    return replace(find_task("pointmaze-umaze").preset("ours"), learn=LITTLE, graph=GraphConfig(radius=0.3))


@lru_cache
def episodes() -> Episodes:
    return load(DATA)


@lru_cache
def agent() -> Agent:
    """Built and solved for the recorded rewards."""
    (learned,) = Agent.fit(episodes(), little_config())
    return learned.build(episodes()).solve(episodes())
