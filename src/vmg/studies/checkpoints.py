"""The paper's own rule: the best of the checkpoints from 500,000 to 800,000 updates, chosen in the environment."""

from dataclasses import replace
from typing import Any

from vmg import learn
from vmg.agent.agent import Agent
from vmg.agent.settings import AgentConfig
from vmg.data.episodes import Episodes
from vmg.data.facts import DataFacts
from vmg.envs import Task
from vmg.evaluation import Summary
from vmg.runs import Run
from vmg.runs.notes import Trial
from vmg.runs.stages import agent_scores

CHOSEN = (500_000, 800_000)
CHOOSING = 20
FIRST_CHOOSING = 1000
"""Episodes that choose, and the seed of the first: they are others than those that are scored."""


def best_checkpoints(
    run: Run, config: AgentConfig, episodes: Episodes, task: Task, trial: Trial, method: str = "VMG"
) -> dict[str, Any] | None:
    """Choose each model's best checkpoint in the range with these settings, and score it; None: there are none."""
    folder, (first, last) = run.folder / "training" / "checkpoints", CHOSEN
    steps = [int(path.stem.removeprefix("step_")) for path in sorted(folder.glob("step_*.safetensors"))]
    choosing = replace(trial, n_episodes=CHOOSING, first_seed=FIRST_CHOOSING)
    best: dict[int, tuple[float, int, Agent]] = {}
    for step in (step for step in steps if first <= step <= last):
        models = learn.load_checkpoint(folder / f"step_{step:010d}.safetensors", config.learn.low_level)
        for seed in run.seeds:
            agent = Agent(config, DataFacts.of(episodes), seed, models[seed]).build(episodes).solve()
            score = agent_scores(run, task, f"{method} at {step}", agent, agent.policy(), choosing).score
            if seed not in best or score > best[seed][0]:
                best[seed] = (score, step, agent)
    if not best:
        return None
    scores = [
        agent_scores(run, task, f"{method} at {step}", agent, agent.policy(), trial) for _, step, agent in best.values()
    ]
    return Summary.of(scores).to_dict() | {"steps": [step for _, step, _ in best.values()], "chosen_on": CHOOSING}
