"""Small episodes and agents that the tests of bad input share, and how a public function is called."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from learning_cases import untrained

import vmg
from vmg import goals
from vmg.data.facts import DataFacts


@dataclass(frozen=True)
class Call:
    """One public function, arguments with which it works, and odd values that are legal."""

    function: Callable[..., Any]
    good: dict[str, Any] = field(default_factory=dict)
    legal: dict[str, tuple[str, ...]] = field(default_factory=dict)
    long: bool = False
    """Whether a call that works takes its time: then only those are made that must fail."""


@cache
def episodes() -> vmg.Episodes:
    rng = np.random.default_rng(0)
    parts = []
    for _ in range(6):
        actions = rng.uniform(-1, 1, (12, 2))
        places = np.concatenate([rng.normal(size=(1, 2)), actions]).cumsum(0)
        parts.append(
            (np.concatenate([places, 0.1 * places], axis=1), actions, (np.arange(12) == 11) * 1.0, True, False)
        )
    return vmg.Episodes.from_list(parts, source="walk", fields={"place": (0, 1)})


@cache
def agent(seed: int = 0, *, along: str = "edges") -> vmg.Agent:
    """An agent whose networks have not learned anything: that takes no time, and every check is the same."""
    learn = vmg.LearnConfig(hidden_units=8, metric_dimension=3, steps=1)
    graph = vmg.GraphConfig(radius=0.1, goal_columns=(0, 1), recordings=along == "recordings")
    config = vmg.AgentConfig(learn=learn, graph=graph, solve=vmg.SolveConfig(paths=along))
    weights = untrained(episodes(), learn, seed)
    return vmg.Agent(config, DataFacts.of(episodes()), seed, weights).build(episodes()).solve()


def place() -> vmg.Objective:
    return goals.near([0.0, 0.0], columns=(0, 1), tolerance=0.5)


def observation() -> np.ndarray:
    return episodes().observations[0]
