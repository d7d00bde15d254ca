import subprocess
import sys
from dataclasses import replace

import h5py
import numpy as np
import pytest
from random_episodes import assert_same, make_episodes, state_rows, step_rows

from vmg.base.errors import VMGError
from vmg.base.registry import Registry
from vmg.data import READERS, Reader, brings_environment, load, make_environment, save, takes_keys


def test_each_source_reads_its_files(tmp_path):
    episodes = make_episodes(0, [3, 2])
    save(episodes, tmp_path / "own.npz")
    rows = step_rows(episodes)
    with h5py.File(tmp_path / "rows.hdf5", "w") as file:
        for name, values in rows.items():
            file[name] = values
    assert_same(load(f"npz:{tmp_path}/own.npz"), episodes)
    assert_same(load(f"hdf5:{tmp_path}/rows.hdf5"), episodes)
    assert_same(load(f"d4rl:{tmp_path}/rows.hdf5"), episodes)
    states = state_rows(episodes)
    np.savez(
        tmp_path / "og.npz", **{k: states[k] for k in ("observations", "actions")}, terminals=[0, 0, 0, 1, 0, 0, 1]
    )
    assert load(f"ogbench:{tmp_path}/og.npz").lengths.tolist() == [3, 2]


def test_options_stand_in_the_string_or_beside_it(tmp_path):
    rows = step_rows(make_episodes(0, [3])) | {"rewards": [0, 1, 2]}
    with h5py.File(tmp_path / "rows.hdf5", "w") as file:
        for name, values in rows.items():
            file[name] = values
    written = load(f"d4rl:{tmp_path}/rows.hdf5?reward_on_arrival=true")
    assert written.rewards.tolist() == [1, 2]
    assert load(f"d4rl:{tmp_path}/rows.hdf5", reward_on_arrival=True).digest == written.digest
    assert load(f"d4rl:{tmp_path}/rows.hdf5?reward_on_arrival=no").n_steps == 3


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("", "'' names no source of data"),
        (":a.npz", "':a.npz' names no source of data"),
        ("hopper.hdf5", "Did you mean d4rl:hopper.hdf5?"),
        ("hopper.h5", "Did you mean hdf5:hopper.h5?"),
        ("runs/mine.npz", "Did you mean npz:runs/mine.npz?"),
        ("D4RL/door/human-v2", "Did you mean minari:D4RL/door/human-v2?"),
        ("kitchen", "'kitchen' names no source of data"),
        ("hugging:face", "'hugging' is not a source of data. A data set is called source:name, for example d4rl:"),
        ("npz:", "names no data after 'npz'"),
        ("npz:a.npz?speed=3", "'speed' is not an option of this source. Its options: mapped"),
        ("pointmaze:medium?steps=many", "steps must be a whole number, not 'many'"),
        ("d4rl:a.hdf5?reward_on_arrival=perhaps", "reward_on_arrival must be true or false"),
        ("npz:really?.npz", "really?.npz does not exist"),
    ],
)
def test_names_that_do_not_work_are_answered_with_ones_that_do(name, sentence):
    with pytest.raises(VMGError) as refused:
        load(name)
    assert sentence in str(refused.value)


def test_only_some_sets_have_keys_to_choose():
    assert all(map(takes_keys, ("minari:D4RL/door/human-v2", "lerobot:a", "robomimic:a.hdf5")))
    assert not any(map(takes_keys, ("npz:a.npz", "hugging:face", "minari", "")))
    with pytest.raises(
        VMGError, match=r"npz:a\.npz: the observation is one plain vector: leave keys out, or name parts"
    ):
        load("npz:a.npz", keys=["observation"])


def test_keys_can_name_parts_of_any_plain_vector(tmp_path):
    episodes = replace(make_episodes(0, [3, 2], 5), fields={"hand": (0, 1), "goal": (2,), "arm": (3, 4)})
    save(episodes, tmp_path / "own.npz")
    part = load(f"npz:{tmp_path}/own.npz", keys=["[3:]", "[1:2]"])
    np.testing.assert_array_equal(part.observations, episodes.observations[:, [3, 4, 1]])
    assert (part.fields, part.left_out) == ({"arm": (0, 1)}, {"observation": "2 of its 5 numbers"})
    with pytest.raises(VMGError, match="asks for numbers that are not there: that leaf has 5, 0 to 4"):
        load(f"npz:{tmp_path}/own.npz", keys=["[3:6]"])


def test_only_minari_sets_bring_an_environment():
    assert brings_environment("minari:D4RL/door/human-v2")
    assert not any(map(brings_environment, ("npz:a.npz", "CartPole-v1", "minari", "")))
    with pytest.raises(VMGError, match=r"'npz:a\.npz' brings no environment"):
        make_environment("npz:a.npz")


def test_a_cell_that_is_run_again_may_register_its_reader_again_and_no_other_may_take_its_name():
    readers = Registry("reader")
    for _ in range(2):

        def read(name):
            return make_episodes(0, [1])

        readers.add("mine", Reader(read, example="mine:x"))
    assert readers.find("mine").read is read
    with pytest.raises(VMGError, match="The reader 'mine' exists already"):
        readers.add("mine", Reader(lambda name: read(name), example="mine:x"))
    with pytest.raises(VMGError, match="The reader 'npz' exists already"):
        READERS.add("npz", Reader(read, example="npz:x"))


def test_importing_the_data_package_stays_light():
    heavy = ("gymnasium", "minari", "jax", "numba", "scipy", "h5py", "mujoco", "pyarrow")
    program = f"import sys, vmg.data; print([name for name in {heavy} if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
