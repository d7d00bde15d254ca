"""Random episodes for the tests of readers, and their slow twins: plain loops over steps."""

import numpy as np
from hypothesis import strategies as st

from vmg.data import Episodes


def make_episodes(seed, lengths, observation_size=3, action_size=2):
    """Random numbers that survive float32, a random way to end for each episode."""
    rng = np.random.default_rng(seed)
    parts = []
    for steps in lengths:
        terminated = bool(rng.integers(2))
        parts.append(
            (
                rng.normal(size=(steps + 1, observation_size)).astype(np.float32),
                rng.uniform(-1, 1, (steps, action_size)).astype(np.float32),
                rng.integers(0, 3, steps).astype(float),
                terminated,
                not terminated,
            )
        )
    return Episodes.from_list(parts, source="random")


episode_sets = st.builds(
    make_episodes,
    seed=st.integers(0, 2**32 - 1),
    lengths=st.lists(st.integers(1, 6), min_size=1, max_size=6),
    observation_size=st.integers(1, 4),
    action_size=st.integers(1, 3),
)


def step_rows(episodes):
    """One row per step, with what follows it: D4RL's layout with next_observations, written as plainly as possible."""
    rows = {name: [] for name in ("observations", "actions", "rewards", "next_observations", "terminals", "timeouts")}
    for episode in episodes:
        for t in range(len(episode)):
            last = t == len(episode) - 1
            rows["observations"].append(episode.observations[t])
            rows["actions"].append(episode.actions[t])
            rows["rewards"].append(episode.rewards[t])
            rows["next_observations"].append(episode.observations[t + 1])
            rows["terminals"].append(last and episode.terminated)
            rows["timeouts"].append(last and episode.truncated)
    return {name: np.array(values) for name, values in rows.items()}


def state_rows(episodes, last_reward=0.0):
    """One row per state: each episode's final state has a row too, with an action that was never carried out."""
    rows = {name: [] for name in ("observations", "actions", "rewards", "terminals", "timeouts")}
    for episode in episodes:
        for t in range(len(episode) + 1):
            last = t == len(episode)
            rows["observations"].append(episode.observations[t])
            rows["actions"].append(np.full_like(episode.actions[0], 0.5) if last else episode.actions[t])
            rows["rewards"].append(last_reward if last else episode.rewards[t])
            rows["terminals"].append(last and episode.terminated)
            rows["timeouts"].append(last and episode.truncated)
    return {name: np.array(values) for name, values in rows.items()}


def assert_same(left, right):
    for name in ("observations", "actions", "rewards", "lengths", "terminated", "truncated"):
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name), err_msg=name)
