"""What recorded episodes were paid, by another reward and for as many steps as an episode is tried for."""

from contextlib import closing
from typing import NamedTuple

import numpy as np

from vmg.base.types import Float64s
from vmg.data.episodes import Episodes
from vmg.envs.task import Task


class RecordedReturns(NamedTuple):
    """Mean and best return of recorded episodes, and of what exactly, in words."""

    mean: float
    best: float
    what: str
    rest: str = ""
    """How the best is counted, where it is shorter than a trial."""

    @property
    def score_range(self) -> tuple[float, float]:
        """The returns that score 0 and 100."""
        return self.mean, self.best if self.best > self.mean else self.mean + 1

    @property
    def in_words(self) -> str:
        return f"0 is the mean return of {self.what} ({self.mean:.3g}), 100 their best ({self.best:.3g}{self.rest})"


def recorded_returns(episodes: Episodes, rewards: Float64s, steps: int | None) -> RecordedReturns:
    """Return what these rewards make of the first `steps` steps of the recordings, or of all where it is not known.

    The mean is of those that have as many or, where none has, of all as they are. For the best a shorter one counts,
    too: as if it were paid the least of all steps for the rest, so that neither costs nor prizes make it too good.
    """
    firsts, lengths = episodes.first_step[:-1], episodes.lengths
    if steps is None:
        returns = np.add.reduceat(rewards, firsts)
        return RecordedReturns(
            float(returns.mean()), float(returns.max()), "the recorded episodes, each as long as it is"
        )
    sums = np.concatenate([[0.0], np.cumsum(rewards)])
    returns = sums[firsts + np.minimum(lengths, steps)] - sums[firsts]
    long = lengths >= steps
    whole = returns + np.maximum(steps - lengths, 0) * float(rewards.min())
    best = int(whole.argmax())
    rest = "" if long[best] else ", by a shorter one that is paid the least of all steps for the rest"
    if not long.any():
        what = f"the recorded episodes, all of them shorter than the {steps:,} steps here"
        return RecordedReturns(float(returns.mean()), float(whole[best]), what, rest)
    some = "" if long.all() else f", the {long.sum():,} of {len(long):,} that have as many"
    what = f"the first {steps:,} steps of the recorded episodes{some}"
    return RecordedReturns(float(returns[long].mean()), float(whole[best]), what, rest)


def steps_of(task: Task) -> int | None:
    """Return after how many steps an episode of a task is cut; None where neither it nor its environment says."""
    if task.horizon is not None:
        return task.horizon
    with closing(task.make()) as env:
        spec = getattr(env, "spec", None)
    steps: int | None = getattr(spec, "max_episode_steps", None)
    return steps
