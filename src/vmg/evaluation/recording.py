"""Recording: an episode in an environment with all that was seen, done and paid."""

from typing import Any, TypeAlias

import numpy as np

from vmg.base.types import Float32s, Float64s
from vmg.envs.task import Task
from vmg.evaluation.evaluation import Actor

Recorded: TypeAlias = tuple[Float32s, Float32s, Float64s, bool, bool]
"""Observations T+1, actions T, rewards T, terminated, truncated: as `Episodes.from_list` takes them."""


def record(actor: Actor, task: Task, env: Any, seed: int) -> Recorded:
    """Run one episode from its seed and keep all of it."""
    observation, _ = env.reset(seed=seed, options=dict(task.begin(seed)) if task.begin else None)
    actor.begin(observation, task.objective_of(observation))
    states, actions, rewards = [task.state_of(observation)], [], []
    terminated = truncated = False
    while not (terminated or truncated):
        action = np.asarray(actor.act(states[-1]), np.float32)
        observation, reward, terminated, truncated, _ = env.step(action)
        states.append(task.state_of(observation))
        actions.append(action)
        rewards.append(float(reward))
        truncated = truncated or (task.horizon is not None and len(actions) >= task.horizon)
    return np.array(states), np.array(actions), np.array(rewards), bool(terminated), bool(truncated)
