from dataclasses import replace

import numpy as np
import pytest
from acting_cases import agent
from matplotlib.image import imread

from vmg.base.errors import VMGError
from vmg.data.mazes import maze_map
from vmg.envs import Floor, find_task
from vmg.view.layout import floor_of
from vmg.view.maze import draw_maze_story
from vmg.view.style import STYLES


def share_of(image, colour):
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return (np.abs(image[..., :3] - rgb).max(-1) < 0.02).mean()


def test_the_story_shows_walls_walk_and_goal_and_is_the_same_twice(tmp_path):
    first, second = tmp_path / "first.png", tmp_path / "second.png"
    for file in (first, second):
        draw_maze_story(agent(), find_task("pointmaze-umaze"), file, seed=1)
    assert first.read_bytes() == second.read_bytes()
    image, light = imread(first), STYLES["light"]
    assert image.shape[1] > 1200
    assert share_of(image, light.wall) > 0.1
    assert share_of(image, light.trail) > 1e-4
    assert share_of(image, light.goal) > 1e-4


def test_a_task_without_a_maze_has_no_such_story(tmp_path):
    placeless = replace(agent(), graph=replace(agent().built, goal_columns=(), places=None))
    task = replace(find_task("pointmaze-umaze"), goal=None)
    with pytest.raises(VMGError, match="does not take place in a maze"):
        draw_maze_story(placeless, task, tmp_path / "story.png")


def test_a_task_can_bring_a_floor_of_its_own(tmp_path):
    """The same maze, described by the task and seen by a graph that keeps no places: the same walls."""
    task = find_task("pointmaze-umaze")
    usual, own = tmp_path / "usual.png", tmp_path / "own.png"
    draw_maze_story(agent(), task, usual, seed=1)
    placeless = replace(agent(), graph=replace(agent().built, goal_columns=(), places=None))
    floor = Floor(maze_map("umaze"), 1.0, columns=(0, 1))
    assert floor_of(replace(task, goal=None, floor=floor), placeless.built) == floor
    draw_maze_story(agent(), replace(task, floor=floor), own, seed=1)
    walls = [share_of(imread(file), STYLES["light"].wall) for file in (usual, own)]
    assert walls[0] == pytest.approx(walls[1])


def test_a_floor_can_lie_anywhere():
    cells = [[1, 1, 1, 1], [1, 0, 0, 1], [1, 1, 1, 1]]
    floor = Floor(cells, 2.0, centre=(10.0, -1.0), columns=(3, 4))
    assert floor.corner(2, 0).tolist() == [6.0, -4.0]
    assert floor.corner(0, 3).tolist() == [12.0, 0.0]
    assert floor.extent == ((7.0, 13.0), (-3.0, 1.0))
    with pytest.raises(VMGError, match="A floor has rows of cells, all of one length"):
        Floor([[1, 1], [1]])
