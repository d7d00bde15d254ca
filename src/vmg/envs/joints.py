"""Moving the joints of MuJoCo's environments between two steps, and looking at them again."""

from collections.abc import Callable
from typing import Any

import numpy as np

from vmg.base.types import Float64s, Int64s
from vmg.data.keys import leaves
from vmg.envs.arranging import robot_of

TRIES = 100
"""Draws of positions before one is taken that lies in something."""
POINTS = 20
"""Points of the way to a position at which is looked whether it is free."""
DEEPER = 0.005
"""Metres that bodies may lie deeper in one another than before they were moved."""
SLIDE, HINGE = 2, 3
"""MuJoCo's kinds of joints with one number."""
JOINT = 0
"""MuJoCo's kind of motor that moves one joint."""


def has_joints(env: Any, observation: Any) -> bool:
    """Say whether joints of an environment can be moved and then seen again, as in the observation of its reset."""
    robot = robot_of(env)
    if not all(hasattr(robot, name) for name in ("model", "data", "set_state")) or not len(driven_joints(env)[0]):
        return False
    try:
        again = observe(env)
    except (AttributeError, TypeError):  # it looks at itself in another way
        return False
    return _form(again) == _form(observation)


def driven_joints(env: Any) -> tuple[Int64s, Int64s]:
    """Return where the joints that motors move have their positions, and their velocities."""
    model = robot_of(env).model
    driven = np.unique(model.actuator_trnid[model.actuator_trntype == JOINT, 0])
    single = driven[np.isin(model.jnt_type[driven], (SLIDE, HINGE))]
    return model.jnt_qposadr[single].astype(np.int64), model.jnt_dofadr[single].astype(np.int64)


def move(env: Any, places: Int64s, draw: Callable[[], Float64s], *, velocities: bool = False) -> None:
    """Add what is drawn to positions, or to velocities, within the joints' limits.

    Positions to which the way leads through something are drawn again.
    """
    robot = robot_of(env)
    qpos, qvel = robot.data.qpos.copy(), robot.data.qvel.copy()
    if velocities:
        qvel[places] += draw()
        robot.set_state(qpos, qvel)
        return
    deepest = _depth(robot) + DEEPER
    for _ in range(TRIES):
        moved = qpos.copy()
        moved[places] += draw()
        if _is_free(robot, qpos, _within_limits(robot.model, qpos, moved), qvel, deepest):
            return


def observe(env: Any) -> Any:
    """Return what an environment would show now."""
    inner, robot = getattr(env, "unwrapped", env), robot_of(env)
    if robot is inner:
        return inner._get_obs()
    seen = robot._get_obs()
    return inner._get_obs(seen[0] if isinstance(seen, tuple) else seen)


def _is_free(robot: Any, qpos: Float64s, moved: Float64s, qvel: Float64s, deepest: float) -> bool:
    """Go there in a straight line, in small steps, and say whether nothing came deeper into anything."""
    depths = []
    for share in np.linspace(0, 1, POINTS + 1)[1:]:
        robot.set_state(qpos + share * (moved - qpos), qvel)
        depths.append(_depth(robot))
    return max(depths) <= deepest


def _within_limits(model: Any, before: Float64s, moved: Float64s) -> Float64s:
    """Keep joints to their ranges, or no farther outside than they were before."""
    joints = np.flatnonzero(model.jnt_limited & np.isin(model.jnt_type, (SLIDE, HINGE)))
    at, (low, high) = model.jnt_qposadr[joints], model.jnt_range[joints].T
    moved[at] = np.clip(moved[at], np.minimum(low, before[at]), np.maximum(high, before[at]))
    return moved


def _depth(robot: Any) -> float:
    """How deep the bodies lie in one another, in metres: the deepest pair."""
    distances = robot.data.contact.dist
    return max(0.0, -float(distances.min())) if len(distances) else 0.0


def _form(observation: Any) -> dict[str, Any]:
    return {name: np.shape(leaf) for name, leaf in leaves(observation).items()}
