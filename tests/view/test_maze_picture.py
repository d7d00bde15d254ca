import numpy as np
import pytest
from acting_cases import agent
from matplotlib.image import imread

from vmg.base.errors import VMGError
from vmg.envs import find_task
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
    from dataclasses import replace

    placeless = replace(agent(), graph=replace(agent().built, goal_columns=(), places=None))
    with pytest.raises(VMGError, match="does not take place in a maze"):
        draw_maze_story(placeless, find_task("pointmaze-umaze"), tmp_path / "story.png")
