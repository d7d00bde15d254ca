"""Columns that nobody handles: they stand still in most steps, and change wherever the robot is."""

import numpy as np
import pytest

from vmg.agent.auto.graphs import choose_graph
from vmg.agent.auto.learning import held_out_of
from vmg.agent.auto.unhandled import unhandled_columns
from vmg.agent.graph_file import graph_arrays, graph_of
from vmg.base.errors import VMGError
from vmg.data import Episodes
from vmg.graph import build, extend

STEPS, LAMP, BATTERY, WEATHER = 60, 2, 3, 4


def house(seed: int, n_episodes: int = 60) -> Episodes:
    """A cart that drives about; at one wall it turns a lamp. Its battery is told in percent, the weather in degrees."""
    rng, parts = np.random.default_rng(seed), []
    for _ in range(n_episodes):
        place, way, lamp = rng.uniform(0, 4, 2), rng.uniform(-1, 1, 2), 0.0
        left, warm, rows, actions = rng.uniform(50, 100), rng.uniform(0, 20), [], []
        for _ in range(STEPS + 1):
            rows.append([*place, lamp, np.floor(left), np.floor(warm)])
            way = np.clip(0.8 * way + rng.normal(0, 0.4, 2), -1, 1)
            at_the_wall = place[0] > 3.7
            place = np.clip(place + 0.3 * way, 0, 4)
            lamp = 1 - lamp if place[0] > 3.7 and not at_the_wall else lamp
            left, warm = left - rng.uniform(0, 0.3), warm + rng.normal(0, 0.2)
            actions.append(way)
        parts.append((np.array(rows), np.array(actions[:-1]), np.zeros(STEPS), False, True))
    return Episodes.from_list(parts)


def graph_of_places(episodes: Episodes, unhandled: tuple[int, ...] = ()):
    return build(episodes.observations[:, :2], episodes, 0.5, recordings=True, unhandled=unhandled)


@pytest.mark.parametrize("seed", range(5))
def test_the_weather_is_nobody_s_and_a_lamp_is(seed):
    episodes = house(seed)
    sight = graph_of_places(episodes).sight
    assert np.flatnonzero(sight.objects).tolist() == [LAMP, BATTERY, WEATHER]
    found = unhandled_columns(episodes, sight, (LAMP, BATTERY, WEATHER))
    assert set(found) in ({BATTERY}, {WEATHER}, {BATTERY, WEATHER})


@pytest.mark.parametrize("seed", range(3))
def test_a_lamp_is_handled_before_a_noisy_sensor_too(seed):
    """What its sensor makes of a lamp that nobody touches is no change of it."""
    rng, clean = np.random.default_rng(seed), house(seed)
    noisy = clean.observations + np.float32(rng.normal(0, 0.005, clean.observations.shape) * [0, 0, 1, 0, 0])
    ends = np.cumsum(clean.lengths + 1)
    parts = [
        (noisy[end - n - 1 : end], e.actions, e.rewards, False, True)
        for end, n, e in zip(ends, clean.lengths, clean, strict=True)
    ]
    episodes = Episodes.from_list(parts)
    assert LAMP not in unhandled_columns(episodes, graph_of_places(clean).sight, (LAMP,))


def test_what_changes_by_the_clock_is_nobody_s_although_robots_go_by_it_too():
    """All drive to and fro at the same time, and at that time a bell rings; at one end some of them turn a lamp."""
    rng, parts = np.random.default_rng(0), []
    for _ in range(100):
        way = np.sin(np.arange(STEPS) / 4)[:, None] + rng.normal(0, 0.3, (STEPS, 1))
        place = np.vstack([[0.0], 0.3 * way.cumsum(0)]) + rng.normal(0, 0.3)
        bell = (np.maximum(np.arange(STEPS + 1) + rng.normal(0, 2), 0) // 12) % 5
        lamp = np.maximum.accumulate(place > 2.4) + 0.0
        parts.append((np.column_stack([place, bell, lamp]), way, np.zeros(STEPS), False, True))
    episodes = Episodes.from_list(parts)
    sight = build(episodes.observations[:, :1], episodes, 0.5, recordings=True).sight
    assert sight.objects.tolist() == [False, True, True]
    assert set(unhandled_columns(episodes, sight, (1, 2))) == {1}


def test_where_nothing_is_known_of_the_robot_objects_stay_objects():
    episodes = house(0)
    blind = Episodes.from_list([(each.observations, 0 * each.actions, each.rewards, False, True) for each in episodes])
    assert unhandled_columns(blind, graph_of_places(blind).sight, (LAMP, BATTERY, WEATHER)) == {}
    few = house(0, n_episodes=4)
    assert unhandled_columns(few, graph_of_places(few).sight, (LAMP, BATTERY, WEATHER)) == {}


def test_the_radius_does_not_tell_the_weather_apart():
    """All that the metric space knows is where the cart is; then no radius tells the weather apart."""
    known, held_out = held_out_of(house(0, n_episodes=100))
    features, held = (each.observations[:, :3] for each in (known, held_out))
    found = choose_graph(known, features, held_out, held)
    assert found.unhandled == (BATTERY, WEATHER)
    told = {choice.setting: choice for choice in found.choices}
    assert told["graph.unhandled"].value == "3, 4"
    assert "nobody handles them" in told["graph.unhandled"].why
    assert "The smallest that covers and reaches enough. It covers" in told["graph.radius"].why


def test_what_nobody_handles_is_neither_object_nor_body_and_differs_by_little():
    episodes = house(0)
    graph = graph_of_places(episodes, (WEATHER, BATTERY))
    sight, rows = graph.sight, episodes.observations
    assert np.flatnonzero(sight.objects).tolist() == [LAMP]
    assert not sight.body[[BATTERY, WEATHER]].any()
    apart = sight.apart(rows, rows[::-1])
    spread = rows[:, [BATTERY, WEATHER]].std(0, dtype=np.float64)
    by_hand = np.abs(rows - rows[::-1])[:, [BATTERY, WEATHER]] / spread
    np.testing.assert_allclose(apart[:, [BATTERY, WEATHER]], by_hand, rtol=1e-4)
    same = graph_of_places(episodes).sight
    np.testing.assert_array_equal(apart[:, :3], same.apart(rows, rows[::-1])[:, :3])


def test_it_is_kept_in_files_and_when_episodes_are_added():
    episodes = house(0, n_episodes=6)
    first = episodes.subset(range(4))
    graph = graph_of_places(first, (WEATHER,))
    assert graph_of(graph_arrays(graph), ()).unhandled.tolist() == [WEATHER]
    longer = extend(graph, episodes.observations[:, :2], episodes)
    assert longer.sight.unhandled == (WEATHER,)
    assert "unhandled" not in graph_arrays(graph_of_places(first))


def test_a_column_that_there_is_not_is_refused():
    with pytest.raises(VMGError, match=r"has the columns 0 to 4, but as unhandled are named \[4, 5\]"):
        graph_of_places(house(0, n_episodes=2), (4, 5))
