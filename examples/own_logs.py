"""Logs of your own become an agent, and the agent acts in your own loop. No task, no environment is needed.

python examples/robots/obstacles.py logs.npz
python examples/own_logs.py logs.npz agent
"""

import sys
from pathlib import Path

import vmg

ROBOT = Path(__file__).parent / "robots" / "obstacles.py"
CHARGER = [2.0, -2.0]
QUICK = vmg.AgentConfig(
    learn=vmg.LearnConfig(
        steps=3000,
        hidden_units=128,
        margins="program",
        encoder_inputs="normalised",
        low_level=vmg.Translator(inputs="relative"),
    ),
    graph=vmg.GraphConfig(radius=1.4, recordings=True),
    solve=vmg.SolveConfig(paths="recordings", ties="nearest"),
    act=vmg.ActConfig(subgoal_steps=4, keep_path=True),
)
"""Done in half a minute. Where `fit` is given no settings it chooses them from the data, which takes minutes."""


def main(logs, folder):
    """Learn from the logs, keep the agent in a folder, and drive to the charger."""
    episodes = vmg.load(f"npz:{logs}")
    (agent,) = vmg.Agent.fit(episodes, QUICK)
    agent = agent.build(episodes)
    agent.save(folder)

    plan = agent.plan(vmg.goals.near(CHARGER, columns=(0, 1), tolerance=0.3))
    policy = plan.policy()

    robot = vmg.find_task(f"{ROBOT}:task").make()  # here your robot's own loop begins
    state = robot.reset(seed=2)[0]["observation"]
    print(plan.explain(state))
    for step in range(150):
        if plan.objective.reached(state[None])[0]:
            print(f"At the charger after {step} steps.")
            break
        state = robot.step(policy.act(state))[0]["observation"]
    else:
        print(f"Not there after {step + 1} steps.")


if __name__ == "__main__":
    main(*sys.argv[1:])
