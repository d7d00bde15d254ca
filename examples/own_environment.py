"""A gymnasium environment of your own: record it, learn, and measure.

python examples/own_environment.py
"""

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict

import vmg

LENGTH, WIDTH = 6.0, 3.0


class River(gymnasium.Env):
    """A boat on a river whose current is strongest in the middle. A pier on the far bank is its goal."""

    observation_space = Dict({"boat": Box(0, LENGTH, (2,)), "pier": Box(0, LENGTH, (2,))})
    action_space = Box(-1, 1, (2,))

    def reset(self, *, seed=None, options=None):
        """Begin at the near bank."""
        super().reset(seed=seed)
        self.boat = np.array([self.np_random.uniform(0, LENGTH), 0.0])
        self.pier = np.array([self.np_random.uniform(1, LENGTH - 1), WIDTH])
        return self._seen(), {}

    def step(self, action):
        """Row, and be carried along."""
        current = 0.8 * np.sin(np.pi * self.boat[1] / WIDTH)
        moved = self.boat + 0.1 * (np.clip(action, -1, 1) + np.array([current, 0.0]))
        self.boat = np.clip(moved, 0.0, [LENGTH, WIDTH])
        landed = bool(np.linalg.norm(self.boat - self.pier) < 0.2)
        return self._seen(), float(landed), landed, False, {"success": landed}

    def _seen(self):
        return {"boat": np.float32(self.boat), "pier": np.float32(self.pier)}


def crossing(seed):
    """Record someone who rows towards the pier, unsteadily, and as if there were no current."""
    env, rng = River(), np.random.default_rng(seed)
    boats, actions = [env.reset(seed=seed)[0]["boat"]], []
    while len(actions) < 80:
        way = env.pier - env.boat
        actions.append(np.clip(2 * way / np.linalg.norm(way) + rng.normal(0, 0.4, 2), -1, 1))
        observation, _, landed, _, _ = env.step(actions[-1])
        boats.append(observation["boat"])
        if landed:
            break
    return boats, actions, np.zeros(len(actions)), landed, not landed


task = vmg.Task(
    name="river",
    environment=River,
    keys=("boat",),
    goal=vmg.TaskGoal(columns=(0, 1), tolerance=0.2, key="pier"),
    horizon=100,
)


def main():
    """Learn from 200 crossings, and cross to piers that the environment names."""
    episodes = vmg.Episodes.from_list([crossing(seed) for seed in range(200)], source="river")
    settings = vmg.AgentConfig(
        learn=vmg.LearnConfig(
            steps=2000,
            hidden_units=64,
            margins="program",
            encoder_inputs="normalised",
            low_level=vmg.Translator(inputs="relative"),
        ),
        graph=vmg.GraphConfig(radius=0.8),
        solve=vmg.SolveConfig(ties="nearest"),
    )
    (agent,) = vmg.Agent.fit(episodes, task.with_goal_columns(settings))
    scores = vmg.evaluate(agent.build(episodes).policy(), task, n_episodes=30, first_seed=1000, workers=1)
    low, high = scores.interval
    print(f"Reached the pier in {scores.score:.0f} % of {len(scores.episodes)} crossings ({low:.0f} to {high:.0f}).")


if __name__ == "__main__":
    main()
