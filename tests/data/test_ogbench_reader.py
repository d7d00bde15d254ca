import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from random_episodes import episode_sets, make_episodes, state_rows

from vmg.base.errors import VMGError
from vmg.data import read_ogbench

in_one_folder = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def downloaded(episodes):
    """As OGBench publishes it: a row for each state, the final state's row marked."""
    rows = state_rows(episodes)
    return {
        "observations": rows["observations"],
        "actions": rows["actions"],
        "terminals": (rows["terminals"] | rows["timeouts"]).astype(np.float32),
    }


def written(folder, fields):
    np.savez(folder / "data.npz", **fields)
    return folder / "data.npz"


def assert_same_without_rewards(read, episodes):
    np.testing.assert_array_equal(read.observations, episodes.observations)
    np.testing.assert_array_equal(read.actions, episodes.actions)
    np.testing.assert_array_equal(read.lengths, episodes.lengths)
    assert not read.rewards.any()
    assert read.truncated.all()
    assert not read.terminated.any()


@in_one_folder
@given(episode_sets)
def test_files_as_downloaded(tmp_path, episodes):
    assert_same_without_rewards(read_ogbench(written(tmp_path, downloaded(episodes))), episodes)


@pytest.mark.parametrize("compact", [True, False])
def test_what_ogbench_makes_of_a_file_reads_the_same(tmp_path, compact):
    utils = pytest.importorskip("ogbench.utils")
    episodes = make_episodes(3, [3, 1, 5, 2])
    theirs = utils.load_dataset(written(tmp_path, downloaded(episodes)), compact_dataset=compact)
    assert ("valids" in theirs) == compact
    assert_same_without_rewards(read_ogbench(written(tmp_path, theirs)), episodes)


def test_rewards_are_kept_where_there_are_some(tmp_path):
    rows = downloaded(make_episodes(0, [2, 1])) | {"rewards": [-1, 0, 7, -1, 7]}
    assert read_ogbench(written(tmp_path, rows)).rewards.tolist() == [-1, 0, -1]


def test_bad_files_are_refused_in_a_sentence(tmp_path):
    rows = downloaded(make_episodes(0, [2, 1]))
    with pytest.raises(VMGError, match=r"no field 'actions'.*what it holds: observations, terminals"):
        read_ogbench(written(tmp_path, {name: rows[name] for name in ("observations", "terminals")}))
    with pytest.raises(VMGError, match="Images and other arrays are not supported"):
        read_ogbench(written(tmp_path, rows | {"observations": np.zeros((5, 8, 8, 3), np.uint8)}))
    with pytest.raises(VMGError, match="Discrete actions are not supported"):
        read_ogbench(written(tmp_path, rows | {"actions": np.zeros(5, np.int32)}))
    with pytest.raises(VMGError, match="terminals has 2"):
        read_ogbench(written(tmp_path, rows | {"terminals": [0, 1]}))
