"""How the example robots are recorded: a scripted operator with a person's habits, written as plain arrays.

An operator is a generator: it looks at the robot and yields the next action until it is done.
"""

import json
from itertools import islice

import numpy as np


class Hand:
    """A person's hand on the controls: it drifts, trembles and pauses."""

    def __init__(self, rng, *, drift=0.1, tremor=0.1, pauses=0.01):
        self.rng, self.drift, self.tremor, self.pauses = rng, drift, tremor, pauses
        self.skill = rng.uniform(0.6, 1.0)  # some are quick, some are slow
        self.offset, self.pausing = 0.0, 0

    def __call__(self, wanted):
        """Return the action that comes of a wanted one."""
        wanted = np.asarray(wanted, dtype=float)
        if self.pausing == 0 and self.rng.random() < self.pauses:
            self.pausing = int(self.rng.integers(3, 10))
        self.pausing = max(self.pausing - 1, 0)
        self.offset = 0.9 * self.offset + self.rng.normal(0, self.drift, wanted.shape)
        steady = np.zeros_like(wanted) if self.pausing else self.skill * np.clip(wanted, -1, 1)
        return np.clip(steady + self.offset + self.rng.normal(0, self.tremor, wanted.shape), -1, 1)


def record(env, operator, path, *, n_episodes, horizon, fields, seed=0):
    """Let an operator work for some episodes and write them to an .npz file: observations, actions, lengths.

    An episode has one observation more than actions. Nobody rewards anything. `fields` names columns of observations.
    """
    rng = np.random.default_rng(seed)
    observations, actions, lengths = [], [], []
    for _ in range(n_episodes):
        before = len(actions)
        observations.append(env.reset(seed=int(rng.integers(2**31)))[0]["observation"])
        for action in islice(operator(env, rng), horizon):
            observations.append(env.step(action)[0]["observation"])
            actions.append(action)
        lengths.append(len(actions) - before)
    names = json.dumps(fields)
    np.savez(path, observations=np.array(observations), actions=np.float32(actions), lengths=lengths, fields=names)
    print(f"{path}: {n_episodes} episodes, {len(actions):,} steps")


def success_rate(env, operator, *, horizon, n_episodes=100, seed=0):
    """Return how often an operator reaches the goal that the environment names: what can be asked of a policy."""
    rng, reached = np.random.default_rng(seed), 0
    for episode in range(n_episodes):
        env.reset(seed=episode)
        reached += any(env.step(action)[2] for action in islice(operator(env, rng), horizon))
    return reached / n_episodes
