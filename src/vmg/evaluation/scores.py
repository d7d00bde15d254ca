"""Scores: what an evaluation measured, and the one way in which scores of several models are summed up."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from vmg.base.arguments import checked
from vmg.base.statistics import bootstrap_interval
from vmg.base.types import Bools

METHODS = {"VMG": "VMG", "BC": "behaviour cloning", "GCBC": "goal-conditioned behaviour cloning"}
"""Methods that are scored side by side, and their names in words."""
LYING = 25
"""Steps for which a body must lie, up to the end, to have fallen: it might have got up again."""
JAM = 100
"""Steps without progress that are a jam."""
FAILURES = {"fall": "falls", "jam": "jams", "late": "late"}
"""Why an episode failed, the first that is true of it, and how several of them are called."""


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
    planned: float | None = None
    """Steps that its plan was to take, where the actor can tell."""
    stalled: int | None = None
    """The most steps in a row without progress (`vmg.act.progress.Progress`), where the actor can tell."""
    fell: int | None = None
    """The step from which it lay to the end; None where it did not, or where the task does not say what a fall is."""

    @property
    def failed(self) -> bool:
        """Whether it failed, as far as the environment tells."""
        return self.success is False

    @property
    def failure(self) -> str | None:
        """Why it failed: a fall, a jam, or late, which is neither; None where that is not known, or it did not."""
        if not self.failed:
            return None
        if self.fell is not None:
            return "fall"
        if self.stalled is None:
            return None
        return "jam" if self.stalled >= JAM else "late"


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

    @cached_property
    def failures(self) -> dict[str, int]:
        """How many episodes failed by a fall, by a jam, and late; without those of which it is not known."""
        found = Counter(e.failure for e in self.episodes)
        return {kind: found[kind] for kind in FAILURES if found[kind]}

    @cached_property
    def pace(self) -> float | None:
        """Steps taken for each step planned, over the episodes that succeeded; None where none did or was planned."""
        done = [(e.steps, e.planned) for e in self.episodes if e.success and e.planned]
        return sum(steps for steps, _ in done) / sum(planned for _, planned in done) if done else None

    @checked
    def by(self, name: str) -> dict[str, float]:
        """Return the score of the episodes that noted the same under this name in their report, for each such value."""
        found: dict[str, list[float]] = {}
        for episode, score in zip(self.episodes, self.normalised, strict=True):
            if name in episode.report:
                found.setdefault(str(episode.report[name]), []).append(score)
        return {value: float(np.mean(found[value])) for value in sorted(found)}

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
            "failures": self.failures,
            "pace": self.pace,
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
        return _mean(each.success_rate for each in self.models)

    @cached_property
    def mean_return(self) -> float:
        return float(np.mean([each.mean_return for each in self.models]))

    @cached_property
    def mean_steps(self) -> float:
        return float(np.mean([e.steps for each in self.models for e in each.episodes]))

    @cached_property
    def endings(self) -> dict[str, int]:
        return _added(each.endings for each in self.models)

    @cached_property
    def failures(self) -> dict[str, int]:
        found = _added(each.failures for each in self.models)
        return {kind: found[kind] for kind in FAILURES if kind in found}

    @cached_property
    def pace(self) -> float | None:
        """Steps taken for each step planned, over models."""
        return _mean(each.pace for each in self.models)

    @cached_property
    def off_graph(self) -> float | None:
        """Share of the steps off the graph, over models; None where nobody could tell."""
        return _mean(each.likeness.get("off_graph") for each in self.models)

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
            "failures": self.failures,
            "pace": self.pace,
            "off_graph": self.off_graph,
        }


def paired_difference(scores: Sequence[Scores], baseline: Sequence[Scores]) -> dict[str, Any]:
    """Difference from a baseline, model by model and episode by episode: the seeds are the same.

    Where its interval holds 0, the difference is within the spread of seeds and episodes.
    """
    paired = [np.subtract(one.normalised, other.normalised) for one, other in zip(scores, baseline, strict=True)]
    low, high = bootstrap_interval([pair.tolist() for pair in paired])
    mean = float(np.mean([pair.mean() for pair in paired]))
    return {"mean": mean, "interval": [low, high], "within_spread": low <= 0 <= high}


def last_fall(fallen: Bools) -> int | None:
    """Return the step from which a body lay to the end, given whether it lay at each; None where that was not long."""
    up = np.flatnonzero(~fallen)
    step = int(up[-1]) + 1 if len(up) else 0
    return step if len(fallen) - step >= LYING else None


def in_words(endings: Mapping[str, int], failures: Mapping[str, int]) -> str:
    """Say how episodes ended, and why some failed: "98 success, 2 time out (1 fall, 1 late)"."""
    ended = ", ".join(f"{count} {how}" for how, count in endings.items())
    why = ", ".join(f"{count} {kind if count == 1 else FAILURES[kind]}" for kind, count in failures.items())
    return f"{ended} ({why})" if why else ended


def _added(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return dict(total)


def _mean(numbers: Iterable[float | None]) -> float | None:
    known = [number for number in numbers if number is not None]
    return float(np.mean(known)) if known else None
