"""A gripper that must bring an object to a place: open fingers go around it, closing ones hold it, a fist pushes it.

python examples/robots/pusher.py logs.npz
vmg train npz:logs.npz --task examples/robots/pusher.py:task --out runs/pusher
"""

import sys

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict
from recording import Hand, record

import vmg

TABLE, HOME = 0.5, np.array([0.0, -0.6])
FASTEST, SLUGGISHNESS = 0.05, 0.5  # metres per step; how much of its speed a step keeps
GRASP, FIST = 0.08, 0.07  # fingers that close this near hold the object; a fist pushes it out to here
TOLERANCE, HORIZON = 0.06, 100
SHELF = np.array([0.2, 0.3])  # x and y beyond these
FIELDS = {"gripper": (0, 1), "speed": (2, 3), "opening": (4,), "object": (5, 6), "object from gripper": (7, 8)}


class Pusher(gymnasium.Env):
    """Bring an object to a place. An action is where to move in x and y, and whether to open or close the fingers."""

    observation_space = Dict({"observation": Box(-2, 2, (9,)), "desired_goal": Box(-1, 1, (2,))})
    action_space = Box(-1, 1, (3,))

    def reset(self, *, seed=None, options=None):
        """Begin near home with open fingers; the object is not on the shelf, the goal may be."""
        super().reset(seed=seed)
        self.gripper, self.speed = HOME + self.np_random.uniform(-0.05, 0.05, 2), np.zeros(2)
        self.opening, self.held = 1.0, False
        self.item, self.goal = any_place(self.np_random, shelf=False), any_place(self.np_random)
        while np.linalg.norm(self.goal - self.item) < 0.2:
            self.goal = any_place(self.np_random)
        return self._seen(), {}

    def step(self, action):
        """Move and close or open the fingers, with the object where they hold or push it."""
        action = np.clip(action, -1, 1)
        self.speed = SLUGGISHNESS * self.speed + (1 - SLUGGISHNESS) * FASTEST * action[:2]
        moved = np.clip(self.gripper + self.speed, -0.8, 0.8)
        self.speed, self.gripper = moved - self.gripper, moved
        was_open, self.opening = self.opening >= 0.5, float(np.clip(self.opening + 0.3 * action[2], 0, 1))
        if self.held:
            self.item = self.item + self.speed
        away = self.item - self.gripper
        distance = np.linalg.norm(away)
        closed = self.opening < 0.5
        self.held = closed and (self.held or (was_open and distance < GRASP))
        if closed and not self.held and distance < FIST:
            self.item = self.gripper + FIST * (away / distance if distance else np.array([0.0, 1.0]))
        self.item = np.clip(self.item, -0.8, 0.8)
        there = bool(np.linalg.norm(self.item - self.goal) < TOLERANCE)
        return self._seen(), float(there), there, False, {"success": there}

    def _seen(self):
        seen = [*self.gripper, *self.speed, self.opening, *self.item, *(self.item - self.gripper)]
        return {"observation": np.float32(seen), "desired_goal": np.float32(self.goal)}


def any_place(rng, *, shelf=True):
    """Return a place on the table, with the shelf at its far right corner or without."""
    while ((place := rng.uniform(-TABLE, TABLE, 2)) > SHELF).all() and not shelf:
        pass
    return place


def operator(env, rng):
    """Bring the object to the goal, at times on to another place; one of five fumbles the first grasp."""
    hand, fumbles = Hand(rng, drift=0.05, tremor=0.1), rng.random() < 0.2
    for place in [env.goal, any_place(rng)][: 1 + (rng.random() < 0.4)]:
        while np.linalg.norm(env.item - place) > TOLERANCE / 2:
            if env.held:
                yield hand([*_towards(place - env.item, env), -1])
            elif env.opening < 0.5:  # it is not between the fingers: back off and open them
                yield hand([*_towards(env.gripper - env.item, env), 1])
            else:
                near = np.linalg.norm(env.item - env.gripper) < (GRASP + 0.04 if fumbles else GRASP / 2)
                fumbles = fumbles and not near
                yield hand([*_towards(env.item - env.gripper, env), -1 if near else 1])
        for _ in range(rng.integers(2, 6)):
            yield hand([*_towards(place - env.item, env), -1])
    for _ in range(rng.integers(4, 12)):
        yield hand([*_towards(HOME - env.gripper, env), 1])


def _towards(way, env):
    return (way - env.speed) / (2 * FASTEST)


def on_the_shelf(o_t, a_t, o_tp1):
    """Pay every step that ends with the object on the shelf."""
    return (o_tp1[:, 5:7] > SHELF).all(axis=1).astype(float)


def delivered(o_t, a_t, o_tp1):
    """Pay once when the object comes onto the shelf, and take it back when it leaves."""
    return on_the_shelf(None, None, o_tp1) - on_the_shelf(None, None, o_t)


task = vmg.Task(
    name="pusher",
    environment=Pusher,
    keys=("observation",),
    goal=vmg.TaskGoal(columns=(5, 6), tolerance=TOLERANCE),
    fields=FIELDS,
    horizon=HORIZON,
    protocol=f"The object comes within {TOLERANCE} m of a place, in {HORIZON} steps.",
)

if __name__ == "__main__":
    record(Pusher(), operator, sys.argv[1], n_episodes=500, horizon=HORIZON, fields=FIELDS)
