"""What the commands share: how arguments become options, and how results are shown."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, TypeVar

import tyro
from tyro.conf import Positional, arg

from vmg.agent.settings import AgentConfig
from vmg.base.console import say, show
from vmg.base.errors import VMGError
from vmg.base.files import is_file
from vmg.base.locks import held
from vmg.data import takes_keys
from vmg.envs import Task, find_task, task_of
from vmg.runs import Run, load_run, save_run

Options = TypeVar("Options")

DataId = Annotated[Positional[str], arg(metavar="DATA")]
RunFolder = Annotated[Positional[Path], arg(metavar="RUN")]


def parsed(kind: type[Options], name: str, arguments: list[str], **defaults: Any) -> Options:
    """Turn arguments into options; `--help` and mistakes in them end the program here."""
    default = kind(**defaults) if defaults else tyro.MISSING_NONPROP
    return tyro.cli(kind, prog=f"vmg {name}", args=arguments, default=default)


def peek(arguments: list[str], flag: str) -> str | None:
    """Return a flag's value before the arguments are parsed, since the defaults of others depend on it."""
    joined = next((a.partition("=")[2] for a in arguments if a.startswith(f"{flag}=")), None)
    return next((following for here, following in pairwise(arguments) if here == flag), joined)


def named_task(name: str | None, data: str) -> Task | None:
    """Return the task that is named, or the data's own; None where neither is known: any data can be learned from."""
    if name:
        return find_task(name)
    try:
        return task_of(data)
    except VMGError:
        return None


def named_run(arguments: list[str]) -> Run | None:
    """Return the run that the arguments name, whose settings are the defaults."""
    folder = next((Path(a) for a in arguments if is_file(Path(a) / "run.json")), None)
    return load_run(folder) if folder else None


def in_task(run: Run, task: str | None) -> Run:
    """Return the run with the task that is named, which it remembers from now on."""
    if task is None or resolved(task) == run.task:
        return run
    with held(run.folder):
        run = replace(load_run(run.folder), task=resolved(task))
        run.named_task()  # a task that is none is not remembered, nor is one that does not fit
        if learned_from := run.facts():
            run.check_task(learned_from)
        save_run(run)
    return run


def resolved(task: str | None) -> str | None:
    """Return a task's name; one in a file with the file's whole path, so that it is found from any folder."""
    file, colon, name = (task or "").rpartition(":")
    return f"{Path(file).expanduser().resolve()}:{name}" if colon and file.endswith(".py") else task


def preset_of(name: str, task: Task | None) -> AgentConfig:
    """Return a preset of the task, or say that it takes one."""
    if task is None:
        raise VMGError(f"Only a task has a preset {name!r}: name it, --task NAME, or leave out --preset {name}.")
    return task.preset(name)


def chosen_keys(given: tuple[str, ...], data: str, task: Task | None) -> tuple[str, ...] | None:
    """Return the keys asked for or, where the data has keys to choose, the task's; None leaves it to the reader."""
    return given or (task.keys if task and takes_keys(data) else None)


def end(as_json: bool, folder: Path, following: str) -> None:
    """Say what to do next."""
    if as_json:
        show(as_text({"run": str(folder)}))
    say(following)


def as_text(content: Any) -> str:
    """Return JSON as text."""
    return json.dumps(content, indent=2)
