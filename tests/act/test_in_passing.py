"""Who cannot arrive: what is paid in passing is no place to stay in, things are not headed for straight, and who has
tried in vain goes by the routes.
"""

import numpy as np
import pytest
from acting_cases import agent, episodes, follower

from vmg.act.arriving import LONG, PATIENCE, Arrival, Heading, best_paid, can_go_straight
from vmg.data import Episodes
from vmg.goals import near
from vmg.graph import SolveConfig, build
from vmg.graph.rewards import find_goal
from vmg.graph.solving import solve_edges

CORNER = near([1.0, 1.0], columns=(0, 1), tolerance=0.45)


def test_what_is_paid_while_something_is_used_up_is_no_place_to_stay_in():
    """A prize for every step of some that are paid in a row, of which none is paid for as long as staying takes."""
    lengths = agent().built.lengths
    late, long = np.concatenate([np.arange(n) for n in lengths]), np.repeat(lengths > 5 * LONG, lengths)
    body, recorded = agent().plan(CORNER).body, agent().plan(CORNER).recorded
    most = 2 * LONG + 1
    for paid, stays in ((round(0.7 * most), False), (most + 4, True)):
        rewards = (long & (late >= 3) & (late < 3 + paid)).astype(float)
        assert (best_paid(body, recorded, rewards)[1] is not None) == stays


def test_whose_route_ended_elsewhere_goes_by_the_routes_once_it_has_given_a_final_state_up():
    """And until then, or where its route did not end elsewhere, it is given one final state after the other."""
    plan = follower().plan(CORNER)
    graph, observations = plan.graph, episodes().observations
    row = int(np.flatnonzero(plan.goal_vertices[graph.labels] & ~CORNER.reached(observations))[0])
    vertex, mark = graph.labels[row : row + 1], np.full((1, observations.shape[1]), 7, np.float32)
    feature = plan.routes.features(np.array([row], np.int32))
    for missing, left_to_its_route in (([], 0), ([0], 2 * PATIENCE)):
        arrival, by_the_route = Arrival(plan, plan.routes.finals), 0
        for _ in range(3 * PATIENCE):
            heading = Heading(vertex, np.array([row]), vertex, vertex, mark.copy())
            headed, there = arrival.headed([0], observations[row : row + 1], feature, heading, feature, missing)
            by_the_route += int((headed.goals == mark).all())
            assert not there
        assert by_the_route == pytest.approx(left_to_its_route, abs=1)


def knobs(n_episodes: int = 20, steps: int = 60, seed: int = 0) -> Episodes:
    """A hand in column 0 that always moves, and a knob in column 1 that is turned in three steps of ten, to and fro."""
    rng, parts = np.random.default_rng(seed), []
    for _ in range(n_episodes):
        turned = np.where(np.arange(steps) % 20 >= 14, np.where(np.arange(steps) // 20 % 2 == 0, 1.0, -1.0), 0.0)
        knob = np.concatenate([[0.0], np.cumsum(turned)])
        parts.append((np.column_stack([rng.normal(0, 1, steps + 1), knob]), np.zeros((steps, 1))))
    return Episodes.from_list([(*part, np.zeros(steps), False, True) for part in parts])


def test_a_knob_is_no_less_a_thing_where_most_edges_turn_it():
    """Routes that look at recordings know what single steps change: a coarse graph joins only what a turn leads to."""
    turned = knobs()
    graph = build(turned.observations * np.float32([1e-3, 1]), turned, 0.4, recordings=True)
    goal = find_goal(graph, np.abs(turned.observations[:, 1] - 6.0), 0.1, kind="reach", variant="mean")
    straight = {}
    for paths in ("recordings", "observed"):
        routes = solve_edges(graph, goal.rewards, SolveConfig(paths=paths))
        straight[paths] = can_go_straight(graph, np.float32([[0.0, 6.0], [0.5, 6.0]]), routes)
    assert straight == {"recordings": True, "observed": False}
