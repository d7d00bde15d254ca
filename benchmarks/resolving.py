"""Solving again after the task has changed: rewards, values, tables and the first action."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count

import numpy as np

from benchmarks.agents import SIZES, Size, synthetic_agent
from benchmarks.generators import sparse_rewards
from benchmarks.networkx_peer import NetworkxGraph
from benchmarks.rows import Bar, Level, Row, check
from benchmarks.scipy_peer import costs_along, solve_tables, sweep_values
from benchmarks.timing import median_seconds, timed
from benchmarks.values import DISCOUNT, ERROR, check_tables, check_values
from vmg.act.policy import Policy
from vmg.agent import Agent
from vmg.data.episodes import Episodes
from vmg.graph import Solution, reward
from vmg.graph.planning import slot_costs
from vmg.graph.solution import STEP, switch_costs
from vmg.types import Float32s, Float64s

SEARCH_STEPS = 12


def measure(level: Level) -> Iterator[Row]:
    """A new goal, new rewards, and new rewards with limited search, each to the first action; peers are timed once."""
    size = SIZES[level]
    agent, episodes = synthetic_agent(size.steps, size.vertices)
    graph = agent.built
    row = Row(
        family="resolve",
        name="re-solving",
        size=f"{len(graph.slots):,} steps, {graph.n_vertices:,} vertices, {graph.n_edges:,} edges",
        bar=Bar("at most", 0.150) if level == "full" else None,
    )
    yield _goal(replace(row, name="re-solving, new goal"), agent, episodes, size)
    yield _goal_along(replace(row, name="re-solving, new goal, along recordings"), agent, episodes, size)
    new_rewards = replace(row, name="re-solving, new rewards", ours=_resolving_seconds(agent, episodes, size))
    yield _beside_scipy(new_rewards, agent, episodes)
    yield _beside_networkx(new_rewards, agent, episodes)
    limited = replace(agent, config=replace(agent.config, solve=replace(agent.config.solve, search_steps=SEARCH_STEPS)))
    name, seconds = f"re-solving, new rewards, {SEARCH_STEPS} search steps", _resolving_seconds(limited, episodes, size)
    yield _beside_scipy(replace(row, name=name, ours=seconds), limited, episodes)


def _goal(row: Row, agent: Agent, episodes: Episodes, size: Size) -> Row:
    """Values, tables and the first action."""
    solution, found = agent.goal(_places(episodes)[0])
    theirs, seconds = timed(lambda: solve_tables(agent.built, found.rewards, DISCOUNT, ERROR))
    return replace(
        row,
        ours=_goal_seconds(agent, episodes, size),
        peer_name="scipy",
        peer=seconds,
        checked=check_values(solution.values, theirs.values),
        note=f"{found.vertices.sum():,} vertices are the goal compared; scipy: values and tables",
    )


def _goal_along(row: Row, agent: Agent, episodes: Episodes, size: Size) -> Row:
    """The same along recordings, as the presets `ours` of most tasks have it: a way from every observation."""
    settings = replace(agent.config.solve, paths="recordings", ties="nearest")
    config = replace(agent.config, solve=settings, graph=replace(agent.config.graph, recordings=True))
    agent = replace(agent, config=config).build(episodes).solve(episodes)
    solution, found = agent.goal(_places(episodes)[0])
    costs = slot_costs(agent.built, found.rewards, settings.path_weights)
    steps = np.where(agent.built.leaving < 0, -1, costs[agent.built.leaving])
    switches = switch_costs(agent.built.strays, settings.switch_cost)
    theirs, seconds = timed(
        lambda: (
            sweep_values(agent.built, found.rewards, DISCOUNT, ERROR),
            costs_along(agent.built, steps, switches, found.vertices),
        )
    )
    leads = found.vertices[solution.targets[agent.built.labels]]
    ways = np.allclose(np.asarray(solution.to_go)[leads], theirs[1][leads] / STEP, rtol=1e-5, atol=1e-3)
    return replace(
        row,
        ours=_goal_seconds(agent, episodes, size),
        peer_name="scipy",
        peer=seconds,
        checked=f"{check_values(solution.values, theirs[0])}, {check(ways, 'all ways to the goal cost the same')}",
        note="scipy: values and what every way costs",
    )


def _places(episodes: Episodes) -> Float32s:
    return episodes.observations[:: len(episodes.observations) // 50, :2]


def _goal_seconds(agent: Agent, episodes: Episodes, size: Size) -> float:
    """Return the median time from a new goal, another recorded place each time, to the first action."""
    places, turn = _places(episodes), count()

    def new_goal() -> None:
        solution, _ = agent.goal(places[next(turn) % len(places)])
        Policy(agent).act(episodes.observations[0], solution)

    return median_seconds(new_goal, size.rounds)


def _beside_scipy(row: Row, agent: Agent, episodes: Episodes) -> Row:
    graph, steps = agent.built, agent.config.solve.search_steps
    theirs, seconds = timed(lambda: solve_tables(graph, reward(graph, episodes), DISCOUNT, ERROR, steps))
    solution = _to_first_action(agent, episodes.rewards, episodes)
    return replace(
        row,
        peer_name="scipy",
        peer=seconds,
        checked=check_tables(graph, reward(graph, episodes), solution, theirs),
        note="rewards, values, all paths; ours to the first action, other rewards each time",
    )


def _beside_networkx(row: Row, agent: Agent, episodes: Episodes) -> Row:
    graph, solution = agent.built, _to_first_action(agent, episodes.rewards, episodes)
    peer, vertex = NetworkxGraph(graph, reward(graph, episodes)), int(graph.labels[0])
    target = int(solution.targets[vertex])
    (values, path), seconds = timed(lambda: (peer.values(DISCOUNT, ERROR), peer.path(vertex, target)))
    same = np.isclose(peer.cost(path), peer.cost(solution.path(vertex)), rtol=1e-6, atol=1e-6)
    check(bool(same), "the path of one vertex costs the same")
    return replace(
        row,
        peer_name="networkx",
        peer=seconds,
        checked=f"{check_values(solution.values, values)}, the path of one vertex costs the same",
        note="ours: rewards, values, all paths, first action; networkx: values by dict loops and one Dijkstra",
    )


def _resolving_seconds(agent: Agent, episodes: Episodes, size: Size) -> float:
    """Return the median time from new rewards, drawn before the clock starts, to the first action."""
    _to_first_action(agent, episodes.rewards, episodes)
    drawn = [sparse_rewards(episodes.n_steps, seed) for seed in range(size.rounds)]
    return float(np.median([timed(_resolving(agent, rewards, episodes))[1] for rewards in drawn]))


def _resolving(agent: Agent, rewards: Float64s, episodes: Episodes) -> Callable[[], Solution]:
    return lambda: _to_first_action(agent, rewards, episodes)


def _to_first_action(agent: Agent, rewards: Float64s, episodes: Episodes) -> Solution:
    solved = agent.solve(rewards)
    Policy(solved).act(episodes.observations[0])
    return solved.solved
