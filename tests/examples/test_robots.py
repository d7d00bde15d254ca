"""The example robots: gymnasium environments whose goals can be reached, and logs that fit their tasks."""

import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import vmg

ROBOTS = Path(__file__).parents[2] / "examples" / "robots"
NAMES = ("arm", "obstacles", "pusher")
REWARDS = {
    "arm": ("in_the_bin", "gently_in_the_bin"),
    "obstacles": ("charging", "charging_with_care"),
    "pusher": ("on_the_shelf", "delivered"),
}


@pytest.fixture(scope="module", params=NAMES)
def robot(request):
    """The module of one robot, found as the commands find it."""
    vmg.find_task(f"{ROBOTS / request.param}.py:task")
    return sys.modules[request.param]


@pytest.fixture(scope="module")
def recorded(robot, tmp_path_factory):
    file = tmp_path_factory.mktemp(robot.__name__) / "logs.npz"
    record(robot, file, seed=0)
    return vmg.load(f"npz:{file}")


def record(robot, file, *, seed):
    sys.modules["recording"].record(
        robot.task.make(), robot.operator, file, n_episodes=100, horizon=robot.HORIZON, fields=robot.FIELDS, seed=seed
    )


def test_gymnasium_finds_nothing_to_complain_about(robot):
    check_env(robot.task.make(), skip_render_check=True)


def test_whoever_recorded_it_reaches_nearly_every_goal(robot):
    operator = robot.operator if robot.__name__ != "obstacles" else partial(robot.operator, gives_up=0)
    share = sys.modules["recording"].success_rate(robot.task.make(), operator, horizon=robot.HORIZON)
    assert share >= 0.95


def test_its_logs_hold_the_states_that_its_task_makes(robot, recorded):
    state = robot.task.state_of(robot.task.make().reset(seed=0)[0])
    assert recorded.observations.shape[1:] == state.shape
    assert recorded.lengths.max() <= robot.HORIZON
    assert recorded.fields == robot.task.fields
    assert max(column for columns in robot.task.fields.values() for column in columns) < len(state)
    assert robot.task.goal.columns in robot.task.fields.values()


def test_the_same_seed_records_the_same(robot, recorded, tmp_path):
    record(robot, tmp_path / "again.npz", seed=0)
    assert vmg.load(f"npz:{tmp_path / 'again.npz'}").digest == recorded.digest
    record(robot, tmp_path / "other.npz", seed=1)
    assert vmg.load(f"npz:{tmp_path / 'other.npz'}").digest != recorded.digest


def test_its_rewards_pay_some_recorded_steps_and_not_all(robot, recorded):
    for name in REWARDS[robot.__name__]:
        rewards = recorded.relabel(getattr(robot, name)).rewards
        assert rewards.max() > 0
        assert np.unique(rewards).size > 1


def test_reaching_the_goal_is_what_its_task_measures(robot):
    """The task's columns and tolerance say the same as the environment: it is over exactly when they say so."""
    env, rng = robot.task.make(), np.random.default_rng(0)
    for seed in range(10):
        objective = robot.task.objective_of(env.reset(seed=seed)[0])
        for action in robot.operator(env, rng):
            observation, _, reached, _, _ = env.step(action)
            assert reached == bool(objective.reached(robot.task.state_of(observation)[None])[0])


def test_the_arm_says_the_hand_twice(tmp_path):
    """Columns 14 and 15 are the hand's again, in other units and turned; a goal in the hand alone contradicts none."""
    vmg.find_task(f"{ROBOTS / 'arm.py'}:task")
    robot = sys.modules["arm"]
    record(robot, tmp_path / "logs.npz", seed=3)
    states = vmg.load(f"npz:{tmp_path / 'logs.npz'}").observations
    np.testing.assert_allclose(states[:, 14:16], states[:, 12:14] @ robot.CAMERA.T, atol=1e-3)
    np.testing.assert_allclose(states[:, 12:14], robot.hand_of(states[:, :3]), atol=1e-5)


def test_closing_fingers_hold_the_object_and_a_fist_pushes_it():
    vmg.find_task(f"{ROBOTS / 'pusher.py'}:task")
    env = sys.modules["pusher"].Pusher()
    env.reset(seed=0)
    env.item = env.gripper + np.array([0.0, 0.05])
    for _ in range(3):
        env.step([0, 0, -1])
    before = env.item
    env.step([1, 0, -1])
    assert env.held
    assert env.item[0] > before[0]
    env.reset(seed=0)
    env.opening, env.item = 0.0, env.gripper + np.array([0.1, 0.0])
    for _ in range(10):
        env.step([1, 0, -1])
    assert not env.held
    assert env.item[0] - env.gripper[0] == pytest.approx(sys.modules["pusher"].FIST)
