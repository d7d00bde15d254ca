import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from random_episodes import assert_same, episode_sets, make_episodes, state_rows, step_rows

from vmg.base.errors import VMGError
from vmg.data import from_arrays, read_hdf5, read_npz, save

in_one_folder = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@in_one_folder
@given(episode_sets)
def test_saved_episodes_come_back_exactly(tmp_path, episodes):
    save(episodes, tmp_path / "saved.npz")
    again = read_npz(tmp_path / "saved.npz")
    assert_same(again, episodes)
    assert (again.digest, again.source) == (episodes.digest, episodes.source)


@given(episode_sets)
def test_rows_with_marks(episodes):
    rows = step_rows(episodes)
    assert_same(from_arrays(**rows), episodes)
    for terminals, timeouts in (("terminations", "truncations"), ("terminated", "truncated"), ("dones", "timeouts")):
        renamed = {{"terminals": terminals, "timeouts": timeouts}.get(name, name): v for name, v in rows.items()}
        assert_same(from_arrays(**renamed), episodes)
    del rows["next_observations"]
    states = state_rows(episodes)
    assert_same(from_arrays(**states), episodes)


@given(episode_sets)
def test_rows_with_lengths(episodes):
    flags = {"terminated": episodes.terminated, "truncated": episodes.truncated}
    rows = {name: v for name, v in step_rows(episodes).items() if name not in ("terminals", "timeouts")}
    assert_same(from_arrays(**rows, **flags, lengths=episodes.lengths), episodes)
    states = {name: v for name, v in state_rows(episodes).items() if name not in ("terminals", "timeouts")}
    assert_same(from_arrays(**states, **flags, lengths=episodes.lengths + 1), episodes)


@given(episode_sets)
def test_own_layout_takes_flags_per_episode_or_per_step(episodes):
    plain = {"observations": episodes.observations, "actions": episodes.actions, "rewards": episodes.rewards}
    rows = step_rows(episodes)
    marks = {"terminals": rows["terminals"], "timeouts": rows["timeouts"]}
    assert_same(from_arrays(**plain, lengths=episodes.lengths, **marks), episodes)
    assert from_arrays(**plain, lengths=episodes.lengths).truncated.all()


@in_one_folder
@given(episode_sets)
def test_npz_and_hdf5_files_of_rows(tmp_path, episodes):
    rows = step_rows(episodes)
    np.savez(tmp_path / "rows.npz", **rows)
    with h5py.File(tmp_path / "rows.hdf5", "w") as file:
        for name, values in rows.items():
            file[name] = values
    assert_same(read_npz(tmp_path / "rows.npz"), episodes)
    assert_same(read_hdf5(tmp_path / "rows.hdf5"), episodes)


def test_missing_rewards_are_zero():
    episodes = from_arrays([[0.0], [1.0], [2.0]], [[1.0], [1.0], [0.0]], terminals=[0, 0, 1])
    assert episodes.rewards.tolist() == [0, 0]


def test_saving_replaces_whole_files_only(tmp_path):
    save(make_episodes(0, [1]), tmp_path / "folder" / "data.npz")
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["data.npz"]


OBSERVATIONS, ACTIONS = np.zeros((3, 2)), np.zeros((3, 1))


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, "nothing says where episodes end"),
        ({"lengths": [1, 1]}, "add up to the 3 rows of observations, but they add up to 2"),
        ({"lengths": [3, 0]}, "at least 1 each"),
        ({"lengths": [1.5, 1.5]}, "lengths must be whole numbers"),
        ({"lengths": [3], "terminated": [0, 1]}, r"terminated has 2 rows, but needs one per episode \(1\)"),
        ({"terminals": [0, 1]}, "terminals has 2"),
        ({"terminals": [0, 0, 1], "goals": [1]}, "goals is not a known field"),
        ({"rewards": [[1], [2, 3], [4]], "terminals": [0, 0, 1]}, "rewards is not one array"),
    ],
)
def test_bad_arrays_are_refused_in_a_sentence(fields, sentence):
    with pytest.raises(VMGError, match=sentence):
        from_arrays(OBSERVATIONS, ACTIONS, **fields)


def test_bad_files_are_refused_in_a_sentence(tmp_path):
    path = tmp_path / "data.npz"
    with pytest.raises(VMGError, match=r"data\.npz does not exist"):
        read_npz(path)
    path.write_bytes(b"PK not really a zip file")
    with pytest.raises(VMGError, match=r"data\.npz is not a readable \.npz file"):
        read_npz(path)
    np.savez(path, observations=OBSERVATIONS, terminals=[0, 0, 1])
    with pytest.raises(VMGError, match=r"data\.npz: there is no field 'actions'.*holds: observations, terminals"):
        read_npz(path)
    np.savez(path, observations=np.array([{}, {}, {}]), actions=ACTIONS)
    with pytest.raises(VMGError, match="is not a readable"):
        read_npz(path)
    np.savez(path, observations=OBSERVATIONS, actions=np.full((3, 1), np.nan), terminals=[0, 0, 1])
    with pytest.raises(VMGError, match=r"data\.npz: actions of episode 0, row 0, column 0, is nan"):
        read_npz(path)
