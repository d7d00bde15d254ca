"""Scores: what an evaluation measured, and the one way in which scores of several models are summed up."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from vmg.base.statistics import bootstrap_interval

METHODS = {"VMG": "VMG", "BC": "behaviour cloning", "GCBC": "goal-conditioned behaviour cloning"}
"""Methods that are scored side by side, and their names in words."""


@dataclass(frozen=True)
class EpisodeScore:
    """How one episode went."""

    seed: int
    steps: int
    reward: float
    """Its return."""
    success: bool | None
    """What the environment says; None where it says nothing."""
    ended: str
    """"success", "terminated" or "time out"."""
    report: dict[str, Any] = field(default_factory=dict)
    likeness: dict[str, float] = field(default_factory=dict)
    """How much it was like what was recorded (`vmg.act.likeness.Likeness`), where the actor can tell."""

    @property
    def failed(self) -> bool:
        """Whether it failed, as far as the environment tells."""
        return self.success is False


@dataclass(frozen=True)
class Scores:
    """What an evaluation of one model measured; intervals are 95 % bootstrap intervals over episodes."""

    task: str
    protocol: str
    score_range: tuple[float, float]
    episodes: tuple[EpisodeScore, ...]

    @cached_property
    def mean_return(self) -> float:
        return float(np.mean([e.reward for e in self.episodes]))

    @cached_property
    def normalised(self) -> tuple[float, ...]:
        """Each episode's return, as a score from 0 to 100."""
        low, high = self.score_range
        return tuple(100 * (e.reward - low) / (high - low) for e in self.episodes)

    @cached_property
    def score(self) -> float:
        return float(np.mean(self.normalised))

    @cached_property
    def interval(self) -> tuple[float, float]:
        return bootstrap_interval([self.normalised])

    @cached_property
    def success_rate(self) -> float | None:
        """Share of episodes the environment called a success, in percent; None where it says nothing."""
        known = [e.success for e in self.episodes if e.success is not None]
        return 100 * float(np.mean(known)) if known else None

    @cached_property
    def likeness(self) -> dict[str, float]:
        """How much the episodes were like what was recorded: the mean share off the graph, the median start."""
        told = [e.likeness for e in self.episodes if e.likeness]
        if not told:
            return {}
        medians = {name: float(np.median([each[name] for each in told])) for name in ("start", "from_starts")}
        return {"off_graph": float(np.mean([each["off_graph"] for each in told])), **medians}

    @cached_property
    def endings(self) -> dict[str, int]:
        return dict(Counter(e.ended for e in self.episodes).most_common())

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON; the summary first, then every episode."""
        return {
            "task": self.task,
            "protocol": self.protocol,
            "n_episodes": len(self.episodes),
            "score": self.score,
            "interval": list(self.interval),
            "success_rate": self.success_rate,
            "mean_return": self.mean_return,
            "endings": self.endings,
            "likeness": self.likeness,
            "score_range": list(self.score_range),
            "episodes": [asdict(e) for e in self.episodes],
        }


@dataclass(frozen=True)
class Summary:
    """Scores of several models of one method, summed up: means over models, an interval over models and episodes."""

    models: tuple[Scores, ...]

    @classmethod
    def of(cls, models: Sequence[Scores]) -> "Summary":
        """Sum up these scores, one per model."""
        return cls(tuple(models))

    @cached_property
    def score(self) -> float:
        return float(np.mean([each.score for each in self.models]))

    @cached_property
    def interval(self) -> tuple[float, float]:
        return bootstrap_interval([each.normalised for each in self.models])

    @cached_property
    def success_rate(self) -> float | None:
        known = [each.success_rate for each in self.models if each.success_rate is not None]
        return float(np.mean(known)) if known else None

    @cached_property
    def mean_return(self) -> float:
        return float(np.mean([each.mean_return for each in self.models]))

    @cached_property
    def mean_steps(self) -> float:
        return float(np.mean([e.steps for each in self.models for e in each.episodes]))

    @cached_property
    def endings(self) -> dict[str, int]:
        total: Counter[str] = Counter()
        for each in self.models:
            total.update(each.endings)
        return dict(total)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "score": self.score,
            "interval": list(self.interval),
            "models": [each.score for each in self.models],
            "episodes": len(self.models[0].episodes),
            "success_rate": self.success_rate,
            "mean_return": self.mean_return,
            "mean_steps": self.mean_steps,
            "endings": self.endings,
        }


def paired_difference(scores: Sequence[Scores], baseline: Sequence[Scores]) -> dict[str, Any]:
    """Difference from a baseline, model by model and episode by episode: the seeds are the same.

    Where its interval holds 0, the difference is within the spread of seeds and episodes.
    """
    paired = [np.subtract(one.normalised, other.normalised) for one, other in zip(scores, baseline, strict=True)]
    low, high = bootstrap_interval([pair.tolist() for pair in paired])
    mean = float(np.mean([pair.mean() for pair in paired]))
    return {"mean": mean, "interval": [low, high], "within_spread": low <= 0 <= high}


def in_words(endings: Mapping[str, int]) -> str:
    """Say how episodes ended: "98 success, 2 time out"."""
    return ", ".join(f"{count} {how}" for how, count in endings.items())
