"""From a small part of the data, online: the score against the episodes that were recorded, by how they were explored.

Each point is measured twice: with the networks as they were, whose graph was extended, and with networks trained again
from all episodes there are; where settings are chosen from the data, they are chosen anew. The whole data set stands
beside.

STUDY/TASK/part.npz              the part of the data to begin with
STUDY/TASK/start                 a run from it            STUDY/TASK/whole    a run from all data
STUDY/TASK/frontier_0            seed 0, grown online     STUDY/TASK/frontier_0_again_20    trained again after 20
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias, get_args

import numpy as np

from vmg.act.exploring import Exploration
from vmg.base.console import say
from vmg.base.errors import VMGError
from vmg.base.statistics import bootstrap_interval
from vmg.data import load, save
from vmg.data.episodes import Episodes
from vmg.envs import Task
from vmg.runs import Run, auto, load_run, save_run
from vmg.runs.exploring import Online, grow_online
from vmg.runs.notes import remembered
from vmg.runs.stages import agent_scores, build, knowing_goals, solve, train
from vmg.studies.study import Results, Study, described, missing_data, row_command, run_of, settings_of, tasks_of

TASKS = ("pointmaze-large",)
SEEDS = (0, 1, 2)
Point: TypeAlias = dict[str, Any]
"""Scores of one model, episode by episode, and the vertices of its graph."""


def measure_grow(study: Study, write: Callable[[Results], None]) -> Results:
    """Measure every task; `write` is given all rows there are after each."""
    if study.only:
        raise VMGError("The study grow trains and acts in turn: leave out --only.")
    if not 0 < study.share < 1 or sorted({0, *study.online}) != [0, *study.online]:
        raise VMGError(
            f"--share must lie between 0 and 1, and --online be ascending numbers of episodes, not {study.share:g} and "
            f"{study.online}."
        )
    if len(study.presets) > 1:
        raise VMGError(f"The study grow takes one preset, not {' '.join(study.presets)}.")
    preset, rows = (*study.presets, auto.AUTO)[0], Results()
    for task in tasks_of("grow", study, TASKS, any_task=True):
        whole = run_of(study, task, settings_of(task, preset), study.seeds or SEEDS, "whole")
        if missing := missing_data("grow", task, whole):
            rows.append({"task": task.name, "missing": missing})
            write(rows)
            continue
        for row in _rows(_Curve(study, task, whole, preset)):
            rows.append(row)
            write(rows)
    return rows


@dataclass(frozen=True)
class _Curve:
    """All runs of one task."""

    study: Study
    task: Task
    whole: Run
    """From all data, as it is asked for."""
    preset: str

    @property
    def folder(self) -> Path:
        return self.whole.folder.parent

    def start(self) -> Run:
        """Return the run from a part of the data, trained and solved."""
        file = self.folder / "part.npz"
        if not file.exists():
            save(_part(load(self.whole.data, keys=self.whole.keys), self.study.share), file)
        part = replace(self.whole, data=f"npz:{file}", task=self.task.name, keys=None, folder=self.folder / "start")
        return self.made(part)

    def made(self, run: Run) -> Run:
        """Return a run that is trained, built and solved with the settings asked for, or those chosen from its data."""
        if self.preset != auto.AUTO:
            return _make(run)
        auto.train(run)
        return _make(load_run(run.folder))

    def grown(self, start: Run, explore: Exploration, seed: int) -> Run:
        """Return a run of one seed that begins as the first one does, and has episodes of its own."""
        run = replace(start, seeds=(seed,), folder=self.folder / f"{explore}_{seed}")
        if not (run.folder / "run.json").exists():
            start.agent(seed).save(run.agent_folder(seed))
            save_run(run)
        return run

    def score(self, run: Run, seed: int, of: dict[str, Any]) -> Point:
        """Evaluate one agent of a run; a point that was measured before is remembered, though the run has grown on."""
        trial = self.study.trial

        def make() -> dict[str, Any]:
            agent = knowing_goals(run, self.task, run.agent(seed))
            scores = agent_scores(run, self.task, "VMG", agent, agent.policy(), trial)
            return {"scores": list(scores.normalised), "vertices": agent.built.n_vertices}

        of = of | {"seed": seed, "episodes": trial.n_episodes, "updates": run.config.learn.steps}
        return remembered(self.folder / "points.json", of, make)


def _rows(curve: _Curve) -> Iterator[dict[str, Any]]:
    start = curve.start()
    seeds = start.seeds
    yield _row(curve, start, "none", 0, False, [curve.score(start, seed, {"explore": "none"}) for seed in seeds])
    for explore in get_args(Exploration):
        for n in curve.study.online:
            say(f"{curve.task.name}: {n} episodes, {explore}.")
            points = [_point(curve, start, explore, n, seed) for seed in seeds]
            for again in (False, True):
                yield _row(curve, start, explore, n, again, [point[again] for point in points])
    whole = curve.made(curve.whole)
    scores = [curve.score(whole, seed, {"explore": "whole"}) for seed in seeds]
    yield _row(curve, whole, "whole", 0, True, scores)


def _point(curve: _Curve, start: Run, explore: Exploration, n: int, seed: int) -> tuple[Point, Point]:
    """Record up to n episodes, and score the agent as it is and trained again from all of them."""
    run = curve.grown(start, explore, seed)
    grow_online(run, Online(n_episodes=n, explore=explore))
    of = {"explore": explore, "online": n}
    as_is = curve.score(load_run(run.folder), seed, of)
    file = curve.folder / f"{explore}_{seed}_{n}.npz"
    if not file.exists():
        save(load_run(run.folder).episodes()[0], file)
    folder = curve.folder / f"{explore}_{seed}_again_{n}"
    anew = replace(curve.whole, data=f"npz:{file}", task=curve.task.name, keys=None, seeds=(seed,), folder=folder)
    return as_is, curve.score(curve.made(anew), seed, of | {"again": True})


def _row(curve: _Curve, run: Run, explore: str, n: int, again: bool, points: list[Point]) -> dict[str, Any]:
    """One point of a curve over all seeds; its run began with this one's data and has its settings."""
    study, models = curve.study, [each["scores"] for each in points]
    command = row_command("grow", study, curve.task.name, share=study.share, online=study.online)
    return {
        **described(replace(curve.whole, folder=run.folder), run.episodes()[0], curve.task, command),
        "preset": curve.preset,
        "explore": explore,
        "online": n,
        "again": again,
        "share": 1.0 if explore == "whole" else study.share,
        "updates": run.config.learn.steps,
        "score": float(np.mean([np.mean(each) for each in models])),
        "interval": list(bootstrap_interval(models)),
        "models": [float(np.mean(each)) for each in models],
        "vertices": [each["vertices"] for each in points],
    }


def _make(run: Run) -> Run:
    """Train, build and solve a run, as far as that is not done."""
    train(run)
    build(run, run.config.graph)
    solve(run, run.config.solve)
    return run


def _part(episodes: Episodes, share: float) -> Episodes:
    """The first episodes, as many as it takes for this share of the steps."""
    enough = int(np.searchsorted(np.cumsum(episodes.lengths), share * episodes.n_steps)) + 1
    return episodes.subset(range(min(enough, len(episodes))))
