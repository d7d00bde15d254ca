"""A task, disturbed: which disturbances it has, and how they are named in words.

Any environment has noise on its actions, noise on its sensors and a delay. One whose joints can be moved has a start
and a push, too. Beyond these a task says itself what there is (`Task.disturbances`), or what these mean there.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, TypeAlias

from vmg.base.arguments import checked
from vmg.base.errors import VMGError
from vmg.envs.disturbances import JOINTS, SIGNALS, Disturbance
from vmg.envs.joints import has_joints
from vmg.envs.task import Task

Amounts: TypeAlias = Mapping[str, float]
"""How much of each disturbance there is, by name; all of them at once."""

MOST = 1_000_000
"""The largest amount of anything."""
HORIZON = 200
"""Steps that an episode counts as having where nobody says how many."""


def disturbances_of(task: Task) -> dict[str, Disturbance]:
    """Return what can disturb a task, by name, in the order in which it acts: the world first, then what is seen."""
    own = task.disturbances
    moved = {} if set(JOINTS) <= set(own) or not _has_joints(task) else JOINTS
    others = {name: each for name, each in own.items() if name not in {*JOINTS, *SIGNALS}}
    known = {**moved, **others, **SIGNALS, **own}
    return {name: known[name] for name in (*JOINTS, *others, *SIGNALS) if name in known}


@checked
def disturbed(task: Task, amounts: Amounts) -> Task:
    """Return the task, disturbed so; with amounts that change nothing, the task itself."""
    known = disturbances_of(task)
    for name, amount in amounts.items():
        if name not in known:
            raise VMGError(_unknown(task, name, known))
        _check(name, amount, known[name])
    in_force = {name: amounts[name] for name in known if amounts.get(name, known[name].nothing) != known[name].nothing}
    if not in_force:
        return task
    making = _Making(task, tuple((known[name], amount) for name, amount in in_force.items()))
    words = ", ".join(f"{name} {amount:g} {known[name].unit}" for name, amount in in_force.items())
    return replace(
        task,
        name=f"{task.name}: {in_words(in_force)}",
        environment=making if callable(task.environment) else task.environment,
        make_with=making,
        protocol=f"{task.protocol} Disturbed: {words}.",
    )


@checked
def read_disturbances(words: Sequence[str], task: Task) -> list[Amounts]:
    """Read "start=0.05,0.1", each amount by itself; "start", at its usual ones; "start=0.1+push=0.3", both at once."""
    known = disturbances_of(task)
    found: list[Amounts] = []
    for word in words:
        parts = [_read(part, word, task, known) for part in word.split("+")]
        names = [name for name, _ in parts]
        if len(set(names)) < len(names):
            raise VMGError(f"{word!r} names {names[0]!r} twice: several amounts of one are start=0.05,0.1.")
        for each in product(*(amounts for _, amounts in parts)):
            amounts = dict(zip(names, each, strict=True))
            disturbed(task, amounts)  # says what is wrong with it
            if amounts not in found:
                found.append(amounts)
    return found


def in_words(amounts: Amounts) -> str:
    """Say how much of what there is: "start 0.1 and push 0.3"."""
    return " and ".join(f"{name} {amount:g}" for name, amount in amounts.items())


@dataclass(frozen=True)
class _Making:
    """Makes a task's environment and disturbs it; a class, so that it can be sent to other processes."""

    task: Task
    disturbances: tuple[tuple[Disturbance, float], ...]

    def __call__(self, *_: Any, **options: Any) -> Any:
        env = replace(self.task, options=options).make()
        for disturbance, amount in self.disturbances:
            env = disturbance.wrap(env, amount, self.task.horizon or HORIZON)
        return env


def _read(part: str, word: str, task: Task, known: Mapping[str, Disturbance]) -> tuple[str, tuple[float, ...]]:
    name, equals, numbers = (each.strip() for each in part.partition("="))
    if name not in known:
        raise VMGError(_unknown(task, name, known))
    if not equals:
        return name, known[name].usual
    try:
        return name, tuple(float(number) for number in numbers.split(","))
    except ValueError:
        raise VMGError(
            f"{word!r} is no disturbance: write NAME=AMOUNT, several amounts as {name}=0.05,0.1, two at once as "
            "start=0.1+push=0.3."
        ) from None


def _check(name: str, amount: float, disturbance: Disturbance) -> None:
    if not 0 <= amount <= MOST or (disturbance.whole and amount != int(amount)):
        kind = "a whole number" if disturbance.whole else "a number"
        raise VMGError(f"The amount of {name} is {kind} from 0 to {MOST:,} ({disturbance.unit}), not {amount:g}.")


def _unknown(task: Task, name: str, known: Mapping[str, Disturbance]) -> str:
    there = "; ".join(f"{each} ({disturbance.unit})" for each, disturbance in known.items())
    return f"Nothing called {name!r} disturbs {task.name}. What can: {there}."


def _has_joints(task: Task) -> bool:
    with closing(task.make()) as env:
        observation, _ = env.reset(seed=0, options=dict(task.begin(0)) if task.begin else None)
        return has_joints(env, observation)
