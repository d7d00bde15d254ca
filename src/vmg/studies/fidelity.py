"""From the paper to the program its authors published, one thing changed at a time, on tasks in D4RL's form.

The baseline is the preset `paper` on D4RL's state, data that are not rounded, and one goal. Variants change one thing;
three of them all of how networks are learned, all of how graph and policy are made, and both: `program`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from vmg.act.policy import Policy
from vmg.agent.agent import Agent
from vmg.agent.settings import AgentConfig
from vmg.base.console import say
from vmg.base.errors import VMGError
from vmg.data import load, save
from vmg.data.episodes import Episodes
from vmg.envs import Task, find_task
from vmg.envs.families.d4rl import drawn
from vmg.evaluation import Scores, Summary
from vmg.evaluation.scores import paired_difference
from vmg.graph import summarise
from vmg.networks.lowlevel import Translator
from vmg.runs import Run
from vmg.runs.notes import Measured, Trial, remembered, scores_together
from vmg.runs.stages import train
from vmg.studies.checkpoints import best_checkpoints
from vmg.studies.paper import SCORES
from vmg.studies.study import Results, Study, described, missing_data, row_command, run_of, tasks_of

TASKS = tuple(name for name in SCORES if name.partition("-")[0] in ("kitchen", "antmaze"))
SEEDS = (0, 1, 2, 3, 4)


@dataclass(frozen=True)
class Variant:
    """One thing changed: in the task, in the data, in how networks are learned, or in graph and policy."""

    learn: Mapping[str, Any] = field(default_factory=dict)
    networks: bool = False
    """All of how the published program learns its networks."""
    policy: bool = False
    """Its labels, values, paths, and how it keeps to them."""
    form: str = "d4rl"
    """The task's form; none: today's."""
    rounded: bool = False
    """Observations that went through 16 bits."""
    drawn: bool = False
    """Goals that are drawn anew and named in each episode."""

    def is_for(self, task: str) -> bool:
        """Tell whether a task can be changed like this."""
        kitchen = task.startswith("kitchen")
        return not self.drawn if kitchen else self.form == "d4rl"

    def config(self, task: Task) -> AgentConfig:
        """Return the settings."""
        paper, program = task.preset("paper"), task.preset("program")
        if self.policy:
            paper = replace(program, learn=paper.learn)
        return replace(paper, learn=program.learn if self.networks else replace(paper.learn, **self.learn))


BASELINE = "paper"
VARIANTS: dict[str, Variant] = {
    "program": Variant(networks=True, policy=True),
    BASELINE: Variant(),
    "program networks": Variant(networks=True),
    "program policy": Variant(policy=True),
    "margins": Variant({"margins": "program"}),
    "a decoder that samples": Variant({"decoder_output": "sampled"}),
    "averaged errors": Variant({"action_errors": "averaged"}),
    "squashed actions": Variant({"low_level": Translator(squashed=True)}),
    "goals past the end": Variant({"low_level": Translator(past_end="around")}),
    "rounded data": Variant(rounded=True),
    "goals drawn anew": Variant(drawn=True),
    "positions alone": Variant(form="positions"),
    "positions and velocities": Variant(form=""),
    "sensor noise": Variant(form="d4rl-noise"),
}
"""By name, the most telling first."""


@dataclass(frozen=True)
class Line:
    """A task and a variant, with the networks learned for it."""

    base: str
    name: str
    task: Task
    run: Run
    missing: str = ""

    @property
    def config(self) -> AgentConfig:
        """The settings, with the updates of the run."""
        config = VARIANTS[self.name].config(self.task)
        return replace(config, learn=self.run.config.learn)


def measure_fidelity(study: Study, write: Callable[[Results], None]) -> None:
    """Learn what the variants need, and measure each; `write` is given all rows there are after each."""
    lines, rows = list(_lines(study)), Results()
    ready = [line for line in lines if not line.missing]
    if study.only != "evaluate" and ready:
        runs = {line.run.folder: line.run for line in ready}
        say(f"Training {sum(len(run.seeds) for run in runs.values())} models for {len(ready)} rows.")
        train(*runs.values(), on=study.executor, workers=study.workers)
    for line in lines if study.only != "train" else ():
        say(f"{line.base}: {line.name}.")
        rows.append(_row(study, line))
        write(rows)


def _lines(study: Study) -> Iterator[Line]:
    if unknown := [name for name in study.variants if name not in VARIANTS]:
        raise VMGError(f"The study fidelity has no variant {unknown[0]!r}. It has: {', '.join(VARIANTS)}.")
    for base in tasks_of("fidelity", study, TASKS):
        for name in study.variants or VARIANTS:
            if VARIANTS[name].is_for(base.name):
                yield _line(study, base.name, name)


def _line(study: Study, base: str, name: str) -> Line:
    variant = VARIANTS[name]
    task = find_task(f"{base}-{variant.form}" if variant.form else base)
    config, folder = variant.config(task), _folder_of(variant)
    run = run_of(study, task, config, study.seeds or SEEDS, folder)
    missing = missing_data("fidelity", replace(task, name=base), run)
    if variant.rounded and not missing:
        run = replace(run, data=_rounded(run.data, study.out / "data" / f"{task.name}.npz"), task=task.name)
    return Line(base, name, drawn(task) if variant.drawn else task, run, missing)


def _folder_of(variant: Variant) -> str:
    """Variants that learn alike share a run: it is called by the first of them."""
    alike = (variant.learn, variant.networks, variant.form, variant.rounded)
    name = next(n for n, v in VARIANTS.items() if (v.learn, v.networks, v.form, v.rounded) == alike)
    return f"fidelity-{name.replace(' ', '-')}"


def _rounded(data: str, path: Path) -> str:
    """Write the data as they are after 16 bits, unless they are there."""
    if not path.exists():
        episodes = load(data)
        save(replace(episodes, observations=episodes.observations.astype(np.float16).astype(np.float32)), path)
    return f"npz:{path}"


def _row(study: Study, line: Line) -> dict[str, Any]:
    front = {"task": line.base, "fidelity": line.name, "paper": SCORES[line.base][:2]}
    missing = line.missing or _untrained(line)
    if missing:
        return {**front, "missing": missing}
    measured = _Measurement(line, line.run.episodes()[0])
    scores = measured.scores(study.trial)
    data = tuple(each for each in study.data if each.startswith(f"{line.task.name}="))
    made_by = row_command("fidelity", study, line.base, variants=(line.name,), data=data)
    row = described(line.run, measured.episodes, line.task, made_by) | front
    if line.name != BASELINE and (beside := _baseline(study, line)):
        row["difference"] = paired_difference(scores, beside)
    config = measured.config
    if line.base in study.choose:
        row["chosen"] = best_checkpoints(line.run, config, measured.episodes, line.task, study.trial, line.name)
    settings = {"form": line.task.name, "checkpoint": "last", "settings": config.to_dict(), "graphs": measured.graphs()}
    return row | settings | Summary.of(scores).to_dict()


@dataclass(frozen=True)
class _Measurement:
    """The last checkpoint of every model of a line; a graph is built only for what was not noted before."""

    line: Line
    episodes: Episodes

    @property
    def config(self) -> AgentConfig:
        return self.line.task.with_goal_columns(self.line.config)

    def scores(self, trial: Trial) -> list[Scores]:
        """Evaluate all models with one set of workers, or read what was noted."""
        run, settings = self.line.run, self.config.to_dict()
        models = [
            (Measured(run, self.line.task, self.line.name, seed, settings), partial(self._policy, seed))
            for seed in run.seeds
        ]
        return scores_together(models, trial)

    def graphs(self) -> list[dict[str, Any]]:
        """Describe the graph of each model."""
        return [self._graph(seed) for seed in self.line.run.seeds]

    def _policy(self, seed: int) -> Policy:
        agent = self._agent(seed)
        self._graph(seed, agent)
        return agent.solve().policy()

    def _agent(self, seed: int) -> Agent:
        return replace(self.line.run.agent(seed), config=self.config).build(self.episodes)

    def _graph(self, seed: int, built: Agent | None = None) -> dict[str, Any]:
        of = {"data": self.line.run.data, "settings": self.config.graph.to_dict(), "seed": seed}
        make = lambda: summarise((built or self._agent(seed)).built).to_dict()  # noqa: E731
        return remembered(self.line.run.folder / "graphs.json", of, make)


def _baseline(study: Study, line: Line) -> list[Scores] | None:
    """The scores of the baseline beside a line, where they were measured."""
    beside = _line(study, line.base, BASELINE)
    if beside.missing or _untrained(beside) or BASELINE not in (study.variants or VARIANTS):
        return None
    return _Measurement(beside, beside.run.episodes()[0]).scores(study.trial)


def _untrained(line: Line) -> str:
    if all((line.run.agent_folder(seed) / "config.json").exists() for seed in line.run.seeds):
        return ""
    return f"{line.run.folder} holds no networks yet: leave out --only evaluate."
