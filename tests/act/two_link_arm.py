"""A planar arm of two links, pushed about at random: a robot whose columns repeat each other.

Its six numbers are two joint angles, their speeds and the place of the hand, which the angles alone decide.
"""

import numpy as np

from vmg.data import Episodes

UPPER, FORE = 1.0, 0.8
STEP = 0.1
LIMITS = np.array([[-1.5, 0.2], [1.5, 2.4]])
HAND = (4, 5)


class Arm:
    """Many arms at once, one per row; `act` takes torques in [-1, 1]."""

    def __init__(self, joints: np.ndarray) -> None:
        self.joints = np.array(joints, dtype=float)
        self.speeds = np.zeros_like(self.joints)

    def observe(self) -> np.ndarray:
        return np.hstack([self.joints, self.speeds, hand(self.joints)]).astype(np.float32)

    def act(self, torques: np.ndarray) -> np.ndarray:
        self.speeds += STEP * (4.0 * np.clip(torques, -1, 1) - 2.0 * self.speeds)
        moved = self.joints + STEP * self.speeds
        self.joints = np.clip(moved, *LIMITS)
        self.speeds[self.joints != moved] = 0.0
        return self.observe()


def hand(joints: np.ndarray) -> np.ndarray:
    """Return where the hand is."""
    first, both = joints[:, 0], joints.sum(1)
    x = UPPER * np.cos(first) + FORE * np.cos(both)
    return np.stack([x, UPPER * np.sin(first) + FORE * np.sin(both)], axis=1)


def random_joints(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.uniform(*LIMITS, (n, 2))


def random_motion(n_episodes: int, n_steps: int, seed: int = 0) -> Episodes:
    """Record arms whose torques wander."""
    rng = np.random.default_rng(seed)
    arms, torques = Arm(random_joints(n_episodes, rng)), rng.normal(0, 0.6, (n_episodes, 2))
    seen, taken = [arms.observe()], []
    for _ in range(n_steps):
        torques = 0.85 * torques + rng.normal(0, 0.35, torques.shape)
        taken.append(np.clip(torques, -1, 1).astype(np.float32))
        seen.append(arms.act(taken[-1]))
    observations, actions = np.stack(seen, 1), np.stack(taken, 1)
    none = np.zeros(n_steps)
    return Episodes.from_list([(o, a, none, False, True) for o, a in zip(observations, actions, strict=True)])
