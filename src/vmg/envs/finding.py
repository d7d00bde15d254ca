"""Which task is meant: by name, by a file, by an environment, or by the data.

kitchen-partial          one that is built in, or that an extension registered
file.py:name             one in a file of your own
Pendulum-v1              any environment of gymnasium's; module:Name-v0 imports the module first
minari:ID                the environment that a Minari set records
"""

import importlib
import os
import re
import sys
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

from vmg import data
from vmg.base.arguments import checked
from vmg.base.errors import VMGError, require
from vmg.base.registry import import_file
from vmg.data.mazes import import_robotics
from vmg.envs.task import TASKS, VARIANTS, Task


@checked
def find_task(name: str) -> Task:
    """Return the task of that name, the one that a file brings, "file.py:name", or the bare task of an environment.

    The file is run. A bare task knows nothing but its environment; `vmg.envs.fitting` makes it fit an agent.
    """
    file, colon, variable = name.rpartition(":")
    if colon and file.endswith(".py"):
        return _task_in(file, variable)
    if name in TASKS:
        return TASKS.find(name)
    if data.brings_environment(name):
        return _bare(name)
    return _registered(name)


def task_of(dataset: str) -> Task:
    """Return the task a data set belongs to, judging by its id; a Minari set brings its own environment."""
    source, _, rest = dataset.partition(":")
    bare, brought = rest.partition("?")[0], data.brings_environment(dataset)
    for _, task in (*TASKS.items(), *VARIANTS.items()):
        if any(fnmatch(f"{source}:{bare}", pattern) for pattern in (task.data, *task.also) if pattern):
            return replace(task, environment=dataset, options={}) if brought else task
    if brought:
        return _bare(dataset)
    raise VMGError(
        f"No task is known for the data {dataset!r}. Name one with --task: file.py:NAME of your own, an environment of "
        f"gymnasium's by its id, or one of: {', '.join(TASKS)}."
    )


def task_file(name: str | None) -> Path | None:
    """Return the file that a task's name names, "file.py:name"; None for others."""
    file, _, _ = (name or "").rpartition(":")
    return Path(file).expanduser() if file.endswith(".py") else None


def comes_from(folder: Path, name: str) -> bool:
    """Say whether the file or the module that a task's name names, and that would be run, lies in a folder."""
    module, colon, _ = name.rpartition(":")
    if not colon or data.brings_environment(name):
        return False
    places = [Path(module).expanduser()]
    if not module.endswith(".py"):
        named = [Path(place, *module.split(".")) for place in (os.getcwd(), *sys.path)]
        places = [place for each in named for place in (each, each.with_suffix(".py"))]
    return any(place.exists() and place.resolve().is_relative_to(folder.resolve()) for place in places)


def _bare(environment: str, horizon: int | None = None) -> Task:
    return Task(
        name=environment,
        environment=environment,
        horizon=horizon,
        protocol=f"The environment {environment} as it is; the score is the return.",
    )


def _registered(name: str) -> Task:
    """The bare task of an environment that gymnasium knows by this id.

    Where gymnasium is not installed, what looks like an id is taken for one: training needs no simulator.
    """
    try:
        gymnasium = require("gymnasium", "envs")
        import_robotics()
    except VMGError:
        return _bare(name) if re.fullmatch(r"\S+-v\d+", name) else TASKS.find(name)
    module, _, known_as = name.rpartition(":")
    try:
        if module:
            _import(module)
        return _bare(name, gymnasium.spec(known_as).max_episode_steps)
    except (gymnasium.error.Error, ImportError) as error:
        raise VMGError(
            f"There is no task {name!r}, and no environment: {error} Name a file, file.py:NAME, an environment of "
            f"gymnasium's by its id, or one of: {', '.join(TASKS)}."
        ) from error


def _import(module: str) -> None:
    """Import a module that registers environments; one in the folder where the command is typed counts, too."""
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    importlib.import_module(module)


def _task_in(file: str, name: str) -> Task:
    task = getattr(import_file(file), name, None)
    if not isinstance(task, Task):
        raise VMGError(f"{file} has no task {name!r}: define `{name} = vmg.Task(...)` at its top.")
    return task
