"""`vmg evaluate`: act in the environment and score it."""

from dataclasses import dataclass, field
from importlib.util import find_spec
from shlex import join
from typing import Any

import tyro
from tyro.conf import OmitArgPrefixes

from vmg.act.settings import ActConfig
from vmg.base.console import say, show
from vmg.cli.options import RunFolder, as_text, in_task, named_run, parsed
from vmg.runs import load_run, robustness, stages
from vmg.runs.stages import EvaluateTrial
from vmg.view.robustness import robustness_table
from vmg.view.tables import scores_table


@dataclass(frozen=True)
class Evaluate:
    """Act in the task's environment and score it: last checkpoint, fixed seeds, every episode noted as it ends."""

    run: RunFolder
    """The run's folder."""
    task: str | None = None
    """The task, by name, as file.py:name, or an environment of gymnasium's by its id; the run remembers it. None: the
    one it was trained with, or the data's own."""
    trial: OmitArgPrefixes[EvaluateTrial] = field(default_factory=EvaluateTrial)
    act: ActConfig = field(default_factory=ActConfig)
    json: bool = False
    """Print JSON."""


def run(arguments: list[str]) -> None:
    """Evaluate every agent and show the scores."""
    named = named_run(arguments)
    options = parsed(Evaluate, "evaluate", arguments, run=tyro.MISSING, act=named.config.act if named else ActConfig())
    named = in_task(named or load_run(options.run), options.task)
    asked = robustness.asked_for(named, options.trial.disturb)
    found = stages.evaluate_run(named, options.act, options.trial)
    content: dict[str, Any] = {method: [each.to_dict() for each in scores] for method, scores in found.items()}
    held = robustness.measure(load_run(named.folder), asked, options.trial, found) if asked else None
    if options.json:
        show(as_text(content | ({"robustness": held["rows"]} if held else {})))
    else:
        show(scores_table(found))
        if held:
            show(robustness_table(held))
    say(f"Every episode is in {named.folder / 'evaluations'}, the summary in {named.folder / 'scores.json'}.")
    if find_spec("matplotlib"):
        say(f"Next: {join(['vmg', 'report', str(named.folder)])}")
