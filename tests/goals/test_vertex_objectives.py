"""Objectives in vertices: the vertices named are the goal, words say the same, edges that are left out are not used."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from acting_cases import agent, episodes
from hypothesis import given
from hypothesis import strategies as st

from vmg.act.body import Recorded
from vmg.base.errors import VMGError
from vmg.goals import all_of, any_of, in_vertices, near, paid_in_vertices, within
from vmg.goals.vertices import read_pay, read_vertices, vertices_in_words
from vmg.graph import without_edges
from vmg.runs.requests import Reading, Request, without_avoided_edges


def wanted(vertices):
    return in_vertices(agent().built, agent().weights, vertices)


def some_vertices(least=1):
    return st.lists(st.integers(0, agent().built.n_vertices - 1), min_size=least, max_size=8, unique=True)


@given(st.data())
def test_the_vertices_named_are_the_goal_whether_the_episodes_are_at_hand_or_not(data):
    vertices = data.draw(some_vertices())
    with_episodes, without = (replace(agent(), episodes=each).plan(wanted(vertices)) for each in (episodes(), None))
    assert np.flatnonzero(with_episodes.goal_vertices).tolist() == sorted(vertices)
    assert np.array_equal(with_episodes.values, without.values)
    assert with_episodes.rewarded_steps == without.rewarded_steps


def test_what_is_recorded_is_where_its_label_says():
    """The quick answer for recorded observations, from their labels, is the one that networks and vertices give."""
    goal, graph = wanted([1, 2, 3]), agent().built
    assert np.array_equal(goal.distance(episodes().observations), goal.distance.of(graph.labels))
    pay = paid_in_vertices(graph, agent().weights, {1: 2.0, 5: -1.0}).rewards
    assert np.array_equal(pay(episodes()), pay.of(graph.labels[graph.arrivals]))


@given(st.data())
def test_goals_that_are_joined_are_looked_up_part_by_part(data):
    """What is recorded is as far from them as the objective itself says of every observation."""
    places = st.tuples(st.floats(-1.5, 1.5), st.floats(-1.5, 1.5))
    parts = [
        near(data.draw(places), columns=(0, 1), tolerance=0.3),
        within([-0.5], [0.5], columns=(2,)),
        wanted(data.draw(some_vertices())),
    ]
    joined = data.draw(st.sampled_from([any_of, all_of]))(parts)
    recorded = Recorded(agent().built, data.draw(st.sampled_from([episodes(), None])))
    np.testing.assert_allclose(recorded.distances(joined), joined.distances(episodes().observations), atol=1e-6)


@given(st.data())
def test_no_way_passes_vertices_that_are_avoided(data):
    goal, avoided = data.draw(some_vertices()), data.draw(some_vertices())
    if set(goal) <= set(avoided):
        with pytest.raises(VMGError):
            agent().plan(wanted(goal).avoiding(wanted(avoided)))
        return
    plan = agent().plan(wanted(goal).avoiding(wanted(avoided)))
    for vertex in range(0, agent().built.n_vertices, 7):
        if vertex not in avoided:
            assert not set(plan.routes.path(vertex)) & set(avoided)


@given(st.data())
def test_no_way_takes_an_edge_that_is_left_out(data):
    graph = agent().built
    numbers = data.draw(st.lists(st.integers(0, graph.n_edges - 1), min_size=1, max_size=5, unique=True))
    gone = [(int(graph.tails[number]), int(graph.heads[number])) for number in numbers]
    fewer = without_edges(graph, gone)
    kept = set(zip(graph.tails.tolist(), graph.heads.tolist(), strict=True)) - set(gone)
    assert set(zip(fewer.tails.tolist(), fewer.heads.tolist(), strict=True)) == kept
    plan = replace(agent(), graph=fewer).plan(wanted([0]))
    assert not any(hop in gone for vertex in range(graph.n_vertices) for hop in pairwise(plan.routes.path(vertex)))


@given(st.data())
def test_words_say_the_same_vertices(data):
    vertices = data.draw(some_vertices())
    assert read_vertices(vertices_in_words(vertices), agent().built).tolist() == sorted(vertices)
    assert read_pay(vertices_in_words(vertices, ":-0.5"), agent().built) == dict.fromkeys(sorted(vertices), -0.5)


def test_a_request_reads_vertices_pay_and_edges():
    reading, told = Reading(agent(), None, "this agent"), []
    request = Request(goal=("vertices=1-2",), avoid=("vertices=4", "edges=0-1"), agents=(0,))
    graph = agent().built
    edge = f"{graph.tails[3]}-{graph.heads[3]}"
    request = replace(request, avoid=("vertices=4", f"edges={edge}"))
    objective = reading.objective(request, told.append)
    assert objective.name == "one of the vertices 1-2, avoiding the vertex 4"
    assert without_avoided_edges(agent(), request).built.n_edges == graph.n_edges - 1
    assert reading.objective(Request(reward="vertices=1:2"), told.append).rewards.pay[1] == 2.0
    assert told == []


@pytest.mark.parametrize(
    "words", ["vertices=", "vertices=a", "vertices=5-3", "vertices=1,,2", "vertices=0-99999999", "vertices=-1"]
)
def test_words_that_name_no_vertices_are_refused(words):
    with pytest.raises(VMGError, match="names no vertices"):
        read_vertices(words, agent().built)


def test_numbers_that_are_no_vertices_or_edges_are_refused():
    graph, weights = agent().built, agent().weights
    for vertices in ([], [-1], [graph.n_vertices], [0.5], ["1"]):
        with pytest.raises(VMGError, match="whole number from 0 to"):
            in_vertices(graph, weights, vertices)
    with pytest.raises(VMGError, match="finite number"):
        paid_in_vertices(graph, weights, {0: np.inf})
    with pytest.raises(VMGError, match="pays"):
        read_pay("vertices=1", graph)
    with pytest.raises(VMGError, match="no edge"):
        without_edges(graph, [(0, 0)])
    with pytest.raises(VMGError, match="whole number from 0 to"):
        without_edges(graph, [(0, graph.n_vertices)])
    with pytest.raises(VMGError, match="names no edges"):
        without_avoided_edges(agent(), Request(avoid=("edges=3",)))
