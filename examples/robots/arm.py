"""A three-link arm with a motor in each joint. Its log says many things more than once, as logs do.

python examples/robots/arm.py logs.npz
vmg train npz:logs.npz --task examples/robots/arm.py:task --out runs/arm
"""

import sys

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict
from recording import Hand, record

import vmg

LINKS = np.array([0.5, 0.4, 0.25])
LOW, HIGH = np.array([-1.6, -0.2, -1.4]), np.array([1.6, 2.3, 1.4])
HOME = np.array([0.6, 0.9, 0.2])
MOTORS = np.array([7.0, 9.0, 12.0])  # what a motor adds to its joint's speed in a second, at full power
DAMPING, DT = 4.0, 0.05
TOLERANCE, HORIZON = 0.08, 100
BIN, BIN_RADIUS = np.array([0.25, 0.8]), 0.12
CAMERA = np.array([[0.0, -100.0], [100.0, 0.0]])  # turned by a right angle, and in centimetres
FIELDS = {"joints": (0, 1, 2), "speeds": (9, 10, 11), "hand": (12, 13), "gripper": (14, 15, 16)}


def hand_of(joints):
    """Return where the hand is, for one pose or many."""
    angles = np.cumsum(joints, axis=-1)
    return np.stack([np.cos(angles) @ LINKS, np.sin(angles) @ LINKS], axis=-1)


class Arm(gymnasium.Env):
    """Bring the hand to a place. An action is the power of the three motors."""

    observation_space = Dict({"observation": Box(-200, 200, (17,)), "desired_goal": Box(-2, 2, (2,))})
    action_space = Box(-1, 1, (3,))

    def reset(self, *, seed=None, options=None):
        """Begin near the home pose, with a goal that is not there already."""
        super().reset(seed=seed)
        self.joints, self.speeds = HOME + self.np_random.uniform(-0.4, 0.4, 3), np.zeros(3)
        self.goal = any_place(self.np_random)
        while np.linalg.norm(self.goal - hand_of(self.joints)) < 0.3:
            self.goal = any_place(self.np_random)
        return self._seen(), {}

    def step(self, action):
        """Let the motors work for a twentieth of a second; joints stop at their limits."""
        self.speeds = self.speeds + DT * (MOTORS * np.clip(action, -1, 1) - DAMPING * self.speeds)
        moved = self.joints + DT * self.speeds
        self.joints = np.clip(moved, LOW, HIGH)
        self.speeds = np.where(moved == self.joints, self.speeds, 0.0)
        there = bool(np.linalg.norm(hand_of(self.joints) - self.goal) < TOLERANCE)
        return self._seen(), float(there), there, False, {"success": there}

    def _seen(self):
        hand = hand_of(self.joints)
        gripper = [*(CAMERA @ hand), self.joints.sum()]  # the same hand as a camera sees it, and its direction
        seen = [*self.joints, *np.sin(self.joints), *np.cos(self.joints), *self.speeds, *hand, *gripper]
        return {"observation": np.float32(seen), "desired_goal": np.float32(self.goal)}


def any_place(rng):
    """Return a place that the hand can reach."""
    return hand_of(rng.uniform(LOW + 0.2, HIGH - 0.2))


POSES = np.random.default_rng(0).uniform(LOW, HIGH, (4000, 3))


def operator(env, rng):
    """Bring the hand to the goal, then to up to two other places, and wait at each for a moment."""
    hand = Hand(rng)
    for place in [env.goal, *(any_place(rng) for _ in range(rng.integers(0, 3)))]:
        miss = np.linalg.norm(hand_of(POSES) - place, axis=1)
        pose = POSES[np.argmin(miss + 0.02 * np.linalg.norm(POSES - env.joints, axis=1))]
        waits = int(rng.integers(3, 15))
        for _ in range(80):
            waits -= bool(np.linalg.norm(hand_of(env.joints) - place) < TOLERANCE)
            if waits == 0:
                break
            yield hand(2.5 * (pose - env.joints) - 0.3 * env.speeds)


def in_the_bin(o_t, a_t, o_tp1):
    """Pay every step that ends with the hand over the bin."""
    return (np.linalg.norm(o_tp1[:, 12:14] - BIN, axis=1) < BIN_RADIUS).astype(float)


def gently_in_the_bin(o_t, a_t, o_tp1):
    """Pay the same, less the power that was used."""
    return in_the_bin(o_t, a_t, o_tp1) - 0.05 * np.square(a_t).sum(axis=1)


task = vmg.Task(
    name="arm",
    environment=Arm,
    keys=("observation",),
    goal=vmg.TaskGoal(columns=(12, 13), tolerance=TOLERANCE),
    fields=FIELDS,
    horizon=HORIZON,
    protocol=f"The hand comes within {TOLERANCE} m of a place, in {HORIZON} steps.",
)

if __name__ == "__main__":
    record(Arm(), operator, sys.argv[1], n_episodes=300, horizon=HORIZON, fields=FIELDS)
