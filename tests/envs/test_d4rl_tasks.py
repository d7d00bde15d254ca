"""Tasks in D4RL's form: where walls, starts and goals lie, what the body is, and what makes the state."""

from contextlib import closing

import numpy as np
import pytest

pytest.importorskip("gymnasium_robotics")

from vmg.envs import find_task, task_of
from vmg.envs.families import d4rl
from vmg.envs.families.kitchen import D4RL_KITCHEN_FIELDS, KITCHEN_POSITIONS


@pytest.mark.parametrize(("maze", "kind"), [("umaze", "umaze"), ("medium", "medium-play"), ("large", "large-diverse")])
def test_walls_lie_where_the_maze_has_them(maze, kind):
    import mujoco

    with closing(find_task(f"antmaze-{kind}-d4rl").make()) as env:
        model = env.env.unwrapped.ant_env.model
        names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_GEOM, geom) or "" for geom in range(model.ngeom)]
        blocks = [model.geom_pos[geom][:2] + env.offset for geom, name in enumerate(names) if name.startswith("block")]
    cells = {tuple(np.rint(xy[::-1] / d4rl.CELL + 1).astype(int).tolist()) for xy in blocks}
    assert cells == set(d4rl.cells_of(maze, "#"))
    assert d4rl.cell_place((1, 1)).tolist() == [0, 0]


def test_the_ant_is_d4rls_and_one_goal_ends_every_episode():
    task = find_task("antmaze-umaze-d4rl")
    with closing(task.make()) as env:
        ant = env.env.unwrapped.ant_env
        assert (ant.dt, set(ant.model.actuator_gear[:, 0])) == (pytest.approx(0.1), {30.0})
        first, second = (task.state_of(env.reset(seed=seed)[0]) for seed in (0, 1))
        again = task.state_of(env.reset(seed=0)[0])
        np.testing.assert_array_equal(first, again)
        assert first.shape == (29,)
        assert np.abs([first[:2], second[:2]]).max() <= 0.1
        assert env.goal.tolist() == [0.75, 8.75]
        env.reset(seed=0, options={"start": env.goal})
        _, reward, terminated, _, info = env.step(np.zeros(8))
        assert (reward, terminated, info["success"]) == (1.0, True, True)
        env.reset(seed=0, options={"start": env.goal + np.array([2.0, 0.0])})
        _, reward, terminated, _, info = env.step(np.zeros(8))
        assert (reward, terminated, info["success"]) == (0.0, False, False)


def test_the_goal_of_the_environment_beneath_does_not_count():
    with closing(find_task("antmaze-umaze-d4rl").make()) as env:
        env.reset(seed=0)
        env.env.unwrapped.goal = env.state[:2] - env.offset
        _, reward, terminated, _, info = env.step(np.zeros(8))
        assert (reward, terminated, info["success"]) == (0.0, False, False)


def test_goals_can_be_drawn_and_are_named():
    task = d4rl.drawn(find_task("antmaze-large-play-d4rl"))
    with closing(task.make()) as env:
        seen = [env.reset(seed=seed)[0] for seed in range(20)]
    goals = np.array([each["desired_goal"] for each in seen])
    assert len(np.unique(goals, axis=0)) == 20
    assert ((goals >= [32, 24]) & (goals <= [33.5, 25.5])).all()
    assert task.state_of(seen[0]).shape == (29,)
    np.testing.assert_allclose(task.goal.place(seen[3]), goals[3], rtol=1e-6)


@pytest.mark.parametrize(
    ("form", "size", "noise"), [("d4rl", 60, 0.01), ("positions", 30, 0.01), ("d4rl-noise", 60, 0.1)]
)
def test_the_kitchens_state_is_positions_and_a_constant_goal(form, size, noise):
    from gymnasium_robotics.envs.franka_kitchen.kitchen_env import OBS_ELEMENT_GOALS

    task = find_task(f"kitchen-mixed-{form}")
    with closing(task.make()) as env:
        observation, _ = env.reset(seed=0)
        assert env.unwrapped.robot_env.robot_noise_ratio == noise
        state, later = (task.state_of(each) for each in (observation, env.step(np.ones(9))[0]))
    assert state.shape == (size,)
    np.testing.assert_allclose(state[:30], observation["observation"][list(KITCHEN_POSITIONS)], rtol=1e-6)
    np.testing.assert_array_equal(state[30:], later[30:])
    for name, columns in D4RL_KITCHEN_FIELDS.items() if size == 60 else ():
        wanted = OBS_ELEMENT_GOALS[name] if name in task.options["tasks_to_complete"] else 0
        np.testing.assert_allclose(state[30 + np.array(columns)], wanted, rtol=1e-6)
    assert task_of(f"npz:some/folder/kitchen-mixed-{form}.npz").name == task.name
