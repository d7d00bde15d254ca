"""An agent with the published program's settings: built, solved, followed, saved and loaded like any other."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from acting_cases import episodes
from learning_cases import untrained

from vmg.agent.agent import Agent
from vmg.data.facts import DataFacts
from vmg.envs import find_task
from vmg.graph import ProgramRoutes


@pytest.fixture(params=["antmaze-medium-play", "pen-human"])  # without and with a limit to the search
def agent(request):
    preset = find_task(request.param).preset("program")
    config = replace(
        preset, learn=replace(preset.learn, hidden_units=16), graph=replace(preset.graph, radius=0.05, goal_columns=())
    )
    made = Agent(config, DataFacts.of(episodes()), 0, untrained(episodes(), config.learn))
    return made.build(episodes()).solve()


def walked(agent):
    """Actions and subgoals along a recording, with a jump in it and a while in which nothing moves."""
    policy = agent.policy()
    policy.begin()
    rows = [*range(0, 60, 3), *[60] * 15, *range(300, 330)]
    decisions = [policy.decide(episodes().observations[row]) for row in rows]
    return np.array([each.actions[0] for each in decisions]), [int(each.subgoals[0]) for each in decisions]


def test_it_is_the_same_again_after_it_was_saved(agent, tmp_path):
    agent.save(tmp_path / "agent")
    loaded = Agent.load(tmp_path / "agent")
    assert isinstance(loaded.routes, ProgramRoutes)
    actions, subgoals = walked(agent)
    again, found = walked(loaded)
    np.testing.assert_array_equal(actions, again)
    assert subgoals == found
    assert np.abs(actions).max() <= 1


def test_who_stands_still_looks_farther_ahead(agent):
    _, subgoals = walked(agent)
    assert len(set(subgoals[20:35])) > 1


def test_every_hop_is_an_edge(agent):
    graph, routes = agent.graph, agent.routes
    for vertex in range(0, graph.n_vertices, 7):
        path = routes.path(vertex)
        assert path[0] == vertex
        assert path[-1] == routes.targets[vertex]
        for tail, head in pairwise(path):
            graph.edge_number(tail, head)
