import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from random_episodes import assert_same, episode_sets, make_episodes, state_rows, step_rows

from vmg.base.errors import VMGError
from vmg.data import DataWarning, read_d4rl
from vmg.data.steps import StepLog, assemble

in_one_folder = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def write(folder, fields):
    path = folder / "data.hdf5"
    with h5py.File(path, "w") as file:
        for name, values in fields.items():
            file[name] = values
    return path


def without(fields, *names):
    return {name: values for name, values in fields.items() if name not in names}


@in_one_folder
@given(episode_sets)
def test_files_with_next_observations_are_read_whole(tmp_path, episodes):
    assert_same(read_d4rl(write(tmp_path, step_rows(episodes))), episodes)


@in_one_folder
@given(episode_sets)
def test_files_without_lose_only_the_last_action(tmp_path, episodes):
    assert_same(read_d4rl(write(tmp_path, without(state_rows(episodes), "next_observations"))), episodes)


@in_one_folder
@given(episode_sets)
def test_rewards_stored_with_the_arriving_state_go_to_the_step_that_leads_there(tmp_path, episodes):
    rows = state_rows(episodes)
    stored = []  # slow twin: nothing in the first row, then the reward of the step before
    for episode in episodes:
        stored += [0.0, *episode.rewards]
    assert_same(read_d4rl(write(tmp_path, rows | {"rewards": stored}), reward_on_arrival=True), episodes)


def test_a_reward_on_the_last_row_is_not_lost_on_arrival_but_is_without():
    rows = {
        "observations": np.arange(4.0)[:, None],
        "actions": np.zeros((4, 1)),
        "rewards": [0, 0, 0, 4.0],
        "terminals": [0, 0, 0, 1],
    }
    log = StepLog(
        rows["observations"], rows["actions"], np.array(rows["rewards"]), np.array(rows["terminals"], bool),
        np.zeros(4, bool), None, "log",
    )  # fmt: skip
    assert assemble(log, reward_on_arrival=True).rewards.tolist() == [0, 0, 4]
    with pytest.warns(DataWarning, match=r"1 of 1 episodes lose a reward \(4 in all\): .* the last row"):
        assert assemble(log).rewards.tolist() == [0, 0, 0]


def test_arrival_with_next_observations_drops_the_step_whose_reward_is_unknown(tmp_path):
    rows = step_rows(make_episodes(0, [3, 2])) | {"rewards": [0, 1, 2, 0, 5]}
    episodes = read_d4rl(write(tmp_path, rows), reward_on_arrival=True)
    assert episodes.lengths.tolist() == [2, 1]
    assert episodes.rewards.tolist() == [1, 2, 5]


def test_kitchen_files_are_read_as_arriving_by_themselves(tmp_path):
    rows = state_rows(make_episodes(0, [3])) | {"rewards": [0, 0, 1, 2]}
    file = write(tmp_path, rows).rename(tmp_path / "kitchen_partial-v0.hdf5")
    assert read_d4rl(file).rewards.tolist() == [0, 1, 2]
    with pytest.warns(DataWarning, match="lose a reward"):
        assert read_d4rl(file, reward_on_arrival=False).rewards.tolist() == [0, 0, 1]


@pytest.mark.parametrize("with_next", [True, False])
def test_the_goal_in_kitchen_files_is_left_out(tmp_path, with_next):
    rows = step_rows(make_episodes(0, [3, 2], observation_size=60)) | {"rewards": np.zeros(5)}
    whole = read_d4rl(write(tmp_path, rows))
    file = write(tmp_path, rows if with_next else without(rows, "next_observations"))
    kitchen = read_d4rl(file.rename(tmp_path / "kitchen_partial-v0.hdf5"))
    assert (whole.observation_size, kitchen.observation_size) == (60, 30)
    assert (kitchen.observations[:3] == whole.observations[:3, :30]).all()


def test_kitchen_files_of_another_size_are_read_whole(tmp_path):
    rows = state_rows(make_episodes(0, [3], observation_size=59)) | {"rewards": np.zeros(4)}
    file = write(tmp_path, rows).rename(tmp_path / "kitchen_partial-v0.hdf5")
    assert read_d4rl(file).observation_size == 59


def test_arrival_says_what_the_first_rows_held(tmp_path):
    rows = state_rows(make_episodes(0, [2, 2])) | {"rewards": [3, 0, 0, 0, 0, 1]}
    with pytest.warns(DataWarning, match=r"1 of 2 episodes lose a reward \(3 in all\): .* the first row"):
        read_d4rl(write(tmp_path, rows), reward_on_arrival=True)


def test_lost_rewards_are_counted(tmp_path):
    episodes = make_episodes(1, [2, 3, 1])
    with pytest.warns(DataWarning, match=r"3 of 3 episodes lose a reward \(6 in all\)"):
        assert_same(read_d4rl(write(tmp_path, state_rows(episodes, last_reward=2.0))), episodes)


def test_single_rows_are_left_out_and_counted(tmp_path):
    rows = without(state_rows(make_episodes(0, [2, 2])), "timeouts")
    rows |= {"terminals": [0, 0, 1, 1, 0, 1]}
    with pytest.warns(DataWarning, match="1 episode of a single row was left out"):
        episodes = read_d4rl(write(tmp_path, rows))
    assert episodes.lengths.tolist() == [2, 1]


def test_nothing_but_single_rows_is_refused(tmp_path):
    rows = without(state_rows(make_episodes(0, [2])), "timeouts") | {"terminals": [1, 1, 1]}
    with pytest.warns(DataWarning, match="3 episodes"), pytest.raises(VMGError, match="not a single episode"):
        read_d4rl(write(tmp_path, rows))


def test_a_tail_without_an_end_mark_is_truncated(tmp_path):
    rows = step_rows(make_episodes(0, [2, 3]))
    rows["terminals"] = [0, 1, 0, 0, 0]
    rows["timeouts"] = [0, 0, 0, 0, 0]
    episodes = read_d4rl(write(tmp_path, rows))
    assert (episodes.terminated.tolist(), episodes.truncated.tolist()) == ([True, False], [False, True])


def test_both_marks_are_kept(tmp_path):
    rows = step_rows(make_episodes(0, [2])) | {"terminals": [0, 1], "timeouts": [0, 1]}
    episodes = read_d4rl(write(tmp_path, rows))
    assert episodes.terminated.all()
    assert episodes.truncated.all()


def test_an_end_that_only_next_observations_show_is_cut_and_said(tmp_path):
    expected = make_episodes(0, [4, 5, 3])
    rows = step_rows(expected) | {"terminals": np.zeros(12), "timeouts": np.zeros(12)}
    with pytest.warns(DataWarning, match=r"after 2 rows \(the first: 3\)"):
        episodes = read_d4rl(write(tmp_path, rows))
    assert episodes.lengths.tolist() == [4, 5, 3]
    assert episodes.truncated.all()


def test_shuffled_steps_are_refused(tmp_path):
    rows = step_rows(make_episodes(0, [30]))
    order = np.random.default_rng(0).permutation(30)
    with pytest.raises(VMGError, match="not in the order of time"):
        read_d4rl(write(tmp_path, {name: values[order] for name, values in rows.items()}))


def test_columns_may_stand_upright(tmp_path):
    episodes = make_episodes(0, [2, 3])
    rows = step_rows(episodes)
    upright = {name: rows[name][:, None].astype(float) for name in ("rewards", "terminals", "timeouts")}
    assert_same(read_d4rl(write(tmp_path, rows | upright)), episodes)


ROWS = step_rows(make_episodes(0, [2, 3]))


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (without(ROWS, "actions"), "there is no field 'actions'"),
        (without(ROWS, "terminals"), "there is no field 'terminals'"),
        (ROWS | {"actions": ROWS["actions"][:3]}, "observations has 5 rows, actions has 3"),
        (ROWS | {"next_observations": np.zeros((5, 9))}, r"next_observations has the shape \(5, 9\)"),
        (ROWS | {"terminals": [0, 2, 0, 0, 1]}, "terminals must hold only 0 and 1"),
        (ROWS | {"rewards": np.zeros((5, 2))}, "rewards must be one number per row"),
        (ROWS | {"actions": [0, 1, 1, 0, 1]}, "Discrete actions are not supported"),
        (ROWS | {"rewards": [0, 0, 0, np.nan, 0]}, "rewards of episode 1, row 1, is nan"),
        (ROWS | {"actions": [b"a", b"b", b"c", b"d", b"e"]}, "actions must be numbers"),
        (ROWS | {"observations": 1.0}, "observations is a single number"),
        ({name: values[:0] for name, values in ROWS.items()}, "not a single step"),
        (without(ROWS, "observations") | {"observations/camera": np.zeros(5)}, "observations is a group"),
        ({"something": np.zeros(3)}, "holds none of the fields .* what it holds: something"),
    ],
)
def test_bad_files_are_refused_in_a_sentence(tmp_path, fields, sentence):
    with pytest.raises(VMGError, match=sentence) as refused:
        read_d4rl(write(tmp_path, fields))
    assert "data.hdf5" in str(refused.value)


def test_images_are_refused(tmp_path):
    images = {"observations": np.zeros((5, 8, 8, 3), np.uint8)}
    with pytest.raises(VMGError, match="Images and other arrays are not supported"):
        read_d4rl(write(tmp_path, without(ROWS, "next_observations", "rewards") | images | {"rewards": np.zeros(5)}))


def test_missing_and_damaged_files_are_named(tmp_path):
    with pytest.raises(VMGError, match=r"gone\.hdf5 does not exist"):
        read_d4rl(tmp_path / "gone.hdf5")
    whole = write(tmp_path, ROWS)
    whole.write_bytes(whole.read_bytes()[:700])
    with pytest.raises(VMGError, match="is not a readable HDF5 file"):
        read_d4rl(whole)
