"""A row of the table: what was measured, on what, beside which peer, and the bar that it has to hold."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

Level = Literal["full", "quick", "tiny"]
Unit = Literal["s", "steps/s", "MiB"]


class NotTheSameError(AssertionError):
    """Ours and the peer did not compute the same thing, so there is nothing to compare."""


@dataclass(frozen=True)
class Bar:
    """What has to hold: ours at most, ours at least, or ours this many times better than the peer."""

    kind: Literal["at most", "at least", "times the peer"]
    limit: float


@dataclass(frozen=True, kw_only=True)
class Row:
    """One measurement. A row without `ours` was skipped, and its note says why."""

    family: str
    name: str
    size: str = ""
    unit: Unit = "s"
    ours: float | None = None
    peer_name: str = ""
    peer: float | None = None
    bar: Bar | None = None
    checked: str = ""
    """What was found equal on both sides."""
    note: str = ""
    amount: int | None = None
    """How much work it was, where rows of one name make a curve: states, vertices, observations, models."""
    percentiles: dict[str, float] | None = None
    """How ours was spread, in its unit."""

    @property
    def ratio(self) -> float | None:
        """How many times better ours is than the peer."""
        if self.ours is None or self.peer is None:
            return None
        return self.ours / self.peer if self.unit == "steps/s" else self.peer / self.ours

    @property
    def holds(self) -> bool | None:
        """Whether the bar holds; None where there is none, or nothing to hold it against."""
        measured = self.ratio if self.bar and self.bar.kind == "times the peer" else self.ours
        if self.bar is None or measured is None:
            return None
        return measured <= self.bar.limit if self.bar.kind == "at most" else measured >= self.bar.limit

    @property
    def command(self) -> str:
        """The command that measures it again."""
        on_gpu = self.family.startswith("gpu")
        return "python -m benchmarks.gpu" if on_gpu else f"python -m benchmarks --rows {self.family}"

    def to_dict(self) -> dict[str, Any]:
        """Return everything by name, ready for JSON."""
        return {**asdict(self), "ratio": self.ratio, "holds": self.holds, "command": self.command}

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> "Row":
        """Undo `to_dict`."""
        bar = Bar(**content["bar"]) if content["bar"] else None
        derived = ("ratio", "holds", "command", "bar")
        return cls(**{name: value for name, value in content.items() if name not in derived}, bar=bar)


def check(same: bool, sentence: str) -> str:
    """Return the sentence if it is true; stop the row if it is not."""
    if not same:
        raise NotTheSameError(f"This does not hold: {sentence}.")
    return sentence
