import numpy as np
from acting_cases import agent
from matplotlib.image import imread

from vmg.act.tasks import find_task
from vmg.view.maze import GOAL, PATH, WALL, draw_maze_story


def share_of(image, colour):
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return (np.abs(image[..., :3] - rgb).max(-1) < 0.02).mean()


def test_the_story_shows_walls_walk_and_goal_and_is_the_same_twice(tmp_path):
    first, second = tmp_path / "first.png", tmp_path / "second.png"
    for file in (first, second):
        draw_maze_story(agent(), find_task("pointmaze-umaze"), file, seed=1)
    assert first.read_bytes() == second.read_bytes()
    image = imread(first)
    assert image.shape[1] > 1200
    assert share_of(image, WALL) > 0.1
    assert share_of(image, PATH) > 1e-4
    assert share_of(image, GOAL) > 1e-4
