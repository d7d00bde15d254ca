"""Explanations: what is said before acting is what is then done, and every piece of it was recorded."""

import json
from dataclasses import replace

import numpy as np
import pytest
from acting_cases import agent, episodes

from vmg.act.explanation import Explanation
from vmg.base.errors import VMGError
from vmg.goals import near
from vmg.graph import reachable_from

CORNER = near([1.0, 1.0], columns=(0, 1), tolerance=0.45)


@pytest.fixture(scope="module", params=["edges", "recordings"])
def corner(request):
    """A plan for the corner, with both kinds of routes."""
    config = agent().config
    solve = replace(config.solve, paths=request.param)
    config = replace(config, solve=solve, graph=replace(config.graph, recordings=request.param == "recordings"))
    return replace(agent(), config=config).build(episodes()).plan(CORNER)


def test_an_explanation_tells_what_the_policy_will_do(corner):
    answers = [corner.explain(state) for state in episodes().observations[::100]]
    decisions = corner.policy().decide(episodes().observations[::100])
    for i, answer in enumerate(answers):
        assert answer.possible == bool(corner.can_reach[answer.vertex])
        assert list(answer.path) == decisions[i].path
        assert answer.steps >= len(answer.path) - 1
        assert (answer.detour is None) == answer.possible
        if answer.reached:
            assert str(answer).endswith("It is there already.")
        elif answer.possible:
            assert answer.vertex == decisions[i].vertex
            assert ("It can be done" in str(answer)) == bool(answer.pieces)
            assert all(f"episode {piece.episode}" in str(answer) for piece in answer.pieces[:4])
    assert len({len(answer.pieces) for answer in answers}) > 1
    json.dumps(answers[0].to_dict())


def test_the_pieces_of_an_explanation_are_recorded_and_lead_there(corner):
    graph, firsts = corner.graph, episodes().first_observation
    answer = max((corner.explain(state) for state in episodes().observations[::100]), key=lambda each: each.steps)
    last = answer.pieces[-1]
    assert corner.goal_vertices[graph.labels[firsts[last.episode] + last.last + 1]]
    for piece in answer.pieces:
        rows = firsts[piece.episode] + np.arange(piece.first, piece.last + 2)
        assert set(graph.labels[rows].tolist()) <= set(answer.path)


def test_where_no_recorded_way_leads_on_the_nearest_vertex_with_one_is_taken(corner):
    """An end of an episode leads nowhere; the policy goes on as from the nearest vertex that is not cut off."""
    graph = corner.graph
    cut_off = np.flatnonzero(~corner.can_reach)
    assert len(cut_off) > 0
    decisions = corner.policy().decide(graph.states[cut_off])
    ways = np.flatnonzero(corner.can_reach)
    for vertex, taken, distance in zip(cut_off, decisions.vertices, decisions.distances, strict=True):
        gaps = np.linalg.norm(graph.features[ways] - graph.features[vertex], axis=1)
        assert taken == ways[np.argmin(gaps)]
        assert distance == pytest.approx(gaps.min(), rel=1e-3, abs=1e-3)
    assert corner.goal_vertices[decisions.targets].all()
    assert not decisions.off_graph.any()


def test_what_no_recorded_way_leads_to_is_said_with_the_nearest_that_can_be_reached(corner):
    graph = corner.graph
    vertex = int(np.flatnonzero(~corner.can_reach)[0])
    answer = corner.explain(graph.states[vertex])
    assert not answer.possible
    there = reachable_from(graph, vertex)[graph.labels]
    distances = np.linalg.norm(episodes().observations[:, :2] - [1.0, 1.0], axis=1)
    assert answer.nearest.distance == pytest.approx(distances[there].min(), rel=1e-5)
    row = episodes().first_observation[answer.nearest.episode] + answer.nearest.step
    assert (episodes().observations[row] == answer.nearest.observation).all()
    assert "No recorded way leads from here" in str(answer)
    assert f"{answer.nearest.distance:.3g} away from it: where episode {answer.nearest.episode} was" in str(answer)
    json.dumps(answer.to_dict())


def test_one_observation_is_explained_at_a_time(corner):
    with pytest.raises(VMGError, match=r"One observation is explained at a time, not an array of shape \(2, 4\)"):
        corner.explain(episodes().observations[:2])


def test_at_the_end_of_a_route_it_says_what_is_true_of_the_observation():
    said = {
        reached: str(Explanation(True, 3, 0.1, False, (3,), 0.0, (), reached=reached))
        for reached in (True, False, None)
    }
    assert said[True].endswith("It is there already.")
    assert "It is not there yet, but a recorded state of this vertex is" in said[False]
    assert "anything worth more" in said[None]
    elsewhere = Explanation(True, 3, 0.1, False, (4,), 0.0, (), reached=False)
    assert "a recorded state of vertex 4 is" in str(elsewhere)
    assert "nor is any recorded state of vertex 4" in str(replace(elsewhere, ends_there=False))
