"""OGBench's data sets: its five tasks, 50 episodes each, five models per data set, the last checkpoint.

Data sets that learn alike learn side by side, those whose settings are chosen from the data one after the other, and
one set of workers runs the episodes of all models. Beside our scores stand those of OGBench's reference methods on the
very same files, where they were run (`PEERS`), and the published ones, which are of OGBench's own files.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from vmg.agent.agent import Agent
from vmg.base.console import say
from vmg.base.errors import VMGError
from vmg.base.files import read_json, write_json
from vmg.base.lazy import LazyModule
from vmg.data.episodes import Episodes
from vmg.envs import Task, task_of
from vmg.evaluation import Actor, Scores, Summary
from vmg.graph import summarise
from vmg.runs import Run, auto
from vmg.runs.auto import AUTO
from vmg.runs.notes import Measured, remembered, scores_together
from vmg.runs.stages import train
from vmg.studies.ogbench_paper import PUBLISHED
from vmg.studies.study import Results, Study, described, row_command, run_of, settings_of, with_choices

jax = LazyModule("jax")

SETS = tuple(PUBLISHED)
FOLDER = "~/.ogbench/data"
"""Where OGBench itself puts what it downloads."""
PRESETS = (AUTO,)
SEEDS = (0, 1, 2, 3, 4)
EPISODES = 250
PEERS = "ogbench-peers.json"
"""The rows of `benchmarks/ogbench_peers.py`, in the study's folder."""
TIMED = 200
"""Decisions that are timed."""


@dataclass(frozen=True)
class Line:
    """A data set with a preset."""

    name: str
    preset: str
    task: Task
    run: Run
    missing: str = ""

    def measured(self, seed: int) -> Measured:
        """Return what is noted of one model's episodes."""
        return Measured(self.run, self.task, "VMG", seed, self.run.config.to_dict())


def measure_ogbench(study: Study, write: Callable[[Results], None]) -> None:
    """Learn and score every data set whose file is there; the rows are written once all are scored."""
    lines = list(_lines(study))
    if study.only != "evaluate":
        _train(study, [line for line in lines if not line.missing])
    if study.only == "train":
        return
    lines = [replace(line, run=with_choices(line.run, line.preset)) for line in lines]
    ready = [line for line in lines if not line.missing]
    trained = [line for line in ready if not _untrained(line)]
    trial = replace(study.trial, n_episodes=study.n_episodes or EPISODES)
    models = [(line, seed) for line in trained for seed in line.run.seeds]
    say(f"Evaluating {len(models)} models, {trial.n_episodes} episodes each.")
    makers = _Makers()
    scores = scores_together([(line.measured(seed), makers.of(line, seed)) for line, seed in models], trial)
    by_line: dict[tuple[str, str], list[Scores]] = {}
    for (line, _), each in zip(models, scores, strict=True):
        by_line.setdefault((line.name, line.preset), []).append(each)
    write([_row(study, line, by_line.get((line.name, line.preset)), makers) for line in lines])


def _lines(study: Study) -> Iterator[Line]:
    if unknown := [name for name in study.tasks if name not in SETS]:
        raise VMGError(f"The study ogbench has no data set {unknown[0]!r}. It has: {', '.join(SETS)}.")
    for name in study.tasks or SETS:
        path = _file(study, name)
        source = f"ogbench:{path}"
        task = task_of(source)
        missing = "" if path.expanduser().exists() else _how_to_get(name, path.parent)
        if missing:
            say(f"{name}: {missing}")
        for preset in study.presets or PRESETS:
            config = settings_of(task, preset)
            run = run_of(replace(study, data=()), task, config, study.seeds or SEEDS, preset)
            yield Line(name, preset, task, replace(run, data=source, folder=study.out / name / preset), missing)


def _file(study: Study, name: str) -> Path:
    """The file of a data set: in the first folder that has it."""
    files = [Path(folder, f"{name}-v0.npz") for folder in study.data or (FOLDER,)]
    return next((file for file in files if file.expanduser().exists()), files[0])


def _how_to_get(name: str, folder: Path) -> str:
    return (
        f"no file {name}-v0.npz in {folder}. Get it with ogbench.download_datasets(['{name}-v0']) in Python, or name "
        f"the folder where it is: vmg reproduce ogbench --tasks {name} --data FOLDER"
    )


def _train(study: Study, lines: Sequence[Line]) -> None:
    """Learn the data sets, those with the same settings side by side, and note how long it took.

    Where settings are chosen, the time has that, too.
    """
    groups: dict[Any, list[Run]] = {}
    for line in lines:
        alike = line.name if line.preset == AUTO else line.run.config.learn
        groups.setdefault((line.preset, alike), []).append(line.run)
    for (preset, _), runs in groups.items():
        fresh = not any((run.folder / "run.json").exists() for run in runs)
        models = sum(len(run.seeds) for run in runs)
        say(f"Training {models} models on {len(runs)} data sets.")
        began = time.perf_counter()
        learn = auto.train if preset == AUTO else train
        learn(*runs, on=study.executor, workers=study.workers)
        seconds = time.perf_counter() - began
        for run in runs if fresh else ():
            noted = {"seconds": seconds, "models": models, "device": jax.devices()[0].device_kind}
            write_json(run.folder / "training" / "seconds.json", noted)


def _untrained(line: Line) -> str:
    if all((line.run.agent_folder(seed) / "config.json").exists() for seed in line.run.seeds):
        return ""
    return f"{line.run.folder} holds no networks yet: leave out --only evaluate."


class _Makers:
    """Builds the agents of lines, one at a time; the data of the last line are kept."""

    def __init__(self) -> None:
        self._loaded: tuple[str, Episodes] | None = None

    def episodes(self, line: Line) -> Episodes:
        """Return the data of a line."""
        if self._loaded is None or self._loaded[0] != line.run.data:
            self._loaded = None  # before the next are read
            self._loaded = line.run.data, line.run.episodes()[0]
        return self._loaded[1]

    def of(self, line: Line, seed: int) -> Callable[[], Actor]:
        """Return what makes the policy of a model, and notes what its graph is like."""

        def make() -> Actor:
            agent = self._build(line, seed)
            self._remembered(line, seed, lambda: agent)
            return agent.policy()

        return make

    def facts(self, line: Line, seed: int) -> dict[str, Any]:
        """Return what was noted of a model's graph and of the time that decisions take."""
        return self._remembered(line, seed, lambda: self._build(line, seed))

    def _build(self, line: Line, seed: int) -> Agent:
        agent = replace(line.run.agent(seed), config=line.run.config)
        return agent.build(self.episodes(line), fallen=line.task.fallen)

    def _remembered(self, line: Line, seed: int, agent: Callable[[], Agent]) -> dict[str, Any]:
        of = {"data": line.run.data, "settings": line.run.config.to_dict(), "seed": seed}
        return remembered(line.run.folder / "graphs.json", of, lambda: _facts(agent(), line.task, self.episodes(line)))


def _facts(agent: Agent, task: Task, episodes: Episodes) -> dict[str, Any]:
    """What a graph is like; how long it takes to plan for a goal, and to decide."""
    assert task.goal is not None
    states = episodes.observations[np.linspace(0, len(episodes.observations) - 1, TIMED).astype(int)]
    goal = task.goal.objective({task.goal.key: states[-1][list(task.goal.columns)]})
    policy = agent.policy()
    plan_ms = min(_milliseconds(lambda: policy.begin(None, goal)) for _ in range(3))
    decide_ms = median([_milliseconds(lambda state=state: policy.act(state)) for state in states])  # type: ignore[misc]
    return {"graph": summarise(agent.built).to_dict(), "plan_ms": plan_ms, "decide_ms": decide_ms}


def _milliseconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - began)


def _row(study: Study, line: Line, scores: list[Scores] | None, makers: _Makers) -> dict[str, Any]:
    made_by = row_command("ogbench", study, line.name, presets=(line.preset,), data=study.data)
    front = {"task": line.name, "preset": line.preset, "command": made_by, "published": PUBLISHED[line.name]}
    if scores is None:
        return {**front, "missing": line.missing or _untrained(line)}
    facts = [makers.facts(line, seed) for seed in line.run.seeds]
    row = described(line.run, makers.episodes(line), line.task, made_by)
    return row | front | Summary.of(scores).to_dict() | {
        "by_task": _by_task(scores),
        "graphs": [each["graph"] for each in facts],
        "plan_ms": median(each["plan_ms"] for each in facts),
        "decide_ms": median(each["decide_ms"] for each in facts),
        "training": _seconds(line.run),
        "peers": _peers(study, line.name, row["data"]["digest"]),
        "checkpoint": "last",
        "settings": line.run.config.to_dict(),
    }  # fmt: skip


def _by_task(scores: Sequence[Scores]) -> dict[str, float]:
    """The score of each of the five tasks, the mean over models."""
    found = [each.by("task_id") for each in scores]
    return {task: float(np.mean([each[task] for each in found])) for task in found[0]}


def _seconds(run: Run) -> dict[str, Any] | None:
    path = run.folder / "training" / "seconds.json"
    return read_json(path) if path.exists() else None


def _peers(study: Study, name: str, digest: str) -> dict[str, Any]:
    """What other methods scored on this very file, by method."""
    path = study.out / PEERS
    rows = read_json(path) if path.exists() else []
    return {row["method"]: row for row in rows if (row["task"], row["data"]["digest"]) == (name, digest)}
