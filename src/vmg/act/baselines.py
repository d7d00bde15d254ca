"""Baselines in the same harness: behaviour cloning (BC) and goal-conditioned behaviour cloning (GCBC).

Same data, same inputs as the translator's, same network shape, same batch and number of updates as the agent they stand
beside. GCBC is trained with goals drawn uniformly from the rest of the episode. It is asked for the goal that the
environment names or, where none is named, for the last observation of the recorded episode with the highest return.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vmg.config import AgentConfig, GoalConfig
from vmg.data.episodes import Episodes
from vmg.networks import Weights, clone
from vmg.types import Float32s


@dataclass
class CloningActor:
    """Acts as a cloned network says."""

    weights: Weights
    low: Float32s
    high: Float32s
    goal: Float32s | None = None
    """What to head for; None: not conditioned on a goal."""
    named: GoalConfig | None = None
    """How the environment names goals, where it does."""

    def begin(self, observation: Any) -> None:
        """Note the goal the environment names."""
        if self.goal is not None and self.named and isinstance(observation, Mapping) and self.named.key in observation:
            self.goal = np.asarray(observation[self.named.key], dtype=np.float32)

    def act(self, state: Float32s) -> Float32s:
        """Return the cloned action."""
        goals = None if self.goal is None else self.goal[None]
        action: Float32s = np.clip(clone(self.weights, state[None], goals)[0], self.low, self.high)
        return action


def cloning_actors(
    episodes: Episodes, config: AgentConfig, seeds: Sequence[int], folder: Path
) -> dict[str, list[CloningActor]]:
    """Train both baselines, one model a seed; `folder` keeps them, so that training goes on or is not done twice."""
    from vmg.learn import fit_cloning

    columns = config.goal.columns if config.goal else tuple(range(episodes.observation_size))
    best = episodes[int(np.argmax(episodes.returns))].observations[-1]
    low, high = episodes.actions.min(0), episodes.actions.max(0)
    plain = fit_cloning(episodes, config.learn, seeds, folder=folder / "BC")
    aimed = fit_cloning(episodes, config.learn, seeds, goal_columns=columns, folder=folder / "GCBC")
    return {
        "BC": [CloningActor(weights, low, high) for weights in plain],
        "GCBC": [CloningActor(weights, low, high, best[list(columns)], config.goal) for weights in aimed],
    }
