"""Solving again after the task has changed: rewards, values, tables and the first action."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from benchmarks.agents import synthetic_agent
from benchmarks.generators import sparse_rewards
from benchmarks.networkx_peer import NetworkxGraph
from benchmarks.rows import Bar, Level, Row, check
from benchmarks.timing import compare, median_seconds, timed
from benchmarks.values import DISCOUNT, ERROR, check_values, sweep_values
from vmg.act.policy import Policy
from vmg.agent import Agent
from vmg.data.episodes import Episodes
from vmg.graph import EdgeRewards, Solution, reward
from vmg.types import Float64s


@dataclass(frozen=True)
class Size:
    """Steps, vertices, and how often ours is timed."""

    steps: int
    vertices: int
    rounds: int


SIZES: dict[Level, Size] = {
    "full": Size(124_000, 34_000, 9),
    "quick": Size(12_400, 3_400, 5),
    "tiny": Size(800, 200, 1),
}
SEARCH_STEPS = 12


def measure(level: Level) -> Iterator[Row]:
    """New rewards (beside networkx), the same with limited search, and a new goal; each to the first action."""
    size = SIZES[level]
    agent, episodes = synthetic_agent(size.steps, size.vertices)
    bar = Bar("at most", 0.150) if level == "full" else None
    limited = replace(agent, config=replace(agent.config, solve=replace(agent.config.solve, search_steps=SEARCH_STEPS)))
    yield _goal(agent, episodes, size, bar)
    yield _limited(limited, episodes, size, bar)
    yield _beside_networkx(agent, episodes, size, bar)


def _beside_networkx(agent: Agent, episodes: Episodes, size: Size, bar: Bar | None) -> Row:
    edges = reward(agent.built, episodes)
    peer = NetworkxGraph(agent.built, edges)
    vertex = int(agent.built.labels[0])
    target = int(agent.solved.targets[vertex])
    found = compare(
        lambda: _to_first_action(agent, episodes.rewards, episodes),
        lambda: (peer.values(DISCOUNT, ERROR), peer.path(vertex, target)),
        1,
    )
    values, path = found.peer_result
    checked = check_values(found.our_result.values, values)
    same = np.isclose(peer.cost(path), peer.cost(found.our_result.path(vertex)), rtol=1e-6, atol=1e-6)
    return replace(
        _row("new rewards", agent, size, bar),
        ours=_resolving_seconds(agent, episodes, size),
        peer_name="networkx",
        peer=found.peer,
        checked=checked + ", " + check(bool(same), "the path of one vertex costs the same"),
        note="ours: rewards, values, all paths, first action, new rewards each time; "
        "networkx: values by dict loops and one Dijkstra, timed once",
    )


def _limited(agent: Agent, episodes: Episodes, size: Size, bar: Bar | None) -> Row:
    solution = _to_first_action(agent, episodes.rewards, episodes)
    checked = check_values(solution.values, _swept(agent, reward(agent.built, episodes)))
    return replace(
        _row(f"new rewards, {SEARCH_STEPS} search steps", agent, size, bar),
        ours=_resolving_seconds(agent, episodes, size),
        checked=checked + " (numpy)",
    )


def _goal(agent: Agent, episodes: Episodes, size: Size, bar: Bar | None) -> Row:
    """Each time another recorded place is the goal."""
    places = episodes.observations[:: len(episodes.observations) // 50, :2]
    turn = count()

    def new_goal() -> None:
        solution, _ = agent.goal(places[next(turn) % len(places)])
        Policy(agent).act(episodes.observations[0], solution)

    solution, found = agent.goal(places[0])
    checked = check_values(solution.values, _swept(agent, found.rewards))
    row = _row("new goal", agent, size, bar)
    note = f"{found.vertices.sum():,} vertices are the goal checked"
    return replace(row, ours=median_seconds(new_goal, size.rounds), checked=checked + " (numpy)", note=note)


def _resolving_seconds(agent: Agent, episodes: Episodes, size: Size) -> float:
    """Return the median time from new rewards, drawn before the clock starts, to the first action."""
    times = []
    for seed in range(size.rounds):
        rewards = sparse_rewards(episodes.n_steps, seed)
        times.append(timed(_resolving(agent, rewards, episodes))[1])
    return float(np.median(times))


def _resolving(agent: Agent, rewards: Float64s, episodes: Episodes) -> Callable[[], Solution]:
    return lambda: _to_first_action(agent, rewards, episodes)


def _to_first_action(agent: Agent, rewards: Float64s, episodes: Episodes) -> Solution:
    solved = agent.solve(rewards)
    Policy(solved).act(episodes.observations[0])
    return solved.solved


def _swept(agent: Agent, rewards: EdgeRewards) -> Float64s:
    return sweep_values(agent.built, rewards, DISCOUNT, ERROR)


def _row(name: str, agent: Agent, size: Size, bar: Bar | None) -> Row:
    graph = agent.built
    described = f"{len(graph.slots):,} steps, {graph.n_vertices:,} vertices, {graph.n_edges:,} edges"
    return Row(family="resolve", name=f"re-solving, {name}", size=described, bar=bar)
