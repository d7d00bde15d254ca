"""Settings of the translator judged on episodes held out: no environment is needed, only data and a GPU's minutes.

    decay     the error early and late in training, for each weight decay
    memory    the error of the last weights and of their average in the same training, model by model

The error is the squared distance between the translator's action and the recorded one, for goals so many steps ahead.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vmg import learn
from vmg.agent.settings import AgentConfig
from vmg.base.console import say
from vmg.data.episodes import Episodes
from vmg.envs import Task
from vmg.learn.config import LearnConfig
from vmg.networks import Weights
from vmg.networks.lowlevel import LowLevel, Translator
from vmg.networks.lowlevel.translator import translate
from vmg.networks.weights import nested, read_tensors
from vmg.runs import Run
from vmg.runs.stages import train
from vmg.studies.study import Results, Study, described, missing_data, row_command, run_of, tasks_of

SHARE = 0.2
"""Share of the episodes held out."""
AHEAD = (1, 3, 5, 10)
"""Steps ahead at which goals lie."""


@dataclass(frozen=True)
class HeldOut:
    """One setting of the translator, the values it is tried at, and the updates after which errors are measured."""

    setting: str
    values: tuple[float, ...]
    tasks: tuple[str, ...]
    seeds: tuple[int, ...]
    updates: tuple[int, ...]


HELD_OUT: dict[str, HeldOut] = {
    "decay": HeldOut(
        "decay_rate",
        (0.0, 0.01, 0.1, 1.0),
        ("kitchen-complete", "kitchen-partial", "pen-human", "door-human"),
        (0,),
        (10_000, 400_000),
    ),
    "memory": HeldOut("memory", (1, 100_000), ("kitchen-complete", "kitchen-partial"), (0, 1, 2), (800_000,)),
}


def measure_held_out(name: str, study: Study, write: Callable[[Results], None]) -> None:
    """Train every task with every value, side by side where they can be, and measure the errors."""
    spec, rows = HELD_OUT[name], Results()
    runs = [(task, _runs(name, study, task)) for task in tasks_of(name, study, spec.tasks)]
    missing = {task.name: missing_data(name, task, its[0]) for task, its in runs}
    if study.only != "evaluate":
        ready = [run for task, its in runs if not missing[task.name] for run in its]
        train(*{run.folder: run for run in ready}.values(), on=study.executor, workers=study.workers)
    for task, its in runs if study.only != "train" else ():
        if missing[task.name]:
            say(f"{task.name}: {missing[task.name]}")
            rows.append({"task": task.name, "missing": missing[task.name]})
        else:
            rows += _rows(name, study, task, its)
        write(rows)


def _runs(name: str, study: Study, task: Task) -> list[Run]:
    """The run of each value; the last weights of a training that averages are those of one that does not."""
    values = HELD_OUT[name].values
    return [_run(name, study, task, values[-1] if name == "memory" else value) for value in values]


def _run(name: str, study: Study, task: Task, value: float) -> Run:
    spec = HELD_OUT[name]
    updates = study.steps or spec.updates[-1]
    changed: dict[str, Any] = {spec.setting: value}
    translator = replace(_translator(task), **changed)
    learned = LearnConfig(low_level=translator, steps=updates, checkpoint_every=min(spec.updates[0], updates))
    folder = f"held-out-{spec.setting}-{value:g}"
    run = run_of(study, task, AgentConfig(learn=learned), study.seeds or spec.seeds, folder)
    return replace(run, validation=SHARE)


def _translator(task: Task) -> Translator:
    """A translator that sees goals as differences and, where there is a robot among objects, the robot alone."""
    return Translator(inputs="raw relative", columns=task.fields.get("robot", ()))


def _rows(name: str, study: Study, task: Task, runs: Sequence[Run]) -> Results:
    spec, made_by = HELD_OUT[name], row_command(name, study, task.name)
    episodes, held_out = runs[0].episodes()
    assert held_out is not None
    rows: Results = []
    for run, value in zip(runs, spec.values, strict=True):
        for updates in sorted({min(each, run.config.learn.steps) for each in spec.updates}):
            facts = described(run, episodes, task, made_by) | {"setting": spec.setting, "value": value}
            for seed, weights in _models(run, updates, averaged=(name, value) != ("memory", 1)).items():
                errors = {str(ahead): action_error(weights, held_out, ahead) for ahead in AHEAD}
                rows.append(facts | {"seed": seed, "updates": updates, "held_out_error": errors})
    return rows


def _models(run: Run, updates: int, *, averaged: bool) -> dict[int, Weights]:
    """Each seed's model after so many updates; not averaged: with the translator's last weights instead."""
    folder = run.folder / "training"
    models = learn.load_checkpoint(folder / "checkpoints" / f"step_{updates:010d}.safetensors", _low_level(run))
    if averaged:
        return models
    state = nested(read_tensors(folder / "training_state.safetensors")[0])["weights.translator"]
    return {
        seed: model | {"translator": {name: array[i] for name, array in state.items()}}
        for i, (seed, model) in enumerate(models.items())
    }


def _low_level(run: Run) -> LowLevel:
    return run.config.learn.low_level


def action_error(weights: Weights, episodes: Episodes, ahead: int) -> float:
    """Mean squared distance of the translator's action from the recorded one, for goals so many steps ahead."""
    steps = np.flatnonzero(episodes.steps_left >= ahead)
    rows = episodes.step_observation[steps]
    actions = translate(weights, episodes.observations[rows], episodes.observations[rows + ahead])
    return float(np.mean(np.sum((actions - episodes.actions[steps]) ** 2, axis=-1)))
