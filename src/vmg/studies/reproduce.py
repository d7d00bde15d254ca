"""One command a study: train what it needs, measure it, write its table and its figure."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, get_args

from vmg.base.console import say
from vmg.base.errors import VMGError
from vmg.base.files import read_json, write_json, write_text
from vmg.base.lazy import LazyModule
from vmg.envs import Task
from vmg.studies.ablations import Bench, ablations_of, bench, measure_bench, train_benches
from vmg.studies.fidelity import measure_fidelity
from vmg.studies.grow import measure_grow
from vmg.studies.held_out import HELD_OUT, measure_held_out
from vmg.studies.main import MAIN, TABLES, measure_table, presets_of, train_table
from vmg.studies.measurements import curves, ratio
from vmg.studies.ogbench import measure_ogbench
from vmg.studies.robustness import measure_robustness
from vmg.studies.study import Results, Study, tasks_of
from vmg.studies.tables import study_table
from vmg.studies.variants import ABLATIONS, THREE
from vmg.view.studies import study_figure
from vmg.view.style import STYLES, save_figure

jax = LazyModule("jax")

StudyName = Literal[
    "main", "auto", "locomotion", "skills", "other-tasks", "robustness", "ogbench", "grow", "fidelity", "decay",
    "memory", "rewards", "losses", "search", "threshold", "margin", "discount", "dimension", "horizon", "merging",
    "choices", "ratio", "curves", "ablations",
]  # fmt: skip
STUDIES: tuple[str, ...] = get_args(StudyName)
TITLES = {name: ablation.title for name, ablation in ABLATIONS.items()} | {
    "ratio": "Environment steps per graph step",
    "curves": "Training curves",
}
"""The studies that `ablations` stands for, of the preset `paper`."""


def reproduce(name: StudyName, study: Study) -> Path:
    """Do a study, or go on with it; return the path of its table, or the folder where it was only to train."""
    _use_device(study.device)
    if name in ("fidelity", "ogbench"):
        measure = measure_fidelity if name == "fidelity" else measure_ogbench
        measure(study, lambda rows: _write(name, study, rows))
    elif name == "grow":
        _draw(name, study, measure_grow(study, lambda rows: _write(name, study, rows)))
    elif name in HELD_OUT:
        measure_held_out(name, study, lambda rows: _write(name, study, rows))
    elif name in TABLES:
        study = replace(study, presets=study.presets or presets_of(name))
        table = train_table(name, study)
        if study.only != "train" and name == "robustness":
            _draw(name, study, measure_robustness(study, table, lambda rows: _write(name, study, rows)))
        elif study.only != "train":
            measure_table(name, study, table, lambda rows: _write(name, study, rows))
    else:
        names = _ablations(study) if name == "ablations" else (name,)
        found = _benches(name, names, study)
        if study.only != "evaluate":
            train_benches({one.task.name: one for its in found.values() for one in its}.values(), study)
        if study.only != "train":
            for each, its in found.items():
                _measure(each, its, study)
            if name == "ablations":
                _write_together(names, study)
    return study.out if study.only == "train" else study.out / f"{name}.md"


def _ablations(study: Study) -> tuple[str, ...]:
    """The studies that `ablations` stands for; what is no ablation is measured of the paper's preset alone."""
    possible = ablations_of(study)
    return tuple(TITLES) if len(possible) == len(ABLATIONS) else tuple(possible)


def _benches(called: str, names: Sequence[str], study: Study) -> dict[str, list[Bench]]:
    """Return the tasks of each study; a task is the same one in all of them, with the runs that they need together."""
    if called in ABLATIONS and called not in ablations_of(study):
        raise VMGError(f"The study {called} is of the preset paper alone: leave out --presets.")
    tasks = {name: _tasks(name, study) for name in names}
    shared: dict[str, Bench] = {}
    for task in {task.name: task for its in tasks.values() for task in its}.values():
        asked = [name for name in names if task in tasks[name] and name in ABLATIONS]
        found = bench(called, study, task, [variant for name in asked for variant in ABLATIONS[name].variants])
        shared[task.name] = found
        if found.missing:
            say(f"{task.name}: {found.missing}")
    return {name: [shared[task.name] for task in its] for name, its in tasks.items()}


def _tasks(name: str, study: Study) -> list[Task]:
    return tasks_of(name, study, MAIN if name == "ratio" else THREE, any_task=True)


def _measure(name: str, found: Sequence[Bench], study: Study) -> None:
    rows: Results = []
    for each in found:
        for row in _rows(name, replace(each)):  # a fresh copy: data and graphs are let go after each task
            rows.append(row)
            _write(name, study, rows)
    _draw(name, study, rows)


def _rows(name: str, bench: Bench) -> Iterator[dict[str, Any]]:
    if bench.missing:
        yield {"task": bench.task.name, "missing": bench.missing}
    elif name in ABLATIONS:
        yield from measure_bench(name, bench)
    else:
        yield (ratio if name == "ratio" else curves)(bench)


def _write(name: str, study: Study, rows: Results) -> None:
    write_json(study.out / f"{name}.json", rows)
    write_text(study.out / f"{name}.md", study_table(rows))


def _draw(name: str, study: Study, rows: Results) -> None:
    if not find_spec("matplotlib"):
        say("There is no figure: it needs the extra `view`.")
    elif any("missing" not in row for row in rows):
        for theme in STYLES:
            figure = study_figure(rows, theme=theme)
            for kind in ("png", "svg"):
                save_figure(figure, study.out / f"{name}_{theme}.{kind}")


def _write_together(names: Sequence[str], study: Study) -> None:
    """Put the rows and tables of all studies into one file each."""
    write_json(study.out / "ablations.json", {name: read_json(study.out / f"{name}.json") for name in names})
    pages = (f"## {TITLES[name]}\n\n{(study.out / f'{name}.md').read_text(encoding='utf-8')}" for name in names)
    write_text(study.out / "ablations.md", "\n".join(pages))


def _use_device(device: str) -> None:
    if device == "auto":
        return
    jax.config.update("jax_platforms", {"cpu": "cpu", "gpu": "cuda"}[device])
    try:
        jax.devices()
    except RuntimeError as error:
        raise VMGError(f"There is no {device} that JAX can use: {error}. Choose --device auto.") from error
