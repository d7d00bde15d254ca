"""The radius tells apart where objects lie: those that begin anywhere by their own steps, all others by their way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vmg.agent.auto.graphs import AWAY, BESIDE, LEFT, MIXED, Tried, _mixed, _told_apart, choose_graph
from vmg.agent.auto.learning import held_out_of
from vmg.data import Episodes
from vmg.graph import build

STEPS = 40


def parcels(anywhere: float, n_episodes: int = 60, seed: int = 0) -> Episodes:
    """A body in column 0 that comes by a parcel in column 1 and takes it along; it begins anywhere, or in one place."""
    rng, parts = np.random.default_rng(seed), []
    for _ in range(n_episodes):
        body = np.cumsum(rng.uniform(0.0, 0.5, STEPS + 1))
        carried = np.maximum(body - body[STEPS * 3 // 4], 0)
        parts.append((np.column_stack([body, anywhere * rng.uniform(0, 10) + carried]), np.zeros((STEPS, 1))))
    return Episodes.from_list([(*part, np.zeros(STEPS), False, True) for part in parts])


def chosen(episodes: Episodes, seen: float):
    """What is chosen where the metric space has the parcel so far apart."""
    known, held_out = held_out_of(episodes)
    features, held = (each.observations * np.array([1, seen], np.float32) for each in (known, held_out))
    return choose_graph(known, features, held_out, held), known, features


@pytest.mark.parametrize("anywhere", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("radius", [0.1, 0.5, 2.0])
def test_what_is_mixed_is_counted_as_by_hand(anywhere, radius):
    episodes = parcels(anywhere, n_episodes=8)
    graph = build(episodes.observations * np.array([1, 0.2], np.float32), episodes, radius, recordings=True)
    sight, count = graph.sight, 0
    assert sight.objects.tolist() == [False, True]
    starts = [
        first for first, n in zip(episodes.first_observation, episodes.lengths, strict=False) for _ in range(n + 1)
    ]
    parcel = episodes.observations[:, 1]
    for row, label in enumerate(graph.labels):
        other = graph.rows[label]
        apart, began = abs(parcel[row] - parcel[other]), abs(parcel[starts[row]] - parcel[starts[other]])
        beside = BESIDE * sight.steps[1]
        count += apart > AWAY * sight.widths[1] or (apart > beside and began > beside)
    assert _mixed(graph, episodes, sight) == pytest.approx(count / len(graph.labels))


def test_parcels_that_lie_anywhere_take_a_finer_radius():
    found, known, features = chosen(parcels(1.0), seen=0.2)
    assert "tells apart where objects are" in found.choices[0].why
    graph = build(features, known, found.radius, recordings=True)
    beside = np.abs(known.observations - graph.states[graph.labels])[:, 1] > BESIDE * graph.sight.steps[1]
    assert beside.mean() <= MIXED


def test_a_parcel_that_begins_in_one_place_takes_none():
    """However far along its way it is."""
    found, *_ = chosen(parcels(0.0), seen=1.0)
    assert "tells apart" not in found.choices[0].why


SHARES = st.floats(0, 1)


@given(st.lists(st.tuples(SHARES, SHARES, SHARES), min_size=2, max_size=14), st.integers(0, 13))
def test_no_radius_is_told_apart_at_the_price_of_the_graph(shares, place):
    """A third of what is covered and reached is left; whatever leaves that and tells apart is taken as ever."""
    tried = [Tried(float(i + 1), covered, reached, 1.0, mixed) for i, (covered, reached, mixed) in enumerate(shares)]
    wanted = tried[place % len(tried)]
    found, why = _told_apart(tried, wanted)
    apart = [each for each in tried if each.mixed <= MIXED and each.radius < wanted.radius]
    assert found.covered >= LEFT * wanted.covered
    assert found.reached >= LEFT * wanted.reached
    assert found.radius <= wanted.radius
    if wanted.mixed <= MIXED or not apart:
        assert found == wanted
    elif apart[-1].covered >= LEFT * wanted.covered and apart[-1].reached >= LEFT * wanted.reached:
        assert found == apart[-1]
        assert "tells apart" in why
    else:
        assert "too little to plan on" in why


def test_a_parcel_that_only_a_hopeless_radius_tells_apart_is_told_apart_no_more_than_can_be():
    found, *_ = chosen(parcels(1.0), seen=1e-3)
    covered = 1 - dict(found.choices[0].tried)[found.choices[0].value]
    assert covered >= LEFT * 0.9
