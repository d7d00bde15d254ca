"""Which settings a sweep tries: each by its name, with values to choose from or a range to draw from.

learn.batch-size=50,100,200               one of these
learn.learning-rate=1e-4..1e-2            any number between
learn.learning-rate=1e-4..1e-2:log        the same, as often below 1e-3 as above
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from math import prod
from typing import Any, Literal

from vmg.agent.settings import AgentConfig
from vmg.base.errors import VMGError, require

Search = Literal["random", "grid"]
Draw = dict[str, Any]


@dataclass(frozen=True)
class Choice:
    """One setting: values to choose from, or two ends of a range."""

    name: str
    values: tuple[Any, ...] = ()
    ends: tuple[float, float] = (0, 0)
    logarithmic: bool = False
    whole: bool = False

    def drawn(self, trial: Any) -> Any:
        """Let a trial of Optuna's draw a value."""
        if self.values:
            return self.values[trial.suggest_int(self.name, 0, len(self.values) - 1)]
        suggest = trial.suggest_int if self.whole else trial.suggest_float
        return suggest(self.name, *self.ends, log=self.logarithmic)


def read_choices(given: Sequence[str], config: AgentConfig) -> list[Choice]:
    """Read what is to be tried; settings that do not exist and values they cannot have are said."""
    choices = [_read(each, config) for each in given]
    names = [choice.name for choice in choices]
    if not names:
        raise VMGError("A sweep needs settings to try: --settings learn.learning-rate=1e-4..1e-2:log")
    if twice := [name for name in names if names.count(name) > 1]:
        raise VMGError(f"The setting {twice[0]} is named twice: name it once, with all of its values.")
    return choices


def draws(choices: Sequence[Choice], search: Search, n: int | None, seed: int) -> list[Draw]:
    """Return settings to try, drawn by Optuna: the same for the same seed, and more are drawn after them."""
    optuna = require("optuna", "sweep")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    ranges = [choice.name for choice in choices if not choice.values]
    if search == "grid" and ranges:
        raise VMGError(f"A grid needs values for {ranges[0]}: name them, {ranges[0]}=1,2,3, or choose --search random.")
    whole = prod(len(choice.values) for choice in choices)
    n = n or (whole if search == "grid" else 20)
    if search == "grid":
        n = min(n, whole)
        grid = {choice.name: list(range(len(choice.values))) for choice in choices}
        sampler = optuna.samplers.GridSampler(grid, seed=seed)
    else:
        sampler = optuna.samplers.RandomSampler(seed=seed)
    study = optuna.create_study(sampler=sampler)
    trials = [study.ask() for _ in range(n)]
    return [{choice.name: choice.drawn(trial) for choice in choices} for trial in trials]


def given_up(values: Sequence[float], share: float) -> list[bool]:
    """Say of which candidates nothing more is expected: those worse than the best share of all, by Optuna's rule."""
    optuna = require("optuna", "sweep")
    of = optuna.trial.create_trial
    judge = optuna.create_study()
    ended = optuna.trial.TrialState.COMPLETE
    judge.add_trials([of(state=ended, value=value, intermediate_values={0: value}) for value in values])
    pruner = optuna.pruners.PercentilePruner(100 * share, n_startup_trials=1, n_warmup_steps=0)
    running = optuna.trial.TrialState.RUNNING
    return [bool(pruner.prune(judge, of(state=running, intermediate_values={0: value}))) for value in values]


def changed(config: AgentConfig, draw: Draw) -> AgentConfig:
    """Return settings with what was drawn."""
    for name, value in draw.items():
        config = _with(config, name.split("."), value)
    return config


def _read(given: str, config: AgentConfig) -> Choice:
    name, equals, text = given.partition("=")
    name = name.strip().replace("-", "_")
    if not equals or not text:
        raise VMGError(f"{given!r} does not say what to try: write NAME=VALUE,VALUE or NAME=LOW..HIGH.")
    now = _value(config, name)
    choice = _range(name, text, now) if ".." in text else Choice(name, tuple(_parsed(v, now) for v in text.split(",")))
    for value in choice.values or choice.ends:
        try:
            changed(config, {name: int(value) if choice.whole else value})
        except VMGError as error:
            raise VMGError(f"{given!r} cannot be tried: {error}") from error
    return choice


def _range(name: str, text: str, now: Any) -> Choice:
    span, _, how = text.partition(":")
    try:
        low, high = (float(end) for end in span.split(".."))
    except ValueError:
        low, high = 0.0, 0.0
    if not low < high or how not in ("", "log") or (how and low <= 0) or isinstance(now, bool | str | tuple):
        raise VMGError(
            f"{name}={text} is no range of numbers: write {name}=LOW..HIGH, and :log after it where both are above 0."
        )
    whole = isinstance(now, int)
    ends = (int(low), int(high)) if whole else (low, high)
    return Choice(name, ends=ends, logarithmic=bool(how), whole=whole)


def _parsed(text: str, now: Any) -> Any:
    """Read a value as JSON, or as a word; whole numbers are numbers where the setting has a point."""
    try:
        value = json.loads(text)
    except ValueError:
        value = None if text == "None" else text
    return float(value) if isinstance(now, float) and isinstance(value, int) and not isinstance(value, bool) else value


def _value(config: AgentConfig, name: str) -> Any:
    found: Any = config
    for part in name.split("."):
        if not is_dataclass(found) or part not in {each.name for each in fields(found)}:
            near = ", ".join(sorted(each for each in _names(config) if each.split(".")[-1] == name.split(".")[-1]))
            known = f"do you mean {near}?" if near else f"there are {', '.join(_names(config))}."
            raise VMGError(f"There is no setting {name}: {known}")
        found = getattr(found, part)
    if is_dataclass(found):
        raise VMGError(f"{name} is not one setting but several: {', '.join(_names(found, f'{name}.'))}.")
    return found


def _names(settings: Any, prefix: str = "") -> Iterator[str]:
    for each in fields(settings):
        value = getattr(settings, each.name)
        yield from _names(value, f"{prefix}{each.name}.") if is_dataclass(value) else [f"{prefix}{each.name}"]


def _with(settings: Any, path: Sequence[str], value: Any) -> Any:
    first, *rest = path
    return replace(settings, **{first: _with(getattr(settings, first), rest, value) if rest else value})
