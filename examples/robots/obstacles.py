"""A robot with momentum that drives around rocks, logged by someone who dawdles, takes detours and gives up at times.

python examples/robots/obstacles.py logs.npz
vmg train npz:logs.npz --task examples/robots/obstacles.py:task --out runs/obstacles
"""

import sys

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict
from recording import Hand, record

import vmg

ROCKS = np.array([[-1.3, 1.2], [0.2, 0.4], [1.5, 1.5], [-1.2, -0.9], [1.3, -1.1]])
RADII = np.array([0.5, 0.6, 0.4, 0.6, 0.5])
WALL = 2.5
THRUST, DRAG, DT = 1.8, 1.2, 0.1
TOLERANCE, HORIZON = 0.25, 150
CHARGER, CHARGER_RADIUS = np.array([2.0, -2.0]), 0.35
FIELDS = {"place": (0, 1), "speed": (2, 3), "clearance": (4,)}


def clearance_of(places):
    """Return how far it is to the nearest rock, for one place or many."""
    return (np.linalg.norm(places[..., None, :] - ROCKS, axis=-1) - RADII).min(axis=-1)


class Obstacles(gymnasium.Env):
    """Drive to a place. An action is the thrust in x and y."""

    observation_space = Dict({"observation": Box(-9, 9, (5,)), "desired_goal": Box(-3, 3, (2,))})
    action_space = Box(-1, 1, (2,))

    def reset(self, *, seed=None, options=None):
        """Begin at rest, with a goal that is not near; `options` may name the "place" to begin at."""
        super().reset(seed=seed)
        self.place, self.speed, self.goal = any_place(self.np_random), np.zeros(2), any_place(self.np_random)
        self.place = np.array((options or {}).get("place", self.place), dtype=float)
        while np.linalg.norm(self.goal - self.place) < 1.5:
            self.goal = any_place(self.np_random)
        return self._seen(), {}

    def step(self, action):
        """Drive for a tenth of a second. Rocks and walls stop what goes into them; one slides along the rest."""
        self.speed = self.speed + DT * (THRUST * np.clip(action, -1, 1) - DRAG * self.speed)
        self.place = self.place + DT * self.speed
        for rock, radius in zip(ROCKS, RADII, strict=True):
            away = self.place - rock
            if (distance := np.linalg.norm(away)) < radius:
                self._stop(away / distance, rock + radius * away / distance)
        for axis in (0, 1):
            if abs(self.place[axis]) > WALL:
                inwards = -np.sign(self.place[axis]) * np.eye(2)[axis]
                self._stop(inwards, np.clip(self.place, -WALL, WALL))
        there = bool(np.linalg.norm(self.place - self.goal) < TOLERANCE)
        return self._seen(), float(there), there, False, {"success": there}

    def _stop(self, outwards, place):
        self.place, self.speed = place, self.speed - min(self.speed @ outwards, 0.0) * outwards

    def _seen(self):
        seen = [*self.place, *self.speed, clearance_of(self.place)]
        return {"observation": np.float32(seen), "desired_goal": np.float32(self.goal)}


def any_place(rng):
    """Return a place that is not in a rock."""
    while clearance_of(place := rng.uniform(-WALL + 0.2, WALL - 0.2, 2)) < 0.15:
        pass
    return place


def way_around(start, end, rng, depth=0):
    """Return places to go to, one after the other: beside every rock in the way, now and then on its longer side."""
    steps = np.linspace(start, end, 50)
    blocked = clearance_of(steps) < 0.1
    if not blocked.any() or depth == 4:
        return [end]
    rock = np.argmin(np.linalg.norm(steps[np.argmax(blocked)] - ROCKS, axis=1) - RADII)
    along = (end - start) / np.linalg.norm(end - start)
    aside = np.array([-along[1], along[0]])
    side = -np.sign(aside @ (ROCKS[rock] - start)) or 1.0
    if depth == 0 and rng.random() < 0.15:
        side = -side
    beside = np.clip(ROCKS[rock] + side * (RADII[rock] + 0.3) * aside, -WALL + 0.1, WALL - 0.1)
    return [*way_around(start, beside, rng, depth + 1), *way_around(beside, end, rng, depth + 1)]


def operator(env, rng, *, gives_up=1 / 12):
    """Drive to the goal. One of six looks at another place first; one of twelve gives up on the way."""
    hand = Hand(rng, drift=0.12, tremor=0.15)
    detour = [any_place(rng)] if rng.random() < 1 / 6 else []
    patience = rng.integers(5, 40) if rng.random() < gives_up else HORIZON
    for stop in [*detour, env.goal]:
        for place in way_around(env.place, stop, rng):
            while np.linalg.norm(env.place - place) > (0.15 if place is stop else 0.3):
                wanted = 1.6 * (place - env.place)
                yield hand(1.5 * (wanted / max(np.linalg.norm(wanted), 1.0) - 0.6 * env.speed))
                if (patience := patience - 1) == 0:
                    return
    for _ in range(rng.integers(0, 20)):
        yield hand(env.goal - env.place - env.speed)


def charging(o_t, a_t, o_tp1):
    """Pay every step at the charger."""
    return (np.linalg.norm(o_tp1[:, :2] - CHARGER, axis=1) < CHARGER_RADIUS).astype(float)


def charging_with_care(o_t, a_t, o_tp1):
    """Pay the same, and take something for every step close to a rock."""
    return charging(o_t, a_t, o_tp1) - 0.1 * (o_tp1[:, 4] < 0.1)


task = vmg.Task(
    name="obstacles",
    environment=Obstacles,
    keys=("observation",),
    goal=vmg.TaskGoal(columns=(0, 1), tolerance=TOLERANCE),
    fields=FIELDS,
    horizon=HORIZON,
    protocol=f"Within {TOLERANCE} m of a place, in {HORIZON} steps.",
)

if __name__ == "__main__":
    record(Obstacles(), operator, sys.argv[1], n_episodes=400, horizon=HORIZON, fields=FIELDS)
