"""One place after the other, in one episode.

python examples/sequence.py agent                     (made by own_logs.py)
"""

import sys
from pathlib import Path

import vmg

ROBOT = Path(__file__).parent / "robots" / "obstacles.py"


def main(folder):
    """Visit three corners in turn, from ten starts."""
    agent = vmg.Agent.load(folder)
    task = vmg.find_task(f"{ROBOT}:task")
    corners = [task.objective(place) for place in ("place=2,2", "place=-2,2", "place=-2,-2")]
    tour = agent.plan(vmg.goals.in_order(corners))
    print(tour)

    scores = vmg.evaluate(tour.policy(), vmg.scored_by(task, tour), n_episodes=10, workers=1)
    print(f"All three corners in {scores.endings.get('success', 0)} of {len(scores.episodes)} episodes.")


if __name__ == "__main__":
    main(*sys.argv[1:])
