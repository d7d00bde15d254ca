"""The paper's own rule: the best of the checkpoints from 500,000 to 800,000 updates, chosen in the environment."""

from typing import Any

from vmg import learn
from vmg.agent.agent import Agent
from vmg.agent.settings import AgentConfig
from vmg.data.episodes import Episodes
from vmg.data.facts import DataFacts
from vmg.envs import Task
from vmg.evaluation import Scores, Summary
from vmg.runs import Run
from vmg.runs.notes import Trial
from vmg.runs.stages import agent_scores

CHOSEN = (500_000, 800_000)


def best_checkpoints(
    run: Run, config: AgentConfig, episodes: Episodes, task: Task, trial: Trial, method: str = "VMG"
) -> dict[str, Any] | None:
    """Score every checkpoint in the range with these settings, and report each model's best; None: there are none."""
    folder, (first, last) = run.folder / "training" / "checkpoints", CHOSEN
    steps = [int(path.stem.removeprefix("step_")) for path in sorted(folder.glob("step_*.safetensors"))]
    best: dict[int, tuple[Scores, int]] = {}
    for step in (step for step in steps if first <= step <= last):
        models = learn.load_checkpoint(folder / f"step_{step:010d}.safetensors", config.learn.low_level)
        for seed in run.seeds:
            agent = Agent(config, DataFacts.of(episodes), seed, models[seed]).build(episodes).solve()
            scores = agent_scores(run, task, f"{method} at {step}", agent, agent.policy(), trial)
            if seed not in best or scores.score > best[seed][0].score:
                best[seed] = (scores, step)
    if not best:
        return None
    return Summary.of([each for each, _ in best.values()]).to_dict() | {"steps": [step for _, step in best.values()]}
