"""Bodies stray from their plans: ways keep a distance from what is to be avoided, and nobody enters across it."""

import numpy as np
import pytest
from levers import Room, follow, place, walk, written_agent

from vmg.act.rules import LOOKED_AT, StraightWays, _nearness
from vmg.data.episodes import Episodes
from vmg.goals import near, within

START, GOAL = (0.0, 0.0), (4.0, 0.0)
BOX = within([1.5, -1.0], [2.5, 0.0], columns=(0, 1), name="the box")
goal = place(*GOAL, name="the goal")


def agent_of(*ways, paths="observed"):
    rng = np.random.default_rng(0)
    return written_agent(Episodes.from_list([walk(way, rng, Room(places=())) for way in ways], source="ways"), paths)


def room_at(x, y):
    room = Room(places=())
    room.state = np.float32([x, y])
    return room


PASSING = [(1.2, 0.1), (2.8, 0.1), GOAL]
AROUND = [(1.2, 1.5), (2.8, 1.5), GOAL]


@pytest.mark.parametrize("paths", ["edges", "recordings", "observed"])
def test_a_way_keeps_its_distance_where_it_can(paths):
    """The way past the box is shorter; where it is the only one, it is taken."""
    agent = agent_of(PASSING, AROUND, paths=paths)
    freely, off = (follow(agent.plan(each).policy(), room_at(*START), 60, goal) for each in (goal, goal.avoiding(BOX)))
    assert freely[:, 1].max() < 0.5
    assert off[:, 1].max() > 1.2
    alone = agent_of(PASSING, paths=paths).plan(goal.avoiding(BOX))
    assert alone.explain(START).possible
    assert goal.reached(follow(alone.policy(), room_at(*START), 60, goal)[-1:])[0]


def test_near_is_as_far_as_a_body_comes_while_it_heads_for_a_subgoal():
    agent = agent_of(PASSING, AROUND)
    recorded = agent.plan(goal)._data
    arrivals = recorded.graph.arrivals
    away = BOX.distances(recorded.observations)
    for steps in (1, 4):
        changes = [away[row] - away[row - 1] for row in arrivals]
        reach = steps * np.sqrt(np.mean(np.square(changes)))
        expected = [max(1 - away[row] / reach, 0.0) for row in arrivals]
        np.testing.assert_allclose(_nearness(recorded, BOX, steps), expected, atol=1e-6)
    never = near([9.0, 9.0], columns=(0, 1), tolerance=0.1)
    assert not _nearness(recorded, never, 2).any()


def test_a_straight_way_passes_a_region_as_a_slow_twin_says():
    plan = agent_of(PASSING, AROUND).plan(goal.avoiding(BOX))
    other = near([3.0, 1.5], columns=(0, 1), tolerance=0.2)
    ways, rng = StraightWays((BOX, other), plan.routes, 3), np.random.default_rng(0)
    for _ in range(5):
        here, rows = rng.uniform(-1, 3, 2).astype(np.float32), rng.integers(0, len(plan.graph.labels), 20)
        expected = []
        for row in rows:
            ends = plan.routes.states(np.array([row, plan.routes.ahead(np.array([row], np.int32), 3)[0]], np.int32))
            places = [here + share * (end - here) for end in ends for share in np.arange(1, LOOKED_AT + 1) / LOOKED_AT]
            expected.append(any(each.reached(np.float32([p]))[0] for each in (BOX, other) for p in places))
        assert ways(here, rows).tolist() == expected


def test_nobody_enters_across_what_is_to_be_avoided():
    """From a place that nothing recorded leads on from, the nearest way on lies behind the box."""
    agent = agent_of([(3.0, -0.5), GOAL], [(0.0, 1.5), (2.8, 1.5), GOAL], [(1.0, -3.0), (1.0, -0.5)])
    beside = room_at(1.0, -0.5)
    freely = follow(agent.plan(goal).policy(), room_at(1.0, -0.5), 80, goal)
    states = follow(agent.plan(goal.avoiding(BOX)).policy(), beside, 80, goal)
    assert BOX.reached(freely).any()
    assert not BOX.reached(states).any()
    assert goal.reached(states[-1:])[0]


def test_where_every_straight_way_is_barred_it_stays():
    wall = within([2.0, -9.0], [2.2, 9.0], columns=(0, 1), name="the wall")
    agent = agent_of([START, (1.0, 0.5)], PASSING)
    assert not wall.reached(follow(agent.plan(goal.avoiding(wall)).policy(), room_at(*START), 60)).any()
