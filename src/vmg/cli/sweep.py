"""`vmg sweep`: try settings, and keep the best."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tyro
from rich.table import Table
from tyro.conf import OmitArgPrefixes

from vmg.act.settings import ActConfig
from vmg.agent.settings import AgentConfig
from vmg.base.console import say, show
from vmg.base.errors import VMGError
from vmg.base.files import is_file
from vmg.base.locks import held
from vmg.cli.options import DataId, as_text, chosen_keys, named_task, parsed, peek, preset_of, resolved
from vmg.data import READERS
from vmg.envs import Task
from vmg.graph import GraphConfig, SolveConfig
from vmg.learn.config import LearnConfig
from vmg.runs import Run, load_run
from vmg.runs.auto import AUTO
from vmg.runs.sweeping import Sweep, sweep


@dataclass(frozen=True)
class SweepOptions:
    """Try settings, judged by episodes held out or by the score in the task; the worse are given up early.

    Called again after a kill, it goes on where it was. The same seed draws the same settings, and the same candidates
    go on, on one machine and on a cluster. Needs the extra `sweep`.
    """

    data: DataId
    """The data set, source:name; `vmg data info --help` lists the sources."""
    out: Path
    """Folder of the sweep."""
    sweep: OmitArgPrefixes[Sweep] = field(default_factory=Sweep)
    task: str | None = None
    """The task, by name, as file.py:name, or an environment of gymnasium's by its id. It is inferred from the data's
    name; this overrides it."""
    preset: str | None = None
    """Settings to start from: a preset of the task; None: the defaults, or those of a run."""
    start: Path | None = None
    """A run whose settings to start from, such as those that `vmg train` has chosen from the data."""
    seeds: tuple[int, ...] = (0,)
    """One model per seed in every candidate; their mean decides."""
    keys: tuple[str, ...] = ()
    """Leaves of a dict observation that make the state; none: the task's choice, or else the reader's."""
    validation: float = 0.1
    """Share of the episodes to hold out."""
    learn: LearnConfig = field(default_factory=LearnConfig)
    graph: GraphConfig = field(default_factory=GraphConfig)
    solve: SolveConfig = field(default_factory=SolveConfig)
    act: ActConfig = field(default_factory=ActConfig)
    json: bool = False
    """Print JSON."""


def run(arguments: list[str]) -> None:
    """Do the sweep and show its candidates."""
    data = next((a for a in arguments if a.partition(":")[0] in READERS), "")
    task = named_task(peek(arguments, "--task"), data)
    start = _start(peek(arguments, "--preset"), peek(arguments, "--start"), task)
    missing = {"data": tyro.MISSING, "out": tyro.MISSING}
    options = parsed(
        SweepOptions,
        "sweep",
        arguments,
        **missing,
        learn=start.learn,
        graph=start.graph,
        solve=start.solve,
        act=start.act,
    )
    if options.start:
        load_run(options.start)  # so that it is said where it is none
    config = AgentConfig(learn=options.learn, graph=options.graph, solve=options.solve, act=options.act)
    base = Run(
        data=options.data,
        config=config,
        seeds=options.seeds,
        task=resolved(options.task),
        keys=chosen_keys(options.keys, options.data, task),
        validation=options.validation,
        folder=options.out,
    )
    with held(options.out):
        found = sweep(base, options.sweep)
    show(as_text(found) if options.json else _table(found))
    say(f"Every candidate is in {options.out / 'candidates'}, all values are in {options.out / 'sweep.json'}.")
    say(f"Next, with all of the data: {found['command']}")


def _start(preset: str | None, run: str | None, task: Task | None) -> AgentConfig:
    """Return the settings to start from; the graph keeps the columns in which the task names goals."""
    if preset and run:
        raise VMGError("A sweep starts from a preset or from a run: leave out --preset or --start.")
    if preset == AUTO:
        raise VMGError(
            f"A sweep does not choose settings from the data: `vmg train` does. Try others than it chose with --start "
            f"RUN, or leave out --preset {AUTO}."
        )
    if preset:
        return preset_of(preset, task)
    config = load_run(Path(run)).config if run and is_file(Path(run) / "run.json") else AgentConfig()
    return task.with_goal_columns(config) if task else config


def _table(found: dict[str, Any]) -> Table:
    """All candidates, those that went furthest first, the better first."""
    better = -1 if found["asked"]["objective"] == "score" else 1
    table = Table(
        title=f"{len(found['candidates'])} candidates, judged by {found['asked']['objective']}", title_justify="left"
    )
    for name in ("candidate", "updates", "value", "settings"):
        table.add_column(name)
    for candidate in sorted(
        found["candidates"], key=lambda t: (-len(t["values"]), better * list(t["values"].values())[-1])
    ):
        updates, value = list(candidate["values"].items())[-1]
        settings = "  ".join(f"{name.replace('_', '-')}={_short(each)}" for name, each in candidate["settings"].items())
        table.add_row(candidate["run"], f"{int(updates):,}", f"{value:.4g}", settings)
    return table


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
