"""A region that must not be entered: the way leads around it, or you are told that there is none.

python examples/avoid.py logs.npz agent               (both made as in own_logs.py; draws avoid.png)
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import vmg

ROBOT = Path(__file__).parent / "robots" / "obstacles.py"
START, END = [-2.0, -2.0], [2.0, -2.0]
LOW, HIGH = [-0.6, -2.5], [0.4, -0.3]


def main(logs, folder):
    """Drive from one corner to another, with and without a wet floor between them."""
    episodes = vmg.load(f"npz:{logs}")
    agent = vmg.Agent.load(folder)
    target = vmg.goals.near(END, columns=(0, 1), tolerance=0.25)
    wet = vmg.goals.within(LOW, HIGH, columns=(0, 1), name="the wet floor")

    ways = {}
    for name, objective in (("the shortest way", target), ("avoiding the wet floor", target.avoiding(wet))):
        plan = agent.plan(objective, episodes)
        ways[name] = drive(plan)
        inside = int(wet.reached(ways[name]).sum())
        print(f"{name}: {len(ways[name]) - 1} steps, {inside} of them on the wet floor")
    draw(ways)


def drive(plan):
    """Return the states on the way to the target, at most 200."""
    robot, policy = vmg.find_task(f"{ROBOT}:task").make(), plan.policy()
    states = [robot.reset(seed=0, options={"place": START})[0]["observation"]]
    while len(states) <= 200 and not plan.objective.reached(states[-1][None])[0]:
        states.append(robot.step(policy.act(states[-1]))[0]["observation"])
    return np.array(states)


def draw(ways):
    """Draw the rocks, the wet floor and the ways."""
    rocks = sys.modules["obstacles"]
    figure, axes = plt.subplots(figsize=(5, 5))
    for place, radius in zip(rocks.ROCKS, rocks.RADII, strict=True):
        axes.add_patch(plt.Circle(place, radius, color="0.7"))
    axes.add_patch(plt.Rectangle(LOW, *np.subtract(HIGH, LOW), color="tab:blue", alpha=0.25))
    for name, states in ways.items():
        axes.plot(*states[:, :2].T, label=name)
    axes.set(xlim=(-rocks.WALL, rocks.WALL), ylim=(-rocks.WALL, rocks.WALL), aspect="equal")
    axes.legend(loc="upper left")
    figure.savefig("avoid.png", dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:])
