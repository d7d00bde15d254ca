"""How a run holds up where the world is not as recorded: every method, under one disturbance after the other.

RUN/robustness.json     scores by what disturbs, and by how much        RUN/evaluations/     every episode, as it ended
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vmg.agent.agent import Agent
from vmg.base.console import say
from vmg.base.files import write_json
from vmg.base.settings import check_entries, read_entries
from vmg.base.versions import versions
from vmg.envs import Task, disturbances_of, disturbed, read_disturbances
from vmg.envs.disturbing import Amounts, in_words
from vmg.evaluation import Scores, Summary
from vmg.evaluation.baselines import CloningActor
from vmg.runs.commands import evaluate_command
from vmg.runs.notes import Trial
from vmg.runs.run import Run, alone
from vmg.runs.stages import EvaluateTrial, actors_scores, agent_scores, baseline_actors

FILE = "robustness.json"
_KIND = {"unit": str, "nothing": float}
_ROW = {"disturbed": Mapping, "scores": Mapping}
_SCORES = {"score": float, "interval": tuple[float, float]}


@dataclass(frozen=True)
class Held:
    """How every method held up under one disturbance, or under none."""

    disturbed: Amounts
    """How much of what; nothing: undisturbed."""
    scores: Mapping[str, Sequence[Scores]]
    """By method, one per model."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        summaries = {method: Summary.of(models).to_dict() for method, models in self.scores.items()}
        return {"disturbed": dict(self.disturbed), "scores": summaries}


@alone
def measure(
    run: Run, asked: Sequence[Amounts], trial: EvaluateTrial, undisturbed: Mapping[str, Sequence[Scores]]
) -> dict[str, Any]:
    """Evaluate a run that was evaluated undisturbed under each disturbance; return what is written down of it."""
    task, agents = run.find_task(), [agent for _, agent in run.agents()]
    baselines = baseline_actors(run) if trial.baselines else {}
    rows = [Held({}, undisturbed), *held_up(run, task, agents, baselines, asked, trial)]
    content = {
        "task": task.name,
        "protocol": task.protocol,
        "kinds": kinds(task, asked),
        "data": run.all_data,
        "checkpoint": "last",
        "seeds": list(run.seeds),
        "rows": [row.to_dict() for row in rows],
        "settings": run.config.to_dict(),
        "command": evaluate_command(run, trial),
        "versions": versions(),
    }
    write_json(run.folder / FILE, content)
    return content


@alone
def held_up(
    run: Run,
    task: Task,
    agents: Iterable[Agent],
    baselines: Mapping[str, Sequence[CloningActor]],
    asked: Sequence[Amounts],
    trial: Trial,
) -> list[Held]:
    """Evaluate agents, and baselines, under each disturbance; episodes that were noted before are not run again."""
    policies, found = [(agent, agent.policy()) for agent in agents], []
    for amounts in asked:
        say(f"Disturbed: {in_words(amounts)}." if amounts else "Undisturbed.")
        there = disturbed(task, amounts)
        scores = {"VMG": [agent_scores(run, there, "VMG", agent, policy, trial) for agent, policy in policies]}
        found.append(Held(amounts, scores | actors_scores(run, there, baselines, trial)))
    return found


def asked_for(run: Run, words: Sequence[str]) -> list[Amounts]:
    """Return the disturbances that words name, or say what a run's task has."""
    return read_disturbances(words, run.find_task()) if words else []


def kinds(task: Task, asked: Sequence[Amounts]) -> dict[str, dict[str, Any]]:
    """Return what the amounts of these disturbances mean, by name, and which of them changes nothing."""
    return {
        name: {"unit": each.unit, "nothing": each.nothing}
        for name, each in disturbances_of(task).items()
        if any(name in one for one in asked)
    }


def known_robustness(run: Run) -> dict[str, Any] | None:
    """Return what was measured last; None where nothing was, or with other settings than the run has now."""
    path = run.folder / FILE
    if not path.exists():
        return None
    content = read_entries(path, {"task": str, "kinds": Mapping, "rows": tuple[Any, ...], "settings": Mapping})
    for kind in content["kinds"].values():
        check_entries(kind, _KIND, place=path)
    for row in content["rows"]:
        check_entries(row, _ROW, place=path)
        for scores in row["scores"].values():
            check_entries(scores, _SCORES, place=path)
    return content if content["settings"] == json.loads(json.dumps(run.config.to_dict())) else None
