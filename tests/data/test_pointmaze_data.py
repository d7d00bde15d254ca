import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("gymnasium_robotics")

from vmg.base.errors import VMGError
from vmg.data import collect, load
from vmg.data.mazes import cell_at, cell_xy, corridor_distances, free_cells, maze_map
from vmg.data.readers.pointmaze import GOAL_RADIUS, _make

MAZES = ["umaze", "medium", "large"]


@pytest.mark.parametrize("maze", MAZES)
def test_one_seed_gives_the_same_data_bit_for_bit(maze):
    first, again = collect(maze, steps=2000, seed=3), collect(maze, steps=2000, seed=3)
    assert first.digest == again.digest
    assert first.digest != collect(maze, steps=2000, seed=4).digest
    assert first.n_steps == 2000
    assert (first.observation_size, first.action_size) == (4, 2)


@pytest.mark.parametrize("maze", MAZES)
def test_rewards_are_paid_once_at_the_end_which_they_cause(maze):
    episodes = collect(maze, steps=3000)
    last = np.zeros(episodes.n_steps, bool)
    last[episodes.first_step[1:] - 1] = True
    assert set(np.unique(episodes.rewards)) <= {0.0, 1.0}
    assert not episodes.rewards[~last].any()
    np.testing.assert_array_equal(episodes.rewards[last] == 1, episodes.terminated)
    np.testing.assert_array_equal(episodes.truncated, ~episodes.terminated)
    assert episodes.terminated.mean() > 0.5


def test_the_data_covers_the_whole_maze():
    cells = maze_map("medium")
    visited = cell_at(cells, collect("medium", steps=15_000).observations[:, :2])
    assert {tuple(cell) for cell in visited.tolist()} == {tuple(cell) for cell in free_cells(cells).tolist()}


def test_the_recorded_actions_lead_from_state_to_state_in_the_environment():
    episode = collect("umaze", steps=300)[0]
    env = _make(maze_map("umaze"))
    env.reset(seed=0)
    env.point_env.set_state(episode.observations[0, :2], episode.observations[0, 2:])
    for action, expected in zip(episode.actions[:20], episode.observations[1:21], strict=True):
        observation, *_ = env.step(action)
        np.testing.assert_allclose(observation["observation"], expected, atol=1e-4)


def test_the_goal_radius_is_the_environments():
    env = _make(maze_map("umaze"))
    for distance, reward in ((GOAL_RADIUS, 1), (GOAL_RADIUS + 1e-6, 0)):
        assert env.compute_reward(np.array([distance, 0.0]), np.zeros(2), {}) == reward


@pytest.mark.parametrize("maze", MAZES)
def test_cells_lie_where_the_environment_puts_them(maze):
    cells = maze_map(maze)
    theirs = _make(cells).maze
    free = free_cells(cells)
    expected = [theirs.cell_rowcol_to_xy(cell) for cell in free]
    np.testing.assert_allclose(cell_xy(cells, free), expected)
    np.testing.assert_array_equal(cell_at(cells, cell_xy(cells, free, scale=4.0), scale=4.0), free)
    assert cell_xy(cells, free[0]).shape == (2,)


@pytest.mark.parametrize("maze", MAZES)
def test_corridor_distances_are_a_metric_of_unit_steps(maze):
    cells = maze_map(maze)
    distances, free = corridor_distances(cells), free_cells(cells)
    assert (np.diag(distances) == 0).all()
    np.testing.assert_array_equal(distances, distances.T)
    np.testing.assert_array_equal(distances == 1, np.abs(free[:, None] - free).sum(-1) == 1)
    for through in distances:
        assert (distances <= through[:, None] + through).all()


def test_corridors_of_the_u_maze_by_hand():
    #   ###
    #   ...    the far ends of a U are 6 cells apart, though only 2 as the crow flies
    cells = maze_map("umaze")
    order = [tuple(cell) for cell in free_cells(cells).tolist()]
    assert corridor_distances(cells)[order.index((1, 1)), order.index((3, 1))] == 6
    assert corridor_distances([[0, 1, 0]]).tolist() == [[0, -1], [-1, 0]]


def test_loading_by_name():
    assert load("pointmaze:umaze?steps=200&seed=2").digest == collect("umaze", steps=200, seed=2).digest
    assert load("pointmaze:umaze", steps=200, seed=2).source == "pointmaze:umaze?steps=200&seed=2"


def test_bad_requests_are_refused():
    with pytest.raises(VMGError, match=r"'giant' is not a maze\. There are: umaze, medium, large"):
        collect("giant")
    with pytest.raises(VMGError, match="steps must be at least 1"):
        collect("umaze", steps=0)
    with pytest.raises(VMGError, match="seed must not be negative"):
        collect("umaze", steps=10, seed=-1)


def test_nothing_is_printed_and_no_warning_escapes():
    program = "import vmg.data; vmg.data.collect('umaze', steps=20)"
    ran = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True)
    assert (ran.stdout, ran.stderr) == ("", "")
