"""OGBench's mazes: its five tasks in turn, each episode decided by its seed, from its own kind of file to a score."""

import os
import subprocess
import sys
from ctypes.util import find_library
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("ogbench")

from ogbench_files import STEPS, point_maze

from vmg.agent.agent import Agent
from vmg.cli.demo import SETTINGS
from vmg.data import load
from vmg.envs import TASKS, find_task, task_of
from vmg.evaluation import evaluate

MAZES = [name for name in TASKS if name.startswith("ogbench-")]
RECORDED = 12_000


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """A file as OGBench publishes them."""
    file = tmp_path_factory.mktemp("ogbench") / "pointmaze-medium-navigate-v0.npz"
    return f"ogbench:{point_maze(file, RECORDED // STEPS)}"


@pytest.mark.parametrize("name", MAZES)
def test_an_episode_is_decided_by_its_seed_which_takes_the_five_tasks_in_turn(name):
    task = find_task(name)
    env = task.make()
    drawn = []
    for seed in (0, 1, 2, 3, 4, 5, 2):
        first, _ = env.reset(seed=seed, options=task.begin(seed))
        observation, *_, info = env.step(np.zeros(env.action_space.shape, np.float32))
        assert task.state_of(observation).dtype == np.float32
        assert info["task_id"] == 1 + seed % 5
        drawn.append((first["desired_goal"].tolist(), task.state_of(observation).tolist()))
    assert drawn[2] == drawn[-1]
    assert drawn[0] != drawn[5]  # the same task with another start and goal
    env.close()


def test_the_environment_counts_what_the_goals_tolerance_counts():
    for name in ("ogbench-pointmaze-medium", "ogbench-antmaze-medium"):
        task = find_task(name)
        env = task.make()
        env.reset(seed=0, options=task.begin(0))
        assert task.goal.tolerance == env.unwrapped._goal_tol
        env.close()


def test_its_file_finds_its_task_and_its_five_tasks_are_scored(recording):
    episodes, task = load(recording), task_of(recording)
    assert task.name == "ogbench-pointmaze-medium"
    assert (len(episodes), episodes.n_steps, episodes.observation_size) == (RECORDED // STEPS, RECORDED, 2)
    config = task.with_goal_columns(SETTINGS)
    learn = replace(config.learn, steps=3000, hidden_units=64, checkpoint_every=3000)
    (agent,) = Agent.fit(episodes, replace(config, learn=learn))
    scores = evaluate(agent.build(episodes).policy(), task, n_episodes=10, workers=1)
    assert [episode.report["task_id"] for episode in scores.episodes] == [1, 2, 3, 4, 5] * 2
    assert scores.score >= 80


SEEN = """
from vmg.envs import find_task
from vmg.view.episodes import NotingEnvironment, rendering

task = find_task("ogbench-pointmaze-medium")
task.make().close()  # MuJoCo is imported before anybody wants to see anything
env = NotingEnvironment(rendering(task), 1)
env.reset(seed=0, options=task.begin(0))
print(env.frames[0].shape, env.frames[0].std() > 0)
"""


@pytest.mark.skipif(not find_library("EGL"), reason="there is nothing to draw with")
def test_a_maze_can_be_seen_after_episodes_that_nobody_saw():
    without = {name: value for name, value in os.environ.items() if name not in ("MUJOCO_GL", "DISPLAY")}
    done = subprocess.run([sys.executable, "-c", SEEN], capture_output=True, text=True, check=True, env=without)
    assert done.stdout.split()[-1] == "True"
