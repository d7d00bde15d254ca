"""What recorded episodes were paid, by another reward and for as many steps as an episode is tried for."""

from collections.abc import Sequence
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

    @property
    def score_range(self) -> tuple[float, float]:
        """The returns that score 0 and 100."""
        return self.mean, self.best if self.best > self.mean else self.mean + 1

    @property
    def in_words(self) -> str:
        return f"0 is the mean return of {self.what} ({self.mean:.3g}), 100 their best ({self.best:.3g})"


def recorded_returns(episodes: Episodes, rewards: Float64s, steps: int | None) -> RecordedReturns:
    """Return what these rewards make of the first `steps` steps of the recordings that have as many.

    Where none has, all count as they are, and so they do where `steps` is not known.
    """
    long = np.flatnonzero(episodes.lengths >= (steps or 1)).tolist()
    if steps and len(long):
        some = "" if len(long) == len(episodes) else f", the {len(long):,} of {len(episodes):,} that have as many"
        return _of(episodes, rewards, long, steps, f"the first {steps:,} steps of the recorded episodes{some}")
    shorter = f", all of them shorter than the {steps:,} steps here" if steps else ", each as long as it is"
    return _of(episodes, rewards, range(len(episodes)), None, f"the recorded episodes{shorter}")


def steps_of(task: Task) -> int | None:
    """Return after how many steps an episode of a task is cut; None where neither it nor its environment says."""
    if task.horizon is not None:
        return task.horizon
    with closing(task.make()) as env:
        spec = getattr(env, "spec", None)
    steps: int | None = getattr(spec, "max_episode_steps", None)
    return steps


def _of(episodes: Episodes, rewards: Float64s, chosen: Sequence[int], steps: int | None, what: str) -> RecordedReturns:
    firsts, lengths = episodes.first_step[:-1], episodes.lengths
    returns = [float(rewards[firsts[i] : firsts[i] + (steps or lengths[i])].sum()) for i in chosen]
    return RecordedReturns(float(np.mean(returns)), max(returns), what)
