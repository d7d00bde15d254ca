import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_episodes import assert_same, episode_sets, make_episodes

from vmg.base.errors import VMGError
from vmg.data import Episodes, concatenate


@given(episode_sets)
def test_indices_point_at_the_steps_of_each_episode(episodes):
    step = 0
    for i, episode in enumerate(episodes):
        for t in range(len(episode)):
            row = episodes.step_observation[step]
            np.testing.assert_array_equal(episodes.observations[row], episode.observations[t])
            np.testing.assert_array_equal(episodes.observations[row + 1], episode.observations[t + 1])
            assert episodes.step_episode[step] == i
            assert episodes.steps_left[step] == len(episode) - t
            step += 1
    assert step == episodes.n_steps


@given(episode_sets)
def test_returns_are_sums_of_rewards(episodes):
    np.testing.assert_allclose(episodes.returns, [episode.rewards.sum() for episode in episodes])


@given(episode_sets, st.data())
def test_subsets_joined_again_are_the_set(episodes, data):
    cut = data.draw(st.integers(0, len(episodes)))
    parts = [episodes.subset(part) for part in (range(cut), range(cut, len(episodes))) if len(part)]
    joined = concatenate(parts)
    assert_same(joined, episodes)
    assert joined.digest == episodes.digest


@given(episode_sets, st.data())
def test_a_slice_is_a_subset(episodes, data):
    which = data.draw(st.slices(len(episodes)))
    if chosen := range(len(episodes))[which]:
        assert_same(episodes[which], episodes.subset(chosen))


@given(episode_sets, st.data())
def test_a_subset_holds_the_chosen_episodes_in_the_chosen_order(episodes, data):
    chosen = data.draw(st.lists(st.integers(-len(episodes), len(episodes) - 1), min_size=1))
    for index, episode in zip(chosen, episodes.subset(chosen), strict=True):
        np.testing.assert_array_equal(episode.observations, episodes[index].observations)
        assert (episode.terminated, episode.truncated) == (episodes[index].terminated, episodes[index].truncated)


@given(episode_sets)
def test_filter_keeps_exactly_what_it_is_asked_to(episodes):
    long = episodes.lengths >= np.median(episodes.lengths)
    assert_same(episodes.filter(lambda e: len(e) >= np.median(episodes.lengths)), episodes.subset(np.flatnonzero(long)))


@given(st.integers(2, 30), st.floats(0.01, 0.99), st.integers(0, 100))
def test_a_split_parts_the_episodes_without_loss(n_episodes, validation, seed):
    episodes = make_episodes(0, [1] * n_episodes)
    train, held = episodes.split(validation, seed=seed)
    assert len(train) + len(held) == n_episodes
    firsts = {episode.observations.tobytes() for part in (train, held) for episode in part}
    assert firsts == {episode.observations.tobytes() for episode in episodes}
    again = episodes.split(validation, seed=seed)
    assert (train.digest, held.digest) == (again[0].digest, again[1].digest)


@given(episode_sets)
def test_relabelling_by_a_function_sees_each_step(episodes):
    relabelled = episodes.relabel(lambda o, a, o_next: (o_next - o).sum(1) + a.sum(1))
    expected = [
        float(np.sum(e.observations[t + 1] - e.observations[t]) + e.actions[t].sum())
        for e in episodes
        for t in range(len(e))
    ]
    np.testing.assert_allclose(relabelled.rewards, expected, atol=1e-5)
    assert_same(relabelled.relabel(episodes.rewards), episodes)


def test_content_cannot_be_written_to():
    episodes = make_episodes(0, [2])
    with pytest.raises(ValueError, match="read-only"):
        episodes.observations[0] = 0


GOOD = {
    "observations": np.zeros((5, 2)),
    "actions": np.zeros((3, 1)),
    "rewards": np.zeros(3),
    "lengths": [2, 1],
    "terminated": [True, False],
    "truncated": [False, True],
}
NAN = np.where(np.arange(10).reshape(5, 2) == 7, np.nan, 0)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"observations": NAN}, "log: observations of episode 1, row 0, column 1, is nan"),
        ({"actions": [[0.0], [np.inf], [0]]}, "log: actions of episode 0, row 1, column 0, is inf"),
        ({"actions": [[0.0], [1e300], [0]]}, "log: actions of episode 0, row 1, column 0, is inf"),
        ({"rewards": [0, 0, -np.inf]}, "log: rewards of episode 1, row 0, is -inf"),
        ({"rewards": [0, 0]}, r"rewards has the shape \(2,\), but 2 episodes of 3 steps in all need 3 rows"),
        ({"observations": np.zeros((3, 2))}, r"observations has the shape \(3, 2\)"),
        ({"truncated": [True]}, r"truncated has the shape \(1,\)"),
        ({"lengths": [3, 0]}, "episode 1 has no step. Leave empty episodes out"),
        ({"lengths": []}, "not a single episode"),
        ({"observations": np.zeros((5, 8, 8, 3))}, "Images and other arrays are not supported"),
        ({"actions": [0, 1, 2]}, "Discrete actions are not supported"),
        ({"actions": np.zeros((3, 0))}, "at least one number each"),
        ({"rewards": ["a", "b", "c"]}, "rewards must be numbers"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(change, sentence):
    with pytest.raises(VMGError, match=sentence):
        Episodes(**(GOOD | change), source="log")


def test_episodes_of_different_sizes_do_not_join():
    with pytest.raises(VMGError, match="observation_size is 3 in the first and 4 in the second"):
        concatenate([make_episodes(0, [1]), make_episodes(0, [1], observation_size=4)])
    with pytest.raises(VMGError, match="nothing to concatenate"):
        concatenate([])


def test_a_list_of_episodes_is_checked_one_by_one():
    good = (np.zeros((3, 2)), np.zeros((2, 1)), np.zeros(2), True, False)
    short = (np.zeros((2, 2)), np.zeros((2, 1)), np.zeros(2), True, False)
    wide = (np.zeros((3, 5)), np.zeros((2, 1)), np.zeros(2), True, False)
    with pytest.raises(VMGError, match="the lengths of episode 1 do not fit"):
        Episodes.from_list([good, short])
    with pytest.raises(VMGError, match=r"episode 1 has observations of shape \(5,\)"):
        Episodes.from_list([good, wide])
    with pytest.raises(VMGError, match="not a single episode"):
        Episodes.from_list([])


def test_choices_that_leave_nothing_are_refused():
    episodes = make_episodes(0, [2])
    with pytest.raises(VMGError, match="holds no episode"):
        episodes.subset([])
    with pytest.raises(VMGError, match="keeps none of the 1 episodes"):
        episodes.filter(lambda episode: False)
    with pytest.raises(VMGError, match="cannot be split"):
        episodes.split(0.5, seed=0)
    with pytest.raises(VMGError, match="between 0 and 1"):
        episodes.split(1.5, seed=0)


@given(episode_sets)
def test_a_data_set_is_shown_in_one_line(episodes):
    shown = repr(episodes)
    assert str(episodes) == shown
    assert shown.startswith(f"<{episodes.source}: ")
    numbers = [int(number) for number in re.findall(r"\d+", shown.replace(episodes.source, "").replace(",", ""))]
    assert numbers == [len(episodes), episodes.n_steps, episodes.observation_size, episodes.action_size]
    assert len(shown) < 200 + len(episodes.source)
