"""An environment put into a state that another one was in has its joints where they were, and moving as they did."""

import numpy as np
import pytest

from vmg.envs import find_task
from vmg.envs.arranging import robot_of

TASKS = ["pointmaze-umaze", "antmaze-umaze", "kitchen-mixed", "halfcheetah-medium", "hopper-medium", "walker2d-medium"]

CLIPPED = ("hopper", "walker2d")
"""Bodies whose observations hold no velocity beyond ±10."""


@pytest.mark.filterwarnings("ignore:.*is out of date:DeprecationWarning")  # AntMaze v4 has the data's 27 readings
@pytest.mark.parametrize("name", TASKS)
def test_a_state_that_was_seen_can_be_set(name):
    task = find_task(name)
    lived, other = task.make(), task.make()
    observation, _ = lived.reset(seed=1)
    other.reset(seed=2)
    lived.action_space.seed(0)
    for _ in range(10):
        observation, *_ = lived.step(lived.action_space.sample())
    task.arrange(other, task.state_of(observation))
    there, here = robot_of(other).data, robot_of(lived).data
    body = name.partition("-")[0]
    skipped = 1 if body in ("halfcheetah", "hopper", "walker2d") else 0  # the place along the track
    nearly = 0.05 if name.startswith("kitchen") else 1e-5  # its sensors are noisy
    np.testing.assert_allclose(there.qpos[skipped:], here.qpos[skipped:], atol=nearly)
    np.testing.assert_allclose(there.qvel, np.clip(here.qvel, -10, 10) if body in CLIPPED else here.qvel, atol=nearly)
    lived.close()
    other.close()


def test_positions_alone_leave_the_kitchen_at_rest():
    task = find_task("kitchen-mixed")
    env = task.make()
    env.reset(seed=0)
    task.arrange(env, np.linspace(0, 0.3, 30, dtype=np.float32))
    np.testing.assert_allclose(robot_of(env).data.qpos, np.linspace(0, 0.3, 30), atol=1e-6)
    assert not robot_of(env).data.qvel.any()
    env.close()
