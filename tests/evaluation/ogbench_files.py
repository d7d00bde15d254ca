"""Small files as OGBench publishes them, recorded on the spot."""

from dataclasses import replace

import numpy as np

from vmg.envs import find_task

STEPS = 200


def walk(env, seed):
    """Go where OGBench's own guide points, unsteadily, from one random cell to another, again and again."""
    rng, maze = np.random.default_rng(seed), env.unwrapped
    free = np.argwhere(maze.maze_map == 0)
    observations, actions, goal = [env.reset(seed=seed)[0]], [], None
    for _ in range(STEPS):
        xy = maze.get_xy()
        if goal is None or np.linalg.norm(xy - goal) < 1:
            goal = np.array(maze.ij_to_xy(free[rng.integers(len(free))]))
        towards = maze.get_oracle_subgoal(xy, goal)[0] - xy
        action = towards / max(np.linalg.norm(towards), 1e-6) + rng.normal(0, 0.5, 2)
        actions.append(np.clip(action, -1, 1))
        observation, *_ = env.step(actions[-1])
        observations.append(observation)
    return np.array(observations), np.array([*actions, np.zeros(2)]), np.arange(STEPS + 1) == STEPS


def point_maze(file, episodes, first_seed=0):
    """Write a file of walks in the medium maze."""
    env = replace(find_task("ogbench-pointmaze-medium"), options={"terminate_at_goal": False}, horizon=None).make().env
    parts = zip(*(walk(env, first_seed + seed) for seed in range(episodes)), strict=True)
    env.close()
    names = ("observations", "actions", "terminals")
    np.savez(file, **{name: np.concatenate(part) for name, part in zip(names, parts, strict=True)})
    return file
