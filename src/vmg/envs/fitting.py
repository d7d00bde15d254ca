"""Making a task fit an agent: the state it learned from, the names of its columns, and the goal the environment names.

What a task says itself is left alone. The environment is made and reset a few times; no step is taken in it.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vmg.base.errors import VMGError
from vmg.base.types import Float32s
from vmg.data.counting import counted
from vmg.data.facts import DataFacts
from vmg.data.fields import field_columns, moved_fields
from vmg.data.keys import choose_keys, join_leaves, leaf_of, leaves
from vmg.envs.task import Task, TaskGoal
from vmg.envs.words import usual_tolerance

RESETS = 5
ACHIEVED, DESIRED = "achieved_goal", "desired_goal"


@dataclass(frozen=True)
class _Look:
    """What an environment shows without a step in it."""

    observations: tuple[Any, ...]
    horizon: int | None
    threshold: float | None
    """How near counts as reached, where the environment says so."""
    actions: int | None
    """Numbers of an action; None where the environment does not say, or takes other than a row of numbers."""

    @property
    def sizes(self) -> dict[str, int]:
        return {name: np.size(leaf) for name, leaf in leaves(self.observations[0]).items()}


def fitting(task: Task, data: DataFacts) -> Task:
    """Return the task with the state that an agent learned from, or say what in the environment does not fit it."""
    return _fitted(task, _look_at(task), data)


def check_fits(task: Task, data: DataFacts) -> str:
    """Refuse a task that does not fit what was recorded; return why that cannot be checked here, or nothing."""
    try:
        look = _look_at(task)
    except Exception as error:  # whoever makes an environment has errors of their own
        return f"Whether {task.name} fits the data is not checked, since it cannot be made here: {error}"
    _fitted(task, look, data)
    return ""


def _fitted(task: Task, look: _Look, data: DataFacts) -> Task:
    named = replace(task, fields=task.fields or data.fields, horizon=task.horizon or look.horizon)
    if task.state is None and isinstance(look.observations[0], Mapping | tuple):
        named = replace(named, keys=_fitting_keys(task, look, data))
    _check(named, look, data)
    return named if named.goal else replace(named, goal=_goal(named, look))


def ignored_goal(task: Task, observation: Any) -> str:
    """Say that the environment names a place which the task does not read; nothing where it does, or none is named."""
    named = observation.get(DESIRED) if isinstance(observation, Mapping) else None
    if task.goal or named is None or isinstance(named, Mapping):
        return ""
    size = np.size(named)
    return (
        f"The environment of {task.name} names a goal in each episode ({DESIRED!r}, {size} numbers), which is ignored: "
        f"the recorded rewards are followed instead. To have it followed, say in which {size} columns of the state "
        f"it is: goal=vmg.TaskGoal(columns={tuple(range(size))}, tolerance=0.1) in a task of your own, --task "
        "file.py:NAME."
    )


def _look_at(task: Task) -> _Look:
    with closing(task.make()) as env:
        options = [dict(task.begin(seed)) if task.begin else None for seed in range(RESETS)]
        seen = tuple(env.reset(seed=seed, options=each)[0] for seed, each in enumerate(options))
        threshold = getattr(getattr(env, "unwrapped", env), "distance_threshold", None)
        horizon = getattr(getattr(env, "spec", None), "max_episode_steps", None)
        shape: tuple[int, ...] = getattr(getattr(env, "action_space", None), "shape", None) or ()
    return _Look(seen, horizon, None if threshold is None else float(threshold), shape[0] if len(shape) == 1 else None)


def _fitting_keys(task: Task, look: _Look, data: DataFacts) -> tuple[str, ...]:
    """The task's own keys, or else the leaves that the data name, or the usual ones, or the one that has the size."""
    sizes, size = look.sizes, data.observation_size
    if task.keys:
        return choose_keys(sizes, task.keys, source=task.name)
    named = tuple(sorted(data.fields, key=lambda name: data.fields[name]))
    candidates = [named, choose_keys(sizes, source=task.name), *((name,) for name in sizes if name != DESIRED)]
    for keys in candidates:
        if keys and all(leaf_of(key)[0] in sizes for key in keys) and _size(look, keys) == size:
            return keys
    shown = ", ".join(f"{name} ({n})" for name, n in sizes.items())
    raise VMGError(
        f"{data.source} has states of {size} numbers, and the environment of {task.name} shows {shown}: say which of "
        "these make the state, in the same order, with keys=(...) in a task of your own, --task file.py:NAME."
    )


def _size(look: _Look, keys: Sequence[str]) -> int:
    return int(join_leaves(look.observations[0], keys).size)


def _check(task: Task, look: _Look, data: DataFacts) -> None:
    """Refuse a state or an action of another size, or a state whose parts lie in another order than was recorded."""
    size = len(task.state_of(look.observations[0]))
    if size != data.observation_size:
        raise VMGError(
            f"{data.source} has states of {counted(data.observation_size, 'number')}, but {task.name} shows {size}. "
            "Choose the parts that make the state with keys=(...) or state=... of the task, or name another: --task."
        )
    if look.actions not in (None, data.action_size):
        raise VMGError(
            f"{data.source} has actions of {counted(data.action_size, 'number')}, but {task.name} takes "
            f"{look.actions}. Name the task in which the data were recorded, --task, or data of this one."
        )
    if task.state is None and task.keys:
        here = field_columns((key, _size(look, [key])) for key in task.keys)
        if moved := moved_fields(data.fields, here):
            order = tuple(sorted(here, key=lambda name: data.fields.get(name, ())))
            raise VMGError(
                f"{task.name} shows the parts of the state in another order than {data.source}: {moved}. "
                f"Give the task keys={order}."
            )


def _goal(task: Task, look: _Look) -> TaskGoal | None:
    """The goal that the environment names, where the state holds the place that is compared with it."""
    first = look.observations[0]
    if not (isinstance(first, Mapping) and {ACHIEVED, DESIRED} <= first.keys()):
        return None
    if any(isinstance(first[name], Mapping) for name in (ACHIEVED, DESIRED)):
        return None
    achieved = np.stack([np.ravel(each[ACHIEVED]) for each in look.observations])
    columns = _columns_of(task, achieved, look)
    if columns is None or achieved.shape[1] != np.size(first[DESIRED]):
        return None
    places = np.concatenate([achieved, [np.ravel(each[DESIRED]) for each in look.observations]])
    tolerance = look.threshold
    if tolerance is None:
        tolerance = usual_tolerance(places.astype(np.float32), tuple(range(len(columns))))
    return TaskGoal(columns=columns, tolerance=tolerance)


def _columns_of(task: Task, achieved: np.ndarray, look: _Look) -> tuple[int, ...] | None:
    """The columns of the state that hold the place achieved: by its name, or because the numbers are the same."""
    if task.state is None and task.keys and ACHIEVED in task.keys:
        return field_columns((key, _size(look, [key])) for key in task.keys)[ACHIEVED]
    states = np.stack([task.state_of(each) for each in look.observations])
    same = [np.flatnonzero(_alike(states, numbers)) for numbers in achieved.T]
    return tuple(int(each[0]) for each in same) if all(len(each) == 1 for each in same) else None


def _alike(states: Float32s, numbers: np.ndarray) -> np.ndarray:
    alike: np.ndarray = (np.abs(states - numbers[:, None]) <= 1e-5).all(0)
    return alike
