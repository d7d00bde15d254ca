"""LeRobot sets. The files are written here as LeRobot 0.3.3 (v2.1) and 0.4.4 (v3.0) write them: the reader was compared
frame by frame with sets that those versions made, cameras and several files included."""

import json

import numpy as np
import pytest
from random_episodes import assert_same, make_episodes

from vmg.base.errors import VMGError
from vmg.data import DataWarning, load, read_lerobot

pyarrow = pytest.importorskip("pyarrow")
from pyarrow import parquet  # noqa: E402

JOINTS = ["shoulder.pos", "elbow.pos"]


def feature(dtype, *shape, names=None):
    return {"dtype": dtype, "shape": list(shape), "names": names}


FEATURES = {
    "observation.state": feature("float32", 2, names=JOINTS),
    "observation.velocity": feature("float32", 1, names={"motors": ["shoulder.vel"]}),
    "observation.goal": feature("float32", 2),
    "action": feature("float32", 2, names=JOINTS),
    "next.reward": feature("float32", 1),
    "next.done": feature("bool", 1),
} | {name: feature("int64", 1) for name in ("timestamp", "frame_index", "episode_index", "index", "task_index")}
CAMERA = {"observation.images.top": feature("video", 48, 64, 3, names=["height", "width", "channels"])}


def vectors(values):
    return pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(values.ravel()), values.shape[1])


def frames(number, episode, first):
    """The rows of an episode: T steps are T + 1 frames, the last of them with an action that is never read."""
    n = len(episode) + 1
    last = np.arange(n) == n - 1
    return pyarrow.table(
        {
            "observation.state": vectors(episode.observations[:, :2]),
            "observation.velocity": pyarrow.array(episode.observations[:, 2]),
            "observation.goal": vectors(np.full((n, 2), number, np.float32)),
            "action": vectors(np.concatenate([episode.actions, episode.actions[:1]])),
            "next.reward": pyarrow.array(np.append(episode.rewards, 0).astype(np.float32)),
            "next.done": pyarrow.array(last & episode.terminated),
            "timestamp": pyarrow.array(np.arange(n) / 10, pyarrow.float32()),
            "frame_index": np.arange(n),
            "episode_index": np.full(n, number),
            "index": np.arange(first, first + n),
            "task_index": np.zeros(n, int),
        }
    )


def write(folder, episodes, version, features=FEATURES):
    tables = [frames(i, episode, int(episodes.first_observation[i])) for i, episode in enumerate(episodes)]
    if version == "v3.0":  # two files, many episodes in each
        files = {"file-000": tables[:2], "file-001": tables[2:]}
    else:
        files = {f"episode_{i:06d}": [table] for i, table in enumerate(tables)}
    (folder / "data" / "chunk-000").mkdir(parents=True)
    for name, parts in files.items():
        parquet.write_table(pyarrow.concat_tables(parts), folder / "data" / "chunk-000" / f"{name}.parquet")
    (folder / "meta").mkdir()
    info = {"codebase_version": version, "total_frames": len(episodes.observations), "features": features, "fps": 10}
    (folder / "meta" / "info.json").write_text(json.dumps(info))
    return f"lerobot:{folder}"


@pytest.fixture
def episodes():
    return make_episodes(3, [3, 1, 4, 2])  # some terminated, some truncated


@pytest.mark.parametrize("version", ["v2.1", "v3.0"])
def test_frames_become_episodes(tmp_path, episodes, version):
    read = load(write(tmp_path / "set", episodes, version))
    assert_same(read, episodes)
    assert read.left_out == {"observation.goal": "a goal, 2 numbers"}


def test_names_of_features_and_of_their_numbers_become_fields(tmp_path, episodes):
    name = write(tmp_path / "set", episodes, "v3.0")
    both = {"observation.state": (0, 1), "observation.velocity": (2,)}
    assert load(name).fields == both | {"shoulder.pos": (0,), "elbow.pos": (1,), "shoulder.vel": (2,)}
    part = load(name, keys=["observation.velocity", "observation.state[1:2]"])
    assert part.fields["elbow.pos"] == part.fields["observation.state[1:2]"] == (1,)
    np.testing.assert_array_equal(part.observations, episodes.observations[:, [2, 1]])
    assert load(name, keys=["observation.goal"]).observation_size == 2


def test_a_name_that_two_features_use_is_told_apart(tmp_path, episodes):
    twice = FEATURES | {"observation.velocity": feature("float32", 1, names=["elbow.pos"])}
    fields = load(write(tmp_path / "set", episodes, "v3.0", twice)).fields
    assert fields["observation.state.elbow.pos"] == (1,)
    assert fields["observation.velocity.elbow.pos"] == (2,)
    assert "elbow.pos" not in fields


def test_cameras_are_left_out_and_said(tmp_path, episodes):
    name = write(tmp_path / "set", episodes, "v2.1", FEATURES | CAMERA)
    with pytest.warns(DataWarning, match=r"observation\.images\.top is left out: images"):
        read = load(name)
    assert_same(read, episodes)
    assert read.left_out["observation.images.top"] == "images, 48 × 64 × 3"
    assert_same(load(name, keys=["observation.state", "observation.velocity"]), episodes)
    with pytest.raises(VMGError, match=r"'observation\.images\.top' holds images"):
        load(name, keys=["observation.images.top"])


def test_a_frame_marked_truncated_terminates_nothing(tmp_path, episodes):
    folder = tmp_path / "set"
    name = write(folder, episodes, "v2.1", FEATURES | {"next.truncated": feature("bool", 1)})
    for path in (folder / "data" / "chunk-000").iterdir():
        table = parquet.read_table(path)
        parquet.write_table(table.append_column("next.truncated", table.column("next.done")), path)
    assert load(name).truncated.all()
    assert not load(name).terminated.any()


def test_without_rewards_and_marks_episodes_are_truncated(tmp_path, episodes):
    bare = {name: each for name, each in FEATURES.items() if not name.startswith("next.")}
    read = load(write(tmp_path / "set", episodes, "v3.0", bare))
    assert (read.rewards == 0).all()
    assert read.truncated.all()


def test_sets_in_the_caches_of_this_machine_are_found_by_name(tmp_path, episodes, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    for variable in ("HF_LEROBOT_HOME", "HF_HUB_CACHE"):
        monkeypatch.delenv(variable, raising=False)
    write(tmp_path / "lerobot" / "me" / "arm", episodes, "v3.0")
    assert_same(load("lerobot:me/arm"), episodes)
    write(tmp_path / "hub" / "datasets--me--hand" / "snapshots" / "abc", episodes, "v2.1")
    assert_same(load("lerobot:me/hand"), episodes)
    write(tmp_path / "lerobot" / "hub" / "datasets--me--foot" / "snapshots" / "abc", episodes, "v3.0")
    assert_same(load("lerobot:me/foot"), episodes)
    with pytest.raises(VMGError, match="hf download --repo-type dataset me/leg"):
        load("lerobot:me/leg")


def test_sets_that_cannot_be_read_are_named(tmp_path, episodes):
    folder = tmp_path / "set"
    write(folder, episodes, "v2.1")
    (folder / "data" / "chunk-000" / "episode_000002.parquet").unlink()
    with pytest.raises(VMGError, match="the set is incomplete: its Parquet files hold 9 of the 14 frames"):
        read_lerobot(folder)
    info = json.loads((folder / "meta" / "info.json").read_text())
    (folder / "meta" / "info.json").write_text(json.dumps(info | {"codebase_version": "v1.6"}))
    with pytest.raises(VMGError, match=r"sets of version 2\.0 to 3\.0 can be read, not 'v1\.6'"):
        read_lerobot(folder)
    (folder / "meta" / "info.json").write_text(json.dumps(info | {"features": {}}))
    with pytest.raises(VMGError, match=r"info\.json is damaged"):
        read_lerobot(folder)
