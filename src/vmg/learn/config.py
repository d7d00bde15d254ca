"""What learning can be told, each option with its one-line help."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import isfinite
from pathlib import Path
from typing import Literal, get_args, get_origin

from vmg.data.episodes import Episodes
from vmg.errors import VMGError


@dataclass(frozen=True, kw_only=True)
class LearnConfig:
    """How the four networks are learned; the defaults are the paper's."""

    metric_dimension: int = 10
    """Dimensions of the metric space."""
    hidden_units: int = 256
    """Units in each of the two hidden layers of every network."""
    margin: float = 1.0
    """m: how far unrelated states are pushed apart, and the longest free transition."""
    margins: Literal["paper", "program"] = "paper"
    """The paper's max(m − D², 0) and max(‖Δf‖ − m, 0), or its program's max(2m − D², 0) and max(‖Δf‖² − m, 0)."""
    contrastive: bool = True
    """Learn with the contrastive loss L_c (off: an ablation)."""
    action_decoder: bool = True
    """Learn to reconstruct the action from the transition (off: an ablation; the length penalty stays)."""
    goal_horizon: int = 10
    """K: the translator's goals lie 1 to K steps ahead."""
    encoder_inputs: Literal["raw", "normalised"] = "raw"
    """What the state encoder sees: observations as they are, or with mean 0 and spread 1."""
    translator_inputs: Literal["raw", "normalised", "relative", "raw relative"] = "raw"
    """What the translator sees: as above, or ("relative": normalised, "raw relative": as it is) with the goal as its
    difference from the observation, in units of how large such differences are in the data."""
    translator_columns: tuple[int, ...] = ()
    """Numbers of the observation the translator sees; none: all. Leaving out velocities keeps it from copying them."""
    translator_decay: float = 0.0
    """Weight decay of the translator: each update also takes learning_rate times this share off its weights. It keeps
    long training on little data from learning that data by heart."""
    translator_memory: int = 1
    """Updates over which the translator's weights are averaged, the latest counting most; 1: not averaged."""
    learning_rate: float = 1e-3
    """Adam's step size."""
    batch_size: int = 100
    """Steps drawn for one update; each one's next state is a negative for all the others."""
    steps: int = 800_000
    """Updates in all."""
    checkpoint_every: int = 50_000
    """Updates between two checkpoints."""

    def __post_init__(self) -> None:
        for field in fields(self):
            _check(field.name, getattr(self, field.name), field.type)


@dataclass(frozen=True)
class Training:
    """Models to learn from one data set, one a seed."""

    episodes: Episodes
    seeds: Sequence[int] = (0,)
    validation: Episodes | None = None
    """Episodes kept apart, on which the losses are measured too."""
    folder: Path | str | None = None
    """Where losses and checkpoints are written, and from where a killed run goes on."""


_SMALLEST = {"batch_size": 2}  # one step alone has no negatives
_MAY_BE_ZERO = {"translator_decay"}


def _check(name: str, value: object, kind: object) -> None:
    if get_origin(kind) is Literal and value not in get_args(kind):
        raise VMGError(f"{name} must be one of {', '.join(map(repr, get_args(kind)))}, not {value!r}.")
    if kind is bool and not isinstance(value, bool):
        raise VMGError(f"{name} must be True or False, not {value!r}.")
    if kind is int and (not isinstance(value, int) or isinstance(value, bool) or value < _SMALLEST.get(name, 1)):
        raise VMGError(f"{name} must be a whole number of at least {_SMALLEST.get(name, 1)}, not {value!r}.")
    if kind is float and name in _MAY_BE_ZERO and value == 0:
        return
    if kind is float and not (isinstance(value, int | float) and isfinite(value) and value > 0):
        raise VMGError(f"{name} must be a number above 0, not {value!r}.")
