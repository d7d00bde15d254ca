"""Rests: where things come to lie still again, against the obvious search; and the pieces between them."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vmg.base.errors import VMGError
from vmg.data.episodes import Episodes
from vmg.data.rests import SETTLED, find_pieces, noise, steps_to_rest

MOVES = st.lists(st.lists(st.tuples(st.booleans(), st.integers(1, 2 * SETTLED)), min_size=1, max_size=6), min_size=1)


def recorded(moves: list[list[tuple[bool, int]]]) -> Episodes:
    """A robot that always moves in column 0, and a thing in column 1 that moves for some steps and lies for others."""
    episodes = []
    for stretches in moves:
        steps = np.concatenate([np.full(n, float(moving)) for moving, n in stretches])
        thing, robot = np.concatenate([[0.0], steps]).cumsum(), np.arange(len(steps) + 1)
        actions = np.zeros((len(steps), 1))
        episodes.append((np.stack([robot, thing], 1), actions, np.zeros(len(steps)), False, True))
    return Episodes.from_list(episodes, source="play")


def rests_of(thing: np.ndarray) -> list[int]:
    """The rows of an episode in which its thing comes to rest, searched for one after the other."""
    return [
        row
        for row in range(1, len(thing))
        if thing[row] != thing[row - 1] and (thing[row : row + SETTLED + 1] == thing[row]).all()
        if row + 1 < len(thing)  # cut in mid-air
    ]


@given(MOVES)
def test_every_step_knows_when_things_come_to_rest(moves):
    """For every step of every episode, as a search through its own episode says; other episodes do not matter."""
    episodes = recorded(moves)
    expected = []
    for episode in episodes:
        rests = rests_of(episode.observations[:, 1])
        expected += [min((rest - t for rest in rests if rest > t), default=0) for t in range(len(episode))]
    assert steps_to_rest(episodes, (1,)).tolist() == expected


@given(MOVES)
def test_pieces_lead_from_rest_to_rest(moves):
    """Pieces of an episode begin where it does, follow each other, and end where things come to rest."""
    episodes = recorded(moves)
    expected = []
    for episode, first in zip(episodes, episodes.first_observation, strict=False):
        rests = [0, *rests_of(episode.observations[:, 1])]
        expected += [(first + here, first + there) for here, there in pairwise(rests)]
    pieces = find_pieces(episodes.observations, episodes.lengths, (1,))
    assert list(zip(*pieces, strict=True)) == expected
    assert (pieces.steps > 0).all()


def test_what_trembles_lies_still():
    episodes = recorded([[(True, 5), (False, 20), (True, 5), (False, 20)]])
    trembling = episodes.observations + np.random.default_rng(0).uniform(0, 0.01, episodes.observations.shape)
    again = Episodes.from_list([(trembling, episodes.actions, episodes.rewards, False, True)], source="play")
    assert (steps_to_rest(again, (1,)) == steps_to_rest(episodes, (1,))).all()


def test_a_column_that_only_trembles_hides_no_rest():
    episodes = recorded([[(True, 5), (False, 20), (True, 5), (False, 20)]])
    noise = np.random.default_rng(0).normal(0, 1e-7, (len(episodes.observations), 1))
    again = Episodes.from_list(
        [(np.hstack([episodes.observations, noise]), episodes.actions, episodes.rewards, False, True)], source="play"
    )
    assert (steps_to_rest(again, (1, 2)) == steps_to_rest(episodes, (1,))).all()


def test_columns_that_are_not_there_are_named():
    with pytest.raises(VMGError, match=r"columns 0 to 1, but things are asked for in \[2\]"):
        steps_to_rest(recorded([[(True, 3)]]), (2,))


@pytest.mark.parametrize("size", [0.001, 0.01, 0.05])
def test_noise_on_a_sensor_does_not_hide_that_a_thing_lies_still(size):
    """In every step the numbers change, but those of a thing at rest go back; those of a robot on its way add up."""
    rng = np.random.default_rng(0)
    clean = recorded([[(False, 20), (True, 5), (False, 20), (True, 3), (False, 12)]] * 20)
    noisy = clean.observations + rng.normal(0, size, clean.observations.shape).astype(np.float32)
    pieces = find_pieces(noisy, clean.lengths, (1,))
    assert pieces.of_the_middle(clean.lengths) == 2
    assert [each.tolist() for each in pieces] == [
        each.tolist() for each in find_pieces(clean.observations, clean.lengths, (1,))
    ]
    robot, thing = noise(noisy, clean.lengths, (0, 1))
    assert robot == 0
    assert 3 * size < thing < 10 * size
    assert not noise(clean.observations, clean.lengths, (0, 1)).any()
