"""Putting MuJoCo's environments into a state, so that it can be seen: joints and their velocities, as a state has them.

A task names one of these as its `arrange`, or a function of its own: (environment, state) → nothing.
"""

from typing import Any

import numpy as np

from vmg.base.types import Float32s

ROBOT = 9
"""Joints of the kitchen's robot."""


def set_joints(env: Any, state: Float32s) -> None:
    """Set a state of all joints and then all velocities; joints that are missing at its beginning stay as they are.

    Mazes have all of them, with the place first. Runners leave out the place along the track.
    """
    robot = robot_of(env)
    missing = robot.model.nq + robot.model.nv - len(state)
    positions = np.concatenate([robot.data.qpos[:missing], state[: robot.model.nq - missing]])
    robot.set_state(positions, state[robot.model.nq - missing :].astype(np.float64))


def set_kitchen(env: Any, state: Float32s) -> None:
    """Set the kitchen: the robot's joints and velocities, the objects' places and velocities; or the places alone."""
    robot = robot_of(env)
    nq, nv = robot.model.nq, robot.model.nv
    if len(state) == nq:
        robot.set_state(state.astype(np.float64), np.zeros(nv))
        return
    own, objects = state[: 2 * ROBOT].astype(np.float64), state[2 * ROBOT :].astype(np.float64)
    positions, velocities = np.split(objects, [nq - ROBOT])
    robot.set_state(np.concatenate([own[:ROBOT], positions]), np.concatenate([own[ROBOT:], velocities]))


def robot_of(env: Any) -> Any:
    """Return what holds MuJoCo's model: the environment, or the robot in it."""
    inner = getattr(env, "unwrapped", env)
    robots = [getattr(inner, name, None) for name in ("point_env", "ant_env", "robot_env")]
    return next(each for each in (*robots, inner) if each is not None)
