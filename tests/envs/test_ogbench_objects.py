"""OGBench's table: a goal is reached where the environment says so, and its files become agents that act."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("ogbench")

from vmg.agent.agent import Agent
from vmg.data import load
from vmg.envs import find_task, task_of
from vmg.evaluation import evaluate


def begun(name, seed=0):
    """The environment with its objective and, inside, OGBench's own world."""
    task = find_task(name)
    env = task.make()
    observation, _ = env.reset(seed=seed, options=task.begin(seed))
    return task, env, task.objective_of(observation), observation


def agrees(env, objective):
    """Whether the objective is reached, checked against what the environment counts."""
    import mujoco

    world = env.unwrapped
    mujoco.mj_forward(world._model, world._data)
    counted = bool(np.all(np.concatenate([np.atleast_1d(each) for each in world._compute_successes()])))
    reached = bool(objective.reached(world.compute_observation()[None].astype(np.float32))[0])
    assert reached == counted
    return reached


def test_the_scene_is_as_wanted_only_if_cube_buttons_drawer_and_window_are():
    _, env, objective, _ = begun("ogbench-scene")
    world = env.unwrapped
    data = world._data

    def arrange(cube=0.0, button=0, drawer=0.0, window=0.0):
        data.joint("object_joint_0").qpos[:3] = data.mocap_pos[world._cube_target_mocap_ids[0]] + [cube, 0, 0]
        world._cur_button_states = (world._target_button_states + np.array([button, 0])) % 2
        data.joint("drawer_slide").qpos[0] = world._target_drawer_pos + drawer
        data.joint("window_slide").qpos[0] = world._target_window_pos + window
        return agrees(env, objective)

    assert arrange()
    for near, far in ({"cube": 0.035}, {"cube": 0.045}), ({"drawer": 0.035}, {"drawer": 0.045}):
        assert arrange(**near)
        assert not arrange(**far)
    assert arrange(window=-0.035)
    assert not arrange(window=-0.045)
    assert not arrange(button=1)
    env.close()


def test_the_puzzle_is_as_wanted_only_if_all_its_buttons_are():
    _, env, objective, _ = begun("ogbench-puzzle-3x3")
    world = env.unwrapped
    world._cur_button_states = world._target_button_states.copy()
    assert agrees(env, objective)
    for button in range(9):
        world._cur_button_states = world._target_button_states.copy()
        world._cur_button_states[button] ^= 1
        assert not agrees(env, objective)
    env.close()


def test_both_cubes_must_be_where_they_are_wanted():
    task, env, objective, observation = begun("ogbench-cube-double")
    env.close()
    wanted = observation["wanted_observation"].astype(np.float32)
    assert objective.reached(wanted[None])[0]
    assert not objective.reached(task.state_of(observation)[None])[0]
    for first in (19, 28):
        moved = np.repeat(wanted[None], 2, axis=0)
        moved[:, first] += [0.39, 0.41]
        assert objective.reached(moved).tolist() == [True, False]


def test_its_file_becomes_an_agent_that_acts(tmp_path):
    task = replace(find_task("ogbench-cube-single"), options={"terminate_at_goal": False})
    env, rng = task.make(), np.random.default_rng(0)
    rows = []
    for seed in range(2):
        observation = env.reset(seed=seed, options=task.begin(seed))[0]
        for step in range(41):
            action = rng.uniform(-1, 1, 5)
            rows.append((task.state_of(observation), action, step == 40))
            observation = env.step(action)[0]
    env.close()
    file = tmp_path / "cube-single-play-v0.npz"
    observations, actions, terminals = map(np.array, zip(*rows, strict=True))
    np.savez(file, observations=observations, actions=actions, terminals=terminals)
    source = f"ogbench:{file}"
    assert task_of(source).name == "ogbench-cube-single"
    config = task.preset("paper")
    learn = replace(config.learn, steps=10, hidden_units=16, checkpoint_every=10)
    (agent,) = Agent.fit(load(source), replace(config, learn=learn, graph=replace(config.graph, radius=0.05)))
    policy = agent.build(load(source)).policy()
    scores = evaluate(policy, replace(task, horizon=10), n_episodes=1, workers=1)
    assert scores.episodes[0].report == {"task_id": 1}
    assert scores.episodes[0].planned is not None
