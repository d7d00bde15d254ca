"""`vmg train`: learn the networks."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import tyro

from vmg.agent.settings import AgentConfig
from vmg.base.files import is_file
from vmg.cli.options import DataId, chosen_keys, end, named_task, parsed, peek, preset_of, resolved
from vmg.data import READERS
from vmg.envs import Task
from vmg.learn.config import LearnConfig
from vmg.networks.lowlevel import LOW_LEVELS
from vmg.runs import Run, auto, load_run, stages
from vmg.runs.auto import AUTO
from vmg.runs.commands import DEFAULT_PRESET, after_training
from vmg.runs.notes import On


@dataclass(frozen=True)
class Train:
    """Learn the networks of one or more agents from a data set; a killed run goes on where it was.

    The defaults shown belong to the data's task and the preset: `vmg train DATA --help` shows those of that data.
    """

    data: DataId
    """The data set, source:name; `vmg data info --help` lists the sources."""
    out: Path
    """Folder of the run."""
    task: str | None = None
    """The task, by name, as file.py:name, or an environment of gymnasium's by its id. It is inferred from the data's
    name; this overrides it."""
    preset: str = DEFAULT_PRESET
    """Settings to start from: `auto` (chosen from the data alone) or, for tasks that have them, `paper` (its table, to
    the letter) and `program` (as its authors' published program does it)."""
    low_level: str | None = None
    """Kind of low-level policy; None: the preset's. Its own settings are --learn.low-level.NAME."""
    seeds: tuple[int, ...] = (0,)
    """One agent per seed, side by side."""
    keys: tuple[str, ...] = ()
    """Leaves of a dict observation that make the state; none: the task's choice, or else the reader's."""
    validation: float = 0.0
    """Share of the episodes to hold out, for validation losses and the coverage of the graph."""
    on: On = "processes"
    workers: int | None = None
    """Workers of a cluster; None: as many as it has room for."""
    learn: LearnConfig = field(default_factory=LearnConfig)
    json: bool = False
    """Print JSON."""


def run(arguments: list[str]) -> None:
    """Put the run together and train it."""
    data = next((a for a in arguments if a.partition(":")[0] in READERS), "")
    task = named_task(peek(arguments, "--task"), data)
    preset = peek(arguments, "--preset") or DEFAULT_PRESET
    config = _settings(arguments, _preset(preset, task))
    options = parsed(Train, "train", arguments, data=tyro.MISSING, out=tyro.MISSING, learn=config.learn)
    made = Run(
        data=options.data,
        config=replace(config, learn=options.learn),
        seeds=options.seeds,
        task=resolved(options.task),
        keys=chosen_keys(options.keys, options.data, task),
        validation=options.validation,
        folder=options.out,
    )
    if preset == AUTO:
        auto.train(made, on=options.on, workers=options.workers)
    else:
        stages.train(made, on=options.on, workers=options.workers)
    there = load_run(made.folder) if is_file(made.folder / "run.json") else made
    end(options.json, made.folder, f"Next: {after_training(there)}")


def _preset(name: str, task: Task | None) -> AgentConfig:
    """Return a preset; what is chosen from the data starts from the defaults."""
    return AgentConfig() if name == AUTO else preset_of(name, task)


def _settings(arguments: list[str], preset: AgentConfig) -> AgentConfig:
    kind = peek(arguments, "--low-level")
    if kind is None or kind == preset.learn.low_level.kind:
        return preset
    return replace(preset, learn=replace(preset.learn, low_level=LOW_LEVELS.find(kind)()))
