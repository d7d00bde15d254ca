"""Agents that know where bodies fell: built, extended and kept with it, and planning around it."""

from dataclasses import replace

import numpy as np
import pytest
from levers import Room, place, walk, written_agent

from vmg.agent.graph_file import graph_arrays, graph_of
from vmg.agent.soundness import is_sound
from vmg.data.episodes import Episodes, concatenate

GOAL = (3.0, 0.0)
goal = place(*GOAL)


def lying(states):
    """A body lies in the middle of the straight way."""
    return (np.abs(states[:, 0] - 1.5) < 0.3) & (np.abs(states[:, 1]) < 0.5)


def episodes(*ways):
    rng = np.random.default_rng(0)
    return Episodes.from_list([walk(way, rng, Room(places=())) for way in ways], source="two ways")


STRAIGHT, AROUND = episodes([GOAL], [GOAL]), episodes([(0.0, 1.5), (3.0, 1.5), GOAL])


def solving(agent, cost):
    return replace(agent, config=replace(agent.config, solve=replace(agent.config.solve, fall_cost=cost)))


@pytest.mark.parametrize("paths", ["edges", "recordings"])
def test_a_plan_goes_around_falls_that_the_task_saw(paths):
    both = concatenate([STRAIGHT, AROUND])
    agent = written_agent(both, paths).build(both, fallen=lying)
    kept = replace(agent, graph=graph_of(graph_arrays(agent.graph), ()))  # as on disk
    for cost, fell in [(0.0, True), (500.0, False)]:
        plans = [solving(each, cost).plan(goal, both) for each in (agent, kept)]
        answer = plans[0].explain(both.observations[0])
        assert answer.possible
        assert lying(agent.graph.states[list(answer.path)]).any() == fell
        assert plans[1].explain(both.observations[0]).path == answer.path


def test_an_extended_graph_knows_the_falls_of_all_episodes():
    agent = written_agent(STRAIGHT).build(STRAIGHT, fallen=lying)
    extended = agent.extend(AROUND, fallen=lying)
    built = agent.build(concatenate([STRAIGHT, AROUND]), fallen=lying)
    assert len(built.graph.falls)
    assert np.array_equal(extended.graph.falls, built.graph.falls)
    assert not len(agent.build(STRAIGHT).graph.falls)


def test_a_damaged_list_of_falls_is_no_part_of_a_sound_graph():
    graph = written_agent(STRAIGHT).build(STRAIGHT, fallen=lying).graph
    assert is_sound(graph)
    for falls in (graph.falls[::-1], graph.falls + len(graph.labels), graph.falls[:, None]):
        assert not is_sound(replace(graph, falls=falls))
