"""The commands that make a run, written from what the run remembers: only what differs from the defaults is named."""

from dataclasses import fields
from shlex import join
from typing import Any

from vmg.act.tasks import Task
from vmg.config import AgentConfig
from vmg.errors import VMGError
from vmg.runs import Run

STAGES = ("graph", "solve", "act")


def commands_of(run: Run, *, episodes: int | None, first_seed: int = 0, baselines: bool = False) -> list[str]:
    """Return the commands, in order; evaluation only where episodes were run."""
    task = _task(run)
    preset, start = _nearest_preset(run, task)
    train = ["vmg", "train", run.data, "--out", str(run.folder), "--seeds", *map(str, run.seeds)]
    train += ["--task", run.task] if run.task else []
    train += ["--preset", preset] if preset not in ("", "ours") else []
    if run.keys and run.keys != (task.keys if task and run.data.startswith("minari:") else None):
        train += ["--keys", *run.keys]
    train += ["--validation", f"{run.validation:g}"] if run.validation else []
    train += _changes("learn", run.config.learn, start.learn)
    later = [
        ["vmg", name, str(run.folder), *_changes(stage, getattr(run.config, stage), getattr(start, stage))]
        for name, stage in zip(("build", "solve", "evaluate"), STAGES, strict=True)
    ]
    if episodes is None:
        later.pop()
    else:
        later[-1] += ["--episodes", str(episodes)] + (["--first-seed", str(first_seed)] if first_seed else [])
        later[-1] += ["--baselines"] * baselines
    return [join(words) for words in [train, *later]]


def _task(run: Run) -> Task | None:
    try:
        return run.find_task()
    except VMGError:
        return None


def _nearest_preset(run: Run, task: Task | None) -> tuple[str, AgentConfig]:
    """Return the preset that needs the fewest changes to become the run's settings, and its name."""
    found = dict(task.presets) if task else {"": AgentConfig()}
    return min(found.items(), key=lambda item: len(_changes("learn", run.config.learn, item[1].learn)))


def _changes(stage: str, now: Any, start: Any) -> list[str]:
    flags = []
    for each in fields(now):
        value = getattr(now, each.name)
        if value != getattr(start, each.name):
            flags += _flag(stage, each.name.replace("_", "-"), value)
    return flags


def _flag(stage: str, name: str, value: Any) -> list[str]:
    if isinstance(value, bool):
        return [f"--{stage}.{name}" if value else f"--{stage}.no-{name}"]
    values = value if isinstance(value, tuple) else (value,)
    return [f"--{stage}.{name}", *map(str, values)]
