"""Placing: what to put where next, on play with things that only move when they are handled. Nothing is learned."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from levers import linear

from vmg.act.arriving import Heading
from vmg.act.placing import placing
from vmg.act.settings import ActConfig
from vmg.act.struggling import LONG
from vmg.agent.agent import Agent
from vmg.agent.settings import AgentConfig
from vmg.data.episodes import Episodes
from vmg.data.facts import DataFacts
from vmg.data.rests import SETTLED
from vmg.goals import near
from vmg.goals.objectives import Objective, Together
from vmg.graph import GraphConfig, SolveConfig
from vmg.learn import LearnConfig
from vmg.networks import Placer

WAIT = SETTLED + 2
"""Steps for which nothing is handled."""


def play(things: list[np.ndarray]) -> Episodes:
    """Episodes of a hand, in column 0, that puts things where each row has them, one row after the other."""
    episodes = []
    for rows in things:
        places = np.repeat(np.asarray(rows, np.float32), WAIT, axis=0)
        hand = np.random.default_rng(len(places)).uniform(-1, 1, (len(places), 1))
        steps = len(places) - 1
        episodes.append((np.hstack([hand, places]), hand[1:], np.zeros(steps), False, True))
    return Episodes.from_list(episodes, source="play")


def placer(episodes: Episodes, **settings: Any) -> Agent:
    """An agent that handles all columns but the first; its networks say nothing."""
    size = episodes.observation_size
    objects = tuple(range(1, size))
    scaling = {"mean": np.zeros(size, np.float32), "std": np.ones(size, np.float32)}
    goals = {"spread": scaling["std"], "relative": np.float32(1)}
    seen = {"columns": np.arange(size, dtype=np.int32)}
    weights = {
        "encoder_input": scaling,
        "state_encoder": linear(np.eye(size)),
        "translator_input": scaling | goals | seen,
        "translator": linear(np.zeros((2 * size, 1))),
        "placer_input": scaling | goals | {"columns": np.array(objects, np.int32), "steps": np.float32(1)},
        "placer": linear(np.vstack([np.zeros((size, 1)), np.ones((size - 1, 1))])),
    }
    config = AgentConfig(
        learn=LearnConfig(low_level=Placer(inputs="raw relative", objects=objects), metric_dimension=size),
        **{"graph": GraphConfig(radius=0.2, goal_columns=objects), "solve": SolveConfig()} | settings,
    )
    return Agent(config, DataFacts.of(episodes), 0, weights).build(episodes)


def wanted(*numbers: float, tolerance: float = 0.5) -> Objective:
    """Each thing in its place."""
    parts = tuple(near([each], columns=(1 + i,), tolerance=tolerance) for i, each in enumerate(numbers))
    return Objective("all in their places", Together(parts))


def put(agent: Agent, objective: Objective, start: list[float], most: int = 20) -> list[list[float]]:
    """Where things lie, if whatever is to be put somewhere next comes to lie there at once."""
    found, ways = placing(agent.plan(objective)), [list(start)]
    assert found is not None
    while len(ways) <= most and not objective.reached(np.array([[0.0, *ways[-1]]], np.float32))[0]:
        goal = found.next(np.array(ways[-1]))
        ways.append(np.where(np.isnan(goal), ways[-1], goal).tolist())
    return ways


@pytest.mark.parametrize(("start", "goal"), [((0, 5), (0, 5)), ((0.2, 5.3), (0, 5))])
def test_what_lies_where_it_is_wanted_stays(start, goal):
    episodes = play([[(0, 0), (1, 0), (1, 5), (0, 5)], [(0, 5), (1, 5), (1, 0), (0, 0), (1, 0)]])
    found = placing(placer(episodes).plan(wanted(*goal)))
    assert np.isnan(found.next(np.array(start, float))).all()


@pytest.mark.parametrize("noise", [0.0, 0.01, 0.1])
def test_one_piece_follows_another_though_sensors_are_noisy(noise):
    """A hand that does what it is told, in small steps: the lock is opened, the drawer moved, the lock shut."""
    episodes = play([[(0, 0), (1, 0), (1, 5), (0, 5)], [(0, 5), (1, 5), (1, 0), (0, 0), (1, 0)]])
    found, rng = placing(placer(episodes).plan(wanted(0, 5))), np.random.default_rng(0)
    world, heading, order = np.zeros(2), Heading(*[np.zeros(1, np.int32)] * 4, np.zeros((1, 3), np.float32)), []
    for _ in range(120):
        seen = np.float32([[0, *(world + rng.normal(0, noise, 2))]])
        goal = found.headed([0], seen, heading).goals[0, 1:]
        moving = np.abs(goal - world) > 0.4  # the rest is noise
        order += [int(moving.argmax())] * bool(moving.any())
        world += np.clip(goal - world, -0.5, 0.5) * moving
    assert np.abs(world - [0, 5]).max() < 0.5
    assert [thing for thing, before in zip(order, [-1, *order], strict=False) if thing != before] == [0, 1, 0]


def test_a_column_that_trembles_tells_no_kinds():
    """Whether a thing lies a hair higher or lower says nothing of where it can be put."""
    rng = np.random.default_rng(0)
    rows = [(x, 0.5 + height) for x, height in zip(rng.uniform(0, 9, 40), rng.normal(0, 0.02, 40), strict=True)]
    agent = placer(play([np.array(rows)]))
    goal = near([4, 0.5], columns=(1, 2), tolerance=0.5)
    for start in rng.uniform(0, 9, 10):
        assert len(put(agent, goal, [start, 0.5 + rng.normal(0, 0.05)])) <= 4


def test_what_has_to_come_first_comes_first():
    """The drawer (second) was only ever moved while the lock (first) was open, 1."""
    episodes = play([[(0, 0), (1, 0), (1, 5), (0, 5)], [(0, 5), (1, 5), (1, 0), (0, 0), (1, 0)]])
    assert put(placer(episodes), wanted(0, 5), [0, 0]) == [[0, 0], [1, 0], [1, 5], [0, 5]]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**16))
def test_the_fewest_pieces_are_put_together(seed):
    """Buttons that turn their neighbours, too, pressed at random: as few presses as a search through all of them."""
    rng = np.random.default_rng(seed)
    turns = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]])
    rows = [np.zeros(3, int)]
    for press in rng.integers(0, 3, 60):
        rows.append(rows[-1] ^ turns[press])
    edges = {(tuple(a), tuple(b)) for a, b in pairwise(rows)}
    goal = rows[rng.integers(1, len(rows))]
    distances, frontier = {tuple(goal): 0}, [tuple(goal)]
    for here in frontier:
        for before, after in edges:
            if after == here and before not in distances:
                distances[before] = distances[here] + 1
                frontier.append(before)
    way = put(placer(play([np.array(rows)])), wanted(*goal), list(rows[0]))
    assert len(way) - 1 == distances[tuple(rows[0])]
    assert all((tuple(map(round, a)), tuple(map(round, b))) in edges for a, b in pairwise(way))


def test_a_place_that_nothing_was_put_in_is_headed_for_straight():
    episodes = play([[(0,), (3,), (1,), (4,)]])
    assert put(placer(episodes), wanted(9), [1])[-1] == [9]


def test_what_lies_otherwise_than_recorded_is_placed_at_once():
    """No piece began at 6; that beginning at 5 ends where it is wanted, and is shorter than two."""
    episodes = play([[(x,) for x in (0, 5, 9, 0, 5, 9, 0)]])
    assert put(placer(episodes), wanted(9), [5.9]) == [[5.9], [9.0]]


def test_things_are_headed_for_until_they_rest():
    """In the hand a thing passes many places; what it is meant for stays the same, and the hand itself is left open."""
    agent = placer(play([[(0, 0), (0, 4), (4, 4), (4, 0), (0, 0)]]))
    found = placing(agent.plan(wanted(4, 4)))
    batch = np.zeros((1, 3), np.float32)
    decisions = agent.plan(wanted(4, 4)).policy().decide(batch[0])
    assert np.isfinite(decisions.actions).all()
    heading = Heading(*[np.zeros(1, np.int32)] * 4, batch)
    goals = [found.headed([0], batch + np.float32([0, 0, height]), heading).goals[0] for height in (0, 1, 2, 3)]
    assert [goal[1:].tolist() for goal in goals] == [[0, 4]] * 4
    assert all(np.isnan(goal[0]) for goal in goals)


@pytest.mark.parametrize(
    "objective", [near([0.5], columns=(0,), tolerance=0.1), near([0, 1], columns=(0, 1), tolerance=1)]
)
def test_what_is_not_about_things_alone_is_not_placed(objective):
    agent = placer(play([[(0,), (3,), (1,)]]))
    assert placing(agent.plan(objective)) is None
    assert placing(agent.plan(near([3], columns=(1,), tolerance=0.5).costing(2, objective))) is None
    assert placing(agent.plan(near([3], columns=(1,), tolerance=0.5))) is not None


def test_other_low_level_policies_place_nothing():
    agent = placer(play([[(0,), (3,), (1,)]]))
    plan = agent.plan(near([3], columns=(1,), tolerance=0.5))
    other = replace(plan, body=replace(plan.body, low_level=replace(plan.body.low_level, objects=())))
    assert placing(other) is None


def few(n: int = 30, **settings: Any) -> Agent:
    """Recordings that put a thing from anywhere to anywhere, once, on the table or on a shelf."""
    rng = np.random.default_rng(0)
    starts, ends = rng.uniform(0, 9, (2, n))
    return placer(play([[(starts[i], 0), (ends[i], i % 2)] for i in range(n)]), **settings)


@settings(max_examples=20, deadline=None)
@given(st.floats(0, 9), st.floats(0, 9))
def test_what_recordings_put_down_once_is_put_where_it_is_wanted_at_once(start, goal):
    """A row of pieces of several recordings would be a detour to where one of them happens to begin."""
    ways = put(few(), near([goal, 0], columns=(1, 2), tolerance=0.5), [start, 0])
    assert len(ways) <= 2
    assert abs(ways[-1][0] - goal) <= 0.5


def test_a_lock_is_opened_first_however_short_recordings_are():
    episodes = play([[(0, 0), (1, 0)], [(1, 0), (1, 5)], [(1, 5), (0, 5)]])
    assert put(placer(episodes), wanted(0, 5), [0, 0]) == [[0, 0], [1, 0], [1, 5], [0, 5]]


def test_an_explanation_says_where_things_are_put():
    """The way that routes would take is not what is followed."""
    plan = few().plan(near([4, 0], columns=(1, 2), tolerance=1))
    answer = plan.explain(np.float32([0, 7, 0]))
    assert answer.possible
    assert dict(answer.placed)[1] == 4
    assert "things are put at 4 in column 1" in str(answer)
    assert not plan.explain(np.float32([0, 4, 0])).placed


def test_who_stands_still_beside_a_thing_is_pushed():
    """As on routes; but not who stands where it has nothing left to place."""
    agent = few(
        graph=GraphConfig(radius=0.2, goal_columns=(1, 2), recordings=True),
        solve=SolveConfig(paths="observed", ties="nearest"),
        act=ActConfig(keep_path=True, noise=0.1, noise_when="stuck"),
    )
    policy = agent.plan(near([4, 0], columns=(1, 2), tolerance=0.3)).policy()
    for thing, pushed in ((4.5, True), (4, False)):
        policy.begin(np.float32([0, thing, 0]))
        actions = [policy.act(np.float32([0, thing, 0])).item() for _ in range(2 * WAIT + 4)]
        assert len(set(actions[: LONG - 1])) == 1
        assert (len(set(actions)) > 1) == pushed
