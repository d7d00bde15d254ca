"""Numbers that are fixed in an episode: those that many episodes share are to agree, those drawn anew do not count."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vmg.data.columns import SHARED
from vmg.data.episodes import Episodes
from vmg.graph import build
from vmg.graph.sight import APART, OTHERWISE, Sight

STEPS = 12


def walks(contexts, seed=0) -> Episodes:
    """A point that walks about, with one number beside it that stays what it is in an episode."""
    rng, parts = np.random.default_rng(seed), []
    for context in contexts:
        places = rng.normal(0, 1, (STEPS + 1, 2)).cumsum(0)
        parts.append((np.column_stack([places, np.full(STEPS + 1, context)]), places[1:], np.zeros(STEPS), False, True))
    return Episodes.from_list(parts)


def seen(episodes: Episodes, columns=2) -> Sight:
    return build(episodes.observations[:, :columns], episodes, 0.7, recordings=True).sight


@given(seed=st.integers(0, 1000), values=st.integers(2, 6), each=st.integers(1, 12))
@settings(max_examples=30, deadline=None)
def test_what_many_episodes_share_is_to_agree(seed, values, each):
    episodes = walks(np.repeat(np.sort(np.random.default_rng(seed).normal(0, 9, values)), each), seed)
    sight = seen(episodes)
    assert sight.objects.tolist() == [False, False, each >= SHARED]
    first = episodes.observations[episodes.first_observation[:-1]]
    apart = sight.apart(first, first[0])[:, 2]
    if each < SHARED:
        assert not apart.any()
    else:
        assert (apart[:each] == 0).all()
        assert (apart[each:] > APART).all()
        assert min(sight.apart(one[None], other)[0, 2] for one in first for other in first if one[2] != other[2]) == (
            pytest.approx(OTHERWISE, rel=1e-3)
        )


@given(seed=st.integers(0, 1000))
@settings(max_examples=10, deadline=None)
def test_without_such_a_number_all_is_as_if_it_were_not_there(seed):
    """A number drawn anew in each episode changes nothing, and neither does one that never changes."""
    drawn = walks(np.random.default_rng(seed).normal(size=12), seed)
    plain, sight = seen(walks([3.0] * 12, seed)), seen(drawn)
    np.testing.assert_array_equal(sight.offsets, plain.offsets)
    np.testing.assert_array_equal(sight.body, plain.body)


def test_a_recording_of_the_same_kind_is_entered_though_another_s_is_nearer():
    """Two kinds, recorded at the same places: from a place between, the nearest recording is the other kind's."""
    parts = []
    for kind in (0.0, 1.0) * 5:
        along = np.linspace(0, 1, 11)
        ways = np.column_stack([along, 0.3 * kind + 0.1 * along, np.full(11, kind)])
        parts.append((ways, np.zeros((10, 1)), np.zeros(10), False, True))
    episodes = Episodes.from_list(parts)
    graph = build(episodes.observations[:, :1], episodes, 0.04, recordings=True)
    gaps = graph.sight.gaps(episodes.observations, np.array([0.5, 0.0, 1.0], np.float32), graph.sight.shares)
    assert episodes.observations[gaps.argmin(), 2] == 1.0
    other = episodes.observations[graph.rows[graph.labels], 2] != episodes.observations[:, 2]
    assert (graph.sight.offsets[other] > APART).all()
