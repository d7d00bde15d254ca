"""Solving again after the task has changed: rewards, values, tables and the first action."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import cycle

import numpy as np

from benchmarks.agents import GOAL_COLUMNS, SIZES, Size, synthetic_agent
from benchmarks.generators import sparse_rewards
from benchmarks.networkx_peer import NetworkxGraph
from benchmarks.rows import Bar, Level, Row, check
from benchmarks.scipy_peer import costs_along, solve_tables, sweep_values
from benchmarks.timing import median_seconds, timed
from benchmarks.values import DISCOUNT, ERROR, check_tables, check_values
from vmg.agent.agent import Agent
from vmg.base.types import Float64s
from vmg.data.episodes import Episodes
from vmg.goals import Objective, near, step_rewards
from vmg.graph import Goal, RecordingRoutes, Routes, goal, reward
from vmg.graph.routes.recordings import STEP, slot_costs, switch_costs

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
    objective = _objectives(episodes)[0]
    routes, found = agent.plan(objective).routes, _found(agent, episodes, objective)
    theirs, seconds = timed(lambda: solve_tables(agent.built, found.rewards, DISCOUNT, ERROR))
    return replace(
        row,
        ours=_goal_seconds(agent, episodes, size),
        peer_name="scipy",
        peer=seconds,
        checked=check_values(routes.values, theirs.values),
        note=f"{found.vertices.sum():,} vertices are the goal compared; scipy: values and tables",
    )


def _goal_along(row: Row, agent: Agent, episodes: Episodes, size: Size) -> Row:
    """The same along recordings, as most agents plan: a route from every observation."""
    settings = replace(agent.config.solve, paths="recordings", ties="nearest")
    config = replace(agent.config, solve=settings, graph=replace(agent.config.graph, recordings=True))
    agent = replace(agent, config=config).build(episodes).solve()
    graph, objective = agent.built, _objectives(episodes)[0]
    routes, found = agent.plan(objective).routes, _found(agent, episodes, objective)
    assert isinstance(routes, RecordingRoutes)
    costs = slot_costs(graph, found.rewards, settings.path_weights)
    leaves_goal = found.vertices[graph.labels] & (np.roll(graph.labels, -1) != graph.labels)
    steps = np.where((graph.leaving < 0) | leaves_goal, -1, costs[graph.leaving])
    switches = switch_costs(graph.offsets, settings.switch_cost)
    there = np.zeros(len(graph.labels), bool)
    there[routes.stops] = True  # a route ends where the goal is fulfilled, not anywhere in its vertex
    theirs, seconds = timed(
        lambda: (
            sweep_values(graph, found.rewards, DISCOUNT, ERROR),
            costs_along(graph, steps, switches, there),
        )
    )
    leads = found.vertices[routes.targets[graph.labels]]
    same = np.allclose(routes.table.costs[leads], theirs[1][leads] / STEP, rtol=1e-5, atol=1e-3)
    return replace(
        row,
        ours=_goal_seconds(agent, episodes, size),
        peer_name="scipy",
        peer=seconds,
        checked=f"{check_values(routes.values, theirs[0])}, {check(same, 'all routes to the goal cost the same')}",
        note="scipy: values and what every route costs",
    )


def _objectives(episodes: Episodes) -> list[Objective]:
    """Return recorded places, each as a goal."""
    columns = list(GOAL_COLUMNS)
    tolerance = 0.1 * float(episodes.observations[:, columns].std())
    places = episodes.observations[:: len(episodes.observations) // 50, columns]
    return [near(place, columns=GOAL_COLUMNS, tolerance=tolerance) for place in places]


def _found(agent: Agent, episodes: Episodes, objective: Objective) -> Goal:
    """Return the rewards of a goal, for the peers."""
    return goal(agent.built, objective.distances(episodes.observations), objective.tolerance)


def _goal_seconds(agent: Agent, episodes: Episodes, size: Size) -> float:
    """Return the median time from a new goal, another recorded place each time, to the first action."""
    objectives = cycle(_objectives(episodes))
    return median_seconds(lambda: _to_first_action(agent, next(objectives), episodes), size.rounds)


def _beside_scipy(row: Row, agent: Agent, episodes: Episodes) -> Row:
    graph, steps = agent.built, agent.config.solve.search_steps
    theirs, seconds = timed(lambda: solve_tables(graph, reward(graph, episodes), DISCOUNT, ERROR, steps))
    routes = _to_first_action(agent, step_rewards(episodes.rewards), episodes)
    return replace(
        row,
        peer_name="scipy",
        peer=seconds,
        checked=check_tables(graph, reward(graph, episodes), routes, theirs),
        note="rewards, values, all paths; ours to the first action, other rewards each time",
    )


def _beside_networkx(row: Row, agent: Agent, episodes: Episodes) -> Row:
    graph, routes = agent.built, _to_first_action(agent, step_rewards(episodes.rewards), episodes)
    peer, vertex = NetworkxGraph(graph, reward(graph, episodes)), int(graph.labels[0])
    target = int(routes.targets[vertex])
    (values, path), seconds = timed(lambda: (peer.values(DISCOUNT, ERROR), peer.path(vertex, target)))
    same = np.isclose(peer.cost(path), peer.cost(routes.path(vertex)), rtol=1e-6, atol=1e-6)
    check(bool(same), "the path of one vertex costs the same")
    return replace(
        row,
        peer_name="networkx",
        peer=seconds,
        checked=f"{check_values(routes.values, values)}, the path of one vertex costs the same",
        note="ours: rewards, values, all paths, first action; networkx: values by dict loops and one Dijkstra",
    )


def _resolving_seconds(agent: Agent, episodes: Episodes, size: Size) -> float:
    """Return the median time from new rewards, drawn before the clock starts, to the first action."""
    _to_first_action(agent, step_rewards(episodes.rewards), episodes)
    drawn = [sparse_rewards(episodes.n_steps, seed) for seed in range(size.rounds)]
    return float(np.median([timed(_resolving(agent, rewards, episodes))[1] for rewards in drawn]))


def _resolving(agent: Agent, rewards: Float64s, episodes: Episodes) -> Callable[[], Routes]:
    return lambda: _to_first_action(agent, step_rewards(rewards), episodes)


def _to_first_action(agent: Agent, objective: Objective, episodes: Episodes) -> Routes:
    plan = agent.plan(objective)
    plan.policy().act(episodes.observations[0])
    return plan.routes
