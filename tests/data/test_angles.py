"""Angles that begin again: found where they are, and nowhere else; their steps are those of the angle that goes on."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vmg.data import Episodes, check
from vmg.data.angles import angles, round_the_turn
from vmg.graph import build

LENGTH = 80


def turning(seed: int, n_episodes: int = 20):
    """Headings that turn to and fro, as they go on for ever."""
    rng = np.random.default_rng(seed)
    ways = [np.clip(rng.normal(0, 0.3) + rng.normal(0, 0.2, LENGTH), -1.5, 1.5) for _ in range(n_episodes)]
    return [rng.uniform(-9, 9) + np.concatenate([[0.0], way.cumsum()]) for way in ways]


def recorded(ways, seen) -> Episodes:
    rng, parts = np.random.default_rng(0), []
    for way in ways:
        places = rng.normal(0, 1, (len(way), 2)).cumsum(0)
        parts.append((np.column_stack([places, seen(way)]), np.diff(places, axis=0), np.zeros(LENGTH), False, True))
    return Episodes.from_list(parts)


FORMS = {
    "radians": (lambda way: (way + np.pi) % (2 * np.pi) - np.pi, 2 * np.pi, 1.0),
    "degrees": (lambda way: np.degrees(way) % 360, 360.0, 180 / np.pi),
}


@pytest.mark.parametrize("form", FORMS)
@given(seed=st.integers(0, 1000))
@settings(max_examples=10, deadline=None)
def test_steps_are_those_of_the_angle_that_goes_on(form, seed):
    seen, turn, unit = FORMS[form]
    ways = turning(seed)
    episodes = recorded(ways, seen)
    assert angles(episodes.observations, episodes.lengths) == {2: pytest.approx(turn)}
    steps = np.concatenate([np.diff(way) for way in ways]) * unit
    rows = episodes.step_observation
    changes = episodes.observations[rows + 1].astype(np.float64) - episodes.observations[rows]
    np.testing.assert_allclose(round_the_turn(changes, {2: turn})[:, 2], steps, atol=1e-3 * unit)
    sight = build(episodes.observations[:, :2], episodes, 1.0, recordings=True).sight
    assert sight.steps[2] == pytest.approx(np.sqrt(np.mean(steps**2)), rel=1e-3)
    assert not sight.objects.any()


@given(seed=st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_apart_is_the_shorter_way_round(seed):
    rng = np.random.default_rng(seed)
    episodes = recorded(turning(seed), FORMS["radians"][0])
    sight = build(episodes.observations[:, :2], episodes, 1.0, recordings=True).sight
    one, other = (episodes.observations[rng.integers(0, len(episodes.observations), 50)] for _ in range(2))
    by_hand = np.abs(np.angle(np.exp(1j * (one[:, 2].astype(np.float64) - other[:, 2])))) / sight.steps[2]
    np.testing.assert_allclose(sight.apart(one, other)[:, 2], by_hand, rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(sight.apart(one, other), sight.apart(other, one))


@pytest.mark.parametrize(
    "seen",
    [
        lambda way: way,
        np.sin,
        lambda way: 2 * np.pi * (np.sin(way) > 0),  # a switch
        lambda way: np.random.default_rng(0).uniform(-np.pi, np.pi, len(way)),  # noise
        lambda way: (way % 5) / 5,  # what begins again, but is no angle
        lambda way: np.clip(way, -np.pi, np.pi),
    ],
)
def test_what_is_no_angle_is_taken_as_it_is(seen):
    episodes = recorded(turning(0), seen)
    assert angles(episodes.observations, episodes.lengths) == {}


@given(seed=st.integers(0, 1000), noise=st.floats(0.001, 0.1))
@settings(max_examples=10, deadline=None)
def test_what_hardly_changes_within_an_episode_is_said(seed, noise):
    """A number drawn anew in each episode, with noise on it; what moves is not said to be so."""
    rng, plain = np.random.default_rng(seed), recorded(turning(seed, 30), np.sin)
    wind = np.repeat(rng.normal(0, 1, 30), LENGTH + 1) + noise * rng.normal(0, 1, len(plain.observations))
    windy = replace(plain, observations=np.column_stack([wind, plain.observations]))
    assert "Observation column 0 differs between episodes and hardly within one" in " ".join(check(windy))
    assert "hardly within one" not in " ".join(check(plain))


def test_an_angle_is_said_with_sine_and_cosine_that_say_the_same():
    for form, (seen, _, _) in FORMS.items():
        episodes = recorded(turning(1), seen)
        said = " ".join(check(episodes))
        assert "Observation column 2 is an angle that begins again" in said
        assert "as if two episodes were joined" not in said
        code = re.search(r"np\.column_stack\(.*?\)\]\)", said)
        assert code
        told = eval(code[0], {"np": np, "o": episodes.observations})
        angle = episodes.observations[:, 2] if form == "radians" else np.radians(episodes.observations[:, 2])
        np.testing.assert_allclose(told[:, 2:], np.column_stack([np.sin(angle), np.cos(angle)]), atol=1e-5)
        turned = [(rows, np.zeros((LENGTH, 1)), np.zeros(LENGTH), False, True) for rows in told.reshape(20, -1, 4)]
        assert "angle" not in " ".join(check(Episodes.from_list(turned)))
