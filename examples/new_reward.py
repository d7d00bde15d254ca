"""A reward that the logs know nothing of: the graph is solved again, nothing is learned again.

python examples/new_reward.py logs.npz agent          (both made as in own_logs.py)
"""

import sys
from pathlib import Path

import numpy as np

import vmg

ROBOT = Path(__file__).parent / "robots" / "obstacles.py"


def thrifty(o_t, a_t, o_tp1):
    """Pay every step at the charger, less the thrust it took. Arrays have one row per step."""
    charging = np.linalg.norm(o_tp1[:, :2] - [2.0, -2.0], axis=1) < 0.35
    return charging - 0.1 * np.square(a_t).sum(axis=1)


def main(logs, folder):
    """Plan for the reward and measure what comes of it."""
    episodes = vmg.load(f"npz:{logs}")
    agent = vmg.Agent.load(folder)
    plan = agent.plan(vmg.goals.reward_function(thrifty), episodes)

    task = vmg.scored_by(vmg.find_task(f"{ROBOT}:task"), plan)
    scores = vmg.evaluate(plan.policy(), task, n_episodes=10, workers=1)
    recorded = episodes.relabel(thrifty).returns
    print(f"The recorded episodes earn {recorded.mean():.1f} on average and {recorded.max():.1f} at best.")
    print(f"The policy earns {scores.mean_return:.1f}.")


if __name__ == "__main__":
    main(*sys.argv[1:])
