"""Goals in words: "hand=0.9,0.9" by a field's name, "4,5=0.9,0.9" by columns, "hand=0..1,0..1" a region."""

from dataclasses import dataclass
from math import isnan

import numpy as np

from vmg.base.errors import VMGError
from vmg.base.types import Float32s
from vmg.data.fields import Fields, fields_in_words
from vmg.goals.objectives import Objective, near, within

SHARE = 0.05
"""Share of what the data cover in a goal's columns that counts as near, where nobody says how near."""


@dataclass(frozen=True)
class GoalWords:
    """A goal as it was written: columns of the state, and a low and a high for each."""

    text: str
    columns: tuple[int, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]

    @property
    def exact(self) -> tuple[int, ...]:
        """The columns in which one number is wanted, which counts as reached within a tolerance."""
        bounds = zip(self.columns, self.low, self.high, strict=True)
        return tuple(column for column, low, high in bounds if low == high)

    def objective(self, tolerance: float | None) -> Objective:
        """Return the objective to be there; numbers without a range need a tolerance."""
        name, _, numbers = (part.strip() for part in self.text.partition("="))
        where = name if not name[:1].isdigit() else f"columns {name}"
        if self.exact and tolerance is None:
            raise VMGError(
                f"Say how near to {self.text!r} counts as reached: give a tolerance, in the units of {where}."
            )
        nearly = f", within {tolerance:.3g}" if self.exact else ""
        if self.exact == self.columns:
            return near(
                self.low, columns=self.columns, tolerance=tolerance or 0.0, name=f"{where} at {numbers}{nearly}"
            )
        spread = [(tolerance or 0.0) * (column in self.exact) for column in self.columns]
        low, high = np.subtract(self.low, spread), np.add(self.high, spread)
        return within(low, high, columns=self.columns, name=f"{where} in {numbers}{nearly}")


def read_goal(text: str, fields: Fields, size: int | None = None, *, whose: str) -> GoalWords:
    """Read a goal in named fields, or in columns of a state with `size` numbers; `whose` says in errors what has them.

    The columns of a task are known only where its size is.
    """
    name, _, numbers = (part.strip() for part in text.partition("="))
    columns = fields.get(name) or _columns(name)
    bounds = [_bounds(each) for each in numbers.split(",")]
    if columns is None or len(bounds) != len(columns) or None in bounds or _beyond(columns, size):
        numbered = "" if size is None else f" The columns are 0 to {size - 1}."
        raise VMGError(
            f"{text!r} is no goal of {whose}: write FIELD=NUMBER,NUMBER,... or FIELD=LOW..HIGH,... with one of its "
            f"fields, or with column numbers (4,5=0.9,0.9), and as many numbers. Its fields: "
            f"{fields_in_words(fields)}.{numbered}"
        )
    low, high = zip(*(each for each in bounds if each), strict=True)
    if any(map(isnan, (*low, *high))):
        raise VMGError(f"{text!r} holds nan, which is nowhere: give a number, or -inf..inf where any will do.")
    return GoalWords(text, columns, low, high)


def usual_tolerance(states: Float32s, columns: tuple[int, ...]) -> float:
    """Return how near counts as reached where nobody says: a small share of what these states cover in the columns."""
    low, high = np.percentile(states[:, list(columns)].astype(np.float64), [1, 99], axis=0)
    covered = float(np.sqrt(np.mean((high - low) ** 2)))
    return float(f"{SHARE * covered:.2g}")


def _columns(name: str) -> tuple[int, ...] | None:
    """Read "4,5"; None where these are no columns, or one is named twice."""
    parts = [part.strip() for part in name.split(",")]
    if not all(part.isdecimal() for part in parts) or len({int(part) for part in parts}) < len(parts):
        return None
    return tuple(map(int, parts))


def _beyond(columns: tuple[int, ...], size: int | None) -> bool:
    return size is not None and any(column >= size for column in columns)


def _bounds(text: str) -> tuple[float, float] | None:
    """Read "1.5", or "1..2"; None where these are no numbers."""
    low, _, high = text.partition("..")
    try:
        return float(low), float(high or low)
    except ValueError:
        return None
