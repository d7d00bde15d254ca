"""The folder of an agent that knows a million ant steps: what it takes on disk, and to write and to read it.

The peer keeps every array of the graph and its routes, compressed as numpy does it: so did version 0.1.
"""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.agents import untrained_agent
from benchmarks.generators import ant_like
from benchmarks.rows import Level, Row, check
from benchmarks.timing import least_processor_seconds
from vmg.agent.agent import Agent
from vmg.agent.folder import Kept
from vmg.agent.settings import AgentConfig
from vmg.graph import GraphConfig, SolveConfig

MIB = 2.0**20
GOAL_COLUMNS = (0, 1)
SHARE = 100
"""States per vertex."""


@dataclass(frozen=True)
class Size:
    """Steps of the data, and how often files are written and read."""

    steps: int
    rounds: int


SIZES: dict[Level, Size] = {"full": Size(1_000_000, 2), "quick": Size(100_000, 3), "tiny": Size(2_000, 1)}


def measure(level: Level) -> Iterator[Row]:
    """With what planning needs, with what acting needs, and with recordings to follow."""
    size = SIZES[level]
    agent = _agent(size.steps, AgentConfig(graph=GraphConfig(goal_columns=GOAL_COLUMNS)))
    yield from _rows(agent, size, "plan", "to plan")
    yield from _rows(agent, size, "act", "to act")
    following = replace(agent.config, solve=SolveConfig(paths="recordings"))
    following = replace(following, graph=replace(following.graph, recordings=True))
    assert agent.episodes is not None
    yield from _rows(replace(agent, config=following).build(agent.episodes).solve(), size, "plan", "with recordings")


def _agent(n_steps: int, config: AgentConfig) -> Agent:
    return untrained_agent(ant_like(n_steps, seed=0), config, n_steps // SHARE)


def _rows(agent: Agent, size: Size, keep: Kept, name: str) -> Iterator[Row]:
    """Write, read, weigh; both sides in turn."""
    graph = agent.built
    row = Row(
        family="files",
        name="",
        size=f"{len(graph.slots):,} steps, {graph.n_vertices:,} vertices",
        amount=len(graph.slots),
        peer_name="all, compressed",
        note=f"processor seconds, least of {size.rounds}",
    )
    arrays = dict(_arrays(graph, "graph")) | {
        f"routes.{key}": each for key, each in agent.own_plan.routes.arrays().items()
    }
    with tempfile.TemporaryDirectory() as folder:
        ours, peer = Path(folder) / "agent", Path(folder) / "all.npz"
        saved = least_processor_seconds(
            lambda: agent.save(ours, keep=keep), lambda: np.savez_compressed(peer, **arrays), size.rounds
        )
        read = least_processor_seconds(lambda: Agent.load(ours), lambda: _read(peer), size.rounds)
        same = check(
            _acts_alike(agent, read.our_result), "the agent that is read has the same vertices, edges and routes"
        )
        row = replace(row, checked=same)
        yield replace(row, name=f"save, {name}", ours=saved.ours, peer=saved.peer)
        yield replace(row, name=f"load, {name}", ours=read.ours, peer=read.peer)
        taken = sum(file.stat().st_size for file in ours.iterdir()) / MIB
        yield replace(row, name=f"on disk, {name}", unit="MiB", ours=taken, peer=peer.stat().st_size / MIB)


def _arrays(record: Any, name: str) -> Iterator[tuple[str, np.ndarray]]:
    """Every array of a record and of the records in it."""
    for each in fields(record):
        value = getattr(record, each.name)
        if is_dataclass(value):
            yield from _arrays(value, f"{name}.{each.name}")
        elif isinstance(value, np.ndarray):
            yield f"{name}.{each.name}", value


def _read(path: Path) -> dict[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def _acts_alike(one: Agent, other: Agent) -> bool:
    ours, theirs = one.own_plan.routes.arrays(), other.own_plan.routes.arrays()
    same = all(np.array_equal(ours[name], theirs[name]) for name in ours)
    names = ("features", "states", "rows", "heads", "labels", "slots")
    return same and all(np.array_equal(getattr(one.built, name), getattr(other.built, name)) for name in names)
