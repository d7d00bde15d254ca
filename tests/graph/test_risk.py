"""Ways priced by falls and by pace: shares equal a slow twin, and what costs nothing changes nothing."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import labelled_episodes

from vmg.base.errors import VMGError
from vmg.data.episodes import Episodes
from vmg.graph import RecordingRoutes, Recordings, SolveConfig, build, goal, knowing_falls, reward, solve
from vmg.graph.risk import PACE, SOON, ended_in_falls
from vmg.graph.routes.edges import edge_weights
from vmg.graph.routes.recordings import STEP, slot_costs
from vmg.graph.solving import solve_edges


@st.composite
def with_falls(draw):
    """A graph with some falls in it, anywhere in its recordings."""
    graph, episodes = draw(labelled_episodes())
    rows = draw(st.lists(st.integers(0, len(graph.labels) - 1), max_size=3))
    return replace(graph, falls=np.unique(rows).astype(np.int32)), episodes


def slow_shares_of(graph):
    """Per slot, one recorded step after the other: the share that soon falls, and how slow they are on average."""
    falling, paces, slots, row = [], [], [], 0
    for length in graph.lengths:
        for t in range(length):
            soon = range(t, min(t + SOON, length) + 1)
            falling.append(any(row + k in graph.falls for k in soon))
            ahead = min(PACE, length - t)
            here, there = (graph.features[graph.labels[row + t + k]].astype(float) for k in (0, ahead))
            paces.append(np.sqrt(((there - here) ** 2).sum()) / ahead)
            slots.append(graph.slots[len(slots)])
        row += length + 1
    usual = np.median(paces)
    slow = [max(0.0, 1 - pace / usual) if usual else 0.0 for pace in paces]
    of = [[i for i, slot in enumerate(slots) if slot == number] for number in range(len(graph.counts))]
    return [[np.mean([steps[i] for i in own]) if own else 0.0 for own in of] for steps in (falling, slow)]


@given(with_falls())
@settings(max_examples=60, deadline=None)
def test_shares_equal_a_slow_twin(case):
    graph, _ = case
    falling, slow = slow_shares_of(graph)
    np.testing.assert_allclose(graph.fall_shares, falling)
    np.testing.assert_allclose(graph.slow_shares, slow, atol=1e-12)


@given(with_falls(), st.sampled_from(["edges", "recordings"]), st.sampled_from([0.0, 3.0, 90.0]))
@settings(max_examples=60, deadline=None)
def test_costs_are_added_to_those_of_steps_and_values_stay(case, paths, cost):
    graph, episodes = case
    graph = replace(graph, recordings=Recordings(episodes.observations, graph.features[graph.labels]))
    rewards = reward(graph, episodes)
    plain = solve_edges(graph, rewards, SolveConfig(paths=paths))
    priced = solve_edges(graph, rewards, SolveConfig(paths=paths, fall_cost=SOON * cost, slow_cost=cost))
    assert (plain.values == priced.values).all()
    assert (plain.targets == priced.targets).all()
    dearer = replace(rewards, penalties=cost * (graph.fall_shares + graph.slow_shares))
    if paths == "edges":
        weights = edge_weights(dearer, graph, "rewards")
        assert all(
            total(graph, weights, priced, v) <= total(graph, weights, plain, v) for v in range(len(plain.values))
        )
    else:
        steps = slot_costs(graph, dearer, "rewards")
        assert (steps >= slot_costs(graph, rewards, "rewards")).all()
        assert (priced.costs == steps[priced.slots]).all()
    if not (dearer.penalties > 0).any():
        for name, array in plain.arrays().items():
            assert np.array_equal(array, priced.arrays()[name])


def total(graph, weights, routes, vertex):
    path = routes.path(vertex)
    return sum(int(weights[graph.edge_number(*pair)]) for pair in pairwise(path))


def two_ways(slowly=1):
    """To (6, 0) straight, and around with so many steps in each place; a third recording falls on the straight way."""
    straight = [(x, 0.0) for x in range(7)]
    around = [straight[0], *((x, 2.0) for x in range(7) for _ in range(slowly)), straight[-1]]
    return Episodes.from_list([recording(straight, 1.0), recording(around, 1.0), recording(straight[:4], 0.0)])


def recording(places, paid):
    """An episode through these places, ended by its environment and paid for its last step."""
    n = len(places) - 1
    return np.array(places), np.zeros((n, 1)), np.eye(n)[-1] * paid, True, False


@pytest.mark.parametrize("paths", ["edges", "recordings"])
@pytest.mark.parametrize(("cost", "safe"), [(0.0, False), (5.0, False), (200.0, True)])
def test_a_way_on_which_half_of_the_recordings_fell_is_left_for_one_that_is_longer(paths, cost, safe):
    episodes = two_ways()
    graph = knowing_falls(build(episodes.observations, episodes, 0.1, recordings=True), episodes)
    assert graph.falls.tolist() == [len(episodes.observations) - 1]
    rewards = goal(graph, np.linalg.norm(episodes.observations - (6.0, 0.0), axis=1), 0.1).rewards
    routes = solve(graph, rewards, 0.95, paths=paths, fall_cost=cost)
    path = graph.states[routes.path(int(graph.labels[0]))]
    assert (path[:, 1].max() == 2.0) == safe
    assert path[-1].tolist() == [6.0, 0.0]


@pytest.mark.parametrize(
    ("slowly", "cost", "around"), [(1, 0.0, True), (1, 9.0, True), (6, 0.0, True), (6, 9.0, False)]
)
def test_a_way_of_fewer_edges_is_left_where_recordings_stood_about(slowly, cost, around):
    detour = [(0.0, 0.0), (-1.0, -1.0), (-1.0, -2.0), (0.0, -2.0), (1.0, -2.0), *((x, 0.0) for x in range(1, 7))]
    other = two_ways(slowly)[1].observations
    episodes = Episodes.from_list([recording(detour, 1.0), recording(other, 1.0)])
    graph = build(episodes.observations, episodes, 0.1)
    rewards = goal(graph, np.linalg.norm(episodes.observations - (6.0, 0.0), axis=1), 0.1).rewards
    path = graph.states[solve(graph, rewards, 0.95, slow_cost=cost).path(int(graph.labels[0]))]
    assert (path[:, 1].max() == 2.0) == around


@pytest.mark.parametrize(
    ("rewards", "terminated", "fell"),
    [
        ([[0, 0, 1], [0, 0, 0]], [True, True], [False, True]),  # paid where the goal is
        ([[-1, -1, 0], [-1, -1, -1]], [True, False], [False, False]),  # the second ran out of time
        ([[3.0, 3.1, 2.9], [3.2, 3.0, 3.1]], [True, True], [True, True]),  # paid for every step until it falls
        ([[0, 0, 0], [0, 0, 0]], [True, True], [False, False]),  # nothing tells
    ],
)
def test_a_fall_is_an_end_without_success(rewards, terminated, fell):
    episodes = Episodes.from_list(
        [
            (np.zeros((4, 1)), np.zeros((3, 1)), paid, end, not end)
            for paid, end in zip(rewards, terminated, strict=True)
        ]
    )
    assert ended_in_falls(episodes).tolist() == fell


def test_what_lies_is_for_the_task_to_say():
    episodes = two_ways()
    graph = build(episodes.observations, episodes, 0.1)
    lying = knowing_falls(graph, episodes, lambda states: states[:, 1] == 2.0)
    assert set(lying.falls) == {*np.flatnonzero(episodes.observations[:, 1] == 2.0), len(graph.labels) - 1}
    with pytest.raises(VMGError, match=r"true or false for each of 20 states, not float32 of the shape \(20, 2\)"):
        knowing_falls(graph, episodes, lambda states: states)


def test_routes_with_steps_that_cost_more_than_one_are_the_same_again():
    episodes = two_ways()
    graph = knowing_falls(build(episodes.observations, episodes, 0.1, recordings=True), episodes)
    routes = solve(graph, reward(graph, episodes), 0.95, paths="recordings", fall_cost=500.0)
    assert routes.costs.max() > STEP
    again = RecordingRoutes.from_arrays(graph, routes.arrays())
    assert np.array_equal(again.table.costs, routes.table.costs)
