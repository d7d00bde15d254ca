"""robomimic's files. They are written here as robomimic 0.3.0 writes them: the reader was compared number by number
with files that its own scripts made from a robosuite arm, splits included."""

import h5py
import numpy as np
import pytest
from random_episodes import assert_same, make_episodes

from vmg.base.errors import VMGError
from vmg.data import DataWarning, load


def write(path, episodes, *, next_obs=True, names=("eef", "joint"), camera=False, masks=None):
    with h5py.File(path, "w") as file:
        for i, episode in enumerate(episodes):
            demo = file.create_group(f"data/demo_{i}")
            rows = {"obs": episode.observations[:-1]} | ({"next_obs": episode.observations[1:]} if next_obs else {})
            for group, seen in rows.items():
                demo[f"{group}/{names[0]}"], demo[f"{group}/{names[1]}"] = seen[:, :2], seen[:, 2:]
                demo[f"{group}/goal_pos"] = np.full((len(seen), 2), i)
                if camera:
                    demo[f"{group}/agentview_image"] = np.zeros((len(seen), 8, 8, 3), np.uint8)
            demo["actions"], demo["rewards"] = episode.actions.astype(np.float64), episode.rewards
            demo["dones"] = (np.arange(len(episode)) == len(episode) - 1) & episode.terminated
            demo.attrs["num_samples"] = len(episode)
        for name, demos in (masks or {}).items():
            file[f"mask/{name}"] = np.array([f"demo_{i}" for i in demos], dtype="S")
    return f"robomimic:{path}"


@pytest.fixture
def episodes():
    return make_episodes(2, [3, 1, 4, 2, 2, 3, 1, 2, 5, 3, 2, 4])


def test_demonstrations_become_episodes_in_the_order_of_their_numbers(tmp_path, episodes):
    read = load(write(tmp_path / "a.hdf5", episodes))
    assert_same(read, episodes)  # demo_10 follows demo_9, not demo_1
    assert read.fields == {"eef": (0, 1), "joint": (2,)}
    assert read.left_out == {"goal_pos": "a goal, 2 numbers"}
    joint = load(f"robomimic:{tmp_path}/a.hdf5", keys=["joint"])
    np.testing.assert_array_equal(joint.observations, episodes.observations[:, 2:])


def test_an_early_success_ends_nothing(tmp_path, episodes):
    name = write(tmp_path / "a.hdf5", episodes)
    with h5py.File(tmp_path / "a.hdf5", "a") as file:
        file["data/demo_0/dones"][()] = [1, 1, 0]
    assert load(name).lengths.tolist() == episodes.lengths.tolist()
    assert not load(name).terminated[0]


def test_without_next_observations_the_last_row_is_the_final_state(tmp_path, episodes):
    long = episodes.filter(lambda each: len(each) > 1)
    long = long.relabel(np.isin(np.arange(long.n_steps), long.first_step[1:] - 1))  # rewarded at the end, as most are
    name = write(tmp_path / "a.hdf5", long, next_obs=False)
    with pytest.warns(DataWarning, match="store a reward with the last row"):
        read = load(name)
    assert read.lengths.tolist() == (long.lengths - 1).tolist()
    np.testing.assert_array_equal(read[0].observations, long[0].observations[:-1])
    np.testing.assert_allclose(read.returns, long.returns)


def test_the_usual_observations_are_chosen_where_they_are_there(tmp_path):
    usual = {"object": 4, "robot0_eef_pos": 3, "robot0_eef_quat": 4, "robot0_gripper_qpos": 2}
    with h5py.File(tmp_path / "a.hdf5", "w") as file:
        for group in ("obs", "next_obs"):
            for name, size in (usual | {"robot0_joint_vel": 7}).items():
                file[f"data/demo_0/{group}/{name}"] = np.ones((3, size))
        file["data/demo_0/actions"] = np.ones((3, 2))
    read = load(f"robomimic:{tmp_path}/a.hdf5")
    assert {name: len(columns) for name, columns in read.fields.items()} == usual
    assert read.left_out == {"robot0_joint_vel": "7 numbers"}
    assert (read.rewards == 0).all()


def test_splits(tmp_path, episodes):
    name = write(tmp_path / "a.hdf5", episodes, masks={"train": [10, 2, 0], "valid": [1]})
    assert_same(load(f"{name}?split=train"), episodes.subset([0, 2, 10]))
    assert_same(load(name, split="valid"), episodes.subset([1]))
    assert load(name, split="valid").source == f"{name}?split=valid"
    with pytest.raises(VMGError, match=r"there is no split 'test'. Its splits: train, valid"):
        load(f"{name}?split=test")
    with pytest.raises(VMGError, match="Its splits: none"):
        load(write(tmp_path / "b.hdf5", episodes) + "?split=train")


def test_images_are_left_out_and_said(tmp_path, episodes):
    name = write(tmp_path / "a.hdf5", episodes, camera=True)
    with pytest.warns(DataWarning, match="agentview_image is left out: images"):
        read = load(name)
    assert_same(read, episodes)
    assert read.left_out["agentview_image"] == "images, 8 × 8 × 3"
    with pytest.raises(VMGError, match="'agentview_image' holds images"):
        load(name, keys=["agentview_image"])


def test_files_that_cannot_be_read_are_named(tmp_path, episodes):
    name = write(tmp_path / "a.hdf5", episodes)
    with h5py.File(tmp_path / "a.hdf5", "a") as file:
        del file["data/demo_3/obs/eef"]
    with pytest.raises(VMGError, match="/data/demo_3 lacks what other demonstrations have"):
        load(name)
    with h5py.File(tmp_path / "a.hdf5", "a") as file:
        del file["data/demo_0/obs"]
    with pytest.raises(VMGError, match=r"/data/demo_0 has no obs.*dataset_states_to_obs\.py"):
        load(name)
    (tmp_path / "b.hdf5").write_text("no")
    with pytest.raises(VMGError, match=r"b\.hdf5 is not a readable HDF5 file"):
        load(f"robomimic:{tmp_path}/b.hdf5")
    h5py.File(tmp_path / "c.hdf5", "w").close()
    with pytest.raises(VMGError, match="there is no demonstration"):
        load(f"robomimic:{tmp_path}/c.hdf5")
    with pytest.raises(VMGError, match=r"d\.hdf5 does not exist"):
        load(f"robomimic:{tmp_path}/d.hdf5")
