"""Following recordings in a learned model of the robot: what a translator is worth, without an environment.

An error on recorded actions rewards translators that copy the last action from a velocity. Followed for thirty steps,
such a translator drifts away, and here that is seen: it starts beside episodes held out, as near as other recordings
come to them, and is to follow them to their end.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from vmg.base.types import Float32s, Float64s, Int64s
from vmg.data.episodes import Episodes
from vmg.data.mapping import largest, mean_and_std
from vmg.networks.actions import recorded_actions, scaled_actions
from vmg.networks.forward import predict
from vmg.networks.lowlevel import Act
from vmg.networks.weights import Weights

STEPS = 30
"""Recorded steps that are followed."""
STARTS = 200
WINDOW = 3
"""Recorded steps that one step may move on."""
WAIT = 5
"""Steps in one place after which the recording goes on by itself."""
FAR = 3.0
"""Typical changes from which on farther is no worse."""


class Followed(NamedTuple):
    """How well recordings were followed, and how fast."""

    errors: Float64s
    """How far each column comes from the end of what is followed at its best, in typical changes."""
    pace: float
    """Recorded steps per step."""


@dataclass(frozen=True, eq=False)
class Imagination:
    """Recordings to follow, where to start beside them, and models of what actions do."""

    references: Float32s
    """Recorded observations: (start, step, column)."""
    starts: Float32s
    """An observation of other recordings beside the first of each."""
    scale: Float32s
    """How far each column typically changes on the way."""
    low: Float32s
    high: Float32s
    models: tuple[Weights, ...]

    @classmethod
    def of(cls, known: Episodes, held_out: Episodes, models: tuple[Weights, ...], seed: int = 0) -> "Imagination":
        """Draw stretches of episodes held out."""
        rng = np.random.default_rng(seed)
        steps = min(STEPS, int(held_out.lengths.max()))
        rows = held_out.step_observation[held_out.steps_left >= steps]
        chosen = np.sort(rng.choice(rows, min(STARTS, len(rows)), replace=False))
        references = held_out.observations[chosen[:, None] + np.arange(steps + 1)]
        return cls(
            references,
            _beside(known, references[:, 0], rng),
            _typical_change(known, steps),
            known.actions.min(0),
            known.actions.max(0),
            models,
        )

    def followed(self, act: Act, weights: Weights, ahead: int) -> Followed:
        """Follow all recordings in all models, with subgoals so many steps ahead."""
        with threadpool_limits(1):  # small products: many threads wait for one another, for minutes on a busy machine
            found = [self._followed(act, weights, model, start, ahead) for model in self.models for start in self._both]
        errors, paces = zip(*found, strict=True)
        return Followed(np.mean(errors, axis=0), float(np.mean(paces)))

    @cached_property
    def _both(self) -> tuple[Float32s, Float32s]:
        return self.references[:, 0], self.starts

    def _followed(self, act: Act, weights: Weights, model: Weights, start: Float32s, ahead: int) -> Followed:
        references, (n, last) = self.references, (len(start), self.references.shape[1] - 1)
        at, waited, each, here = np.zeros(n, np.int64), np.zeros(n, np.int64), np.arange(n), start
        best = np.full(n, np.inf)
        errors, pace = np.zeros_like(here, dtype=np.float64), 0.0
        for step in range(last + last // 3):
            action = recorded_actions(weights, act(here, references[each, np.minimum(at + ahead, last)]))
            action = np.clip(action, self.low, self.high)
            here = predict(model, here, scaled_actions(model, action)).astype(np.float32)
            at, waited = self._moved_on(here, at, waited)
            pace = float(at.mean()) / last if step < last else pace
            apart = self._apart(here, references[:, last])
            distance = np.sqrt(np.mean(apart**2, axis=1))
            nearer = distance < best
            best, errors = np.where(nearer, distance, best), np.where(nearer[:, None], apart, errors)
        return Followed(np.sqrt(np.mean(errors**2, axis=0)), pace)

    def _moved_on(self, here: Float32s, at: Int64s, waited: Int64s) -> tuple[Int64s, Int64s]:
        last = self.references.shape[1] - 1
        near = np.minimum(at[:, None] + np.arange(WINDOW + 1), last)
        apart = self._apart(here[:, None], self.references[np.arange(len(at))[:, None], near])
        on = np.mean(apart**2, axis=2).argmin(1)
        waited = np.where(on > 0, 0, waited + 1)
        return np.minimum(at + np.where(waited >= WAIT, np.maximum(on, 1), on), last), waited

    def _apart(self, here: Float32s, there: Float32s) -> Float32s:
        apart: Float32s = np.clip((here - there) / self.scale, -FAR, FAR)
        return apart


def _typical_change(episodes: Episodes, steps: int) -> Float32s:
    """Root of the mean square of what each column changes by in so many steps; 1 for constants."""
    steps = min(steps, int(episodes.lengths.max()))
    rows = episodes.step_observation[episodes.steps_left >= steps]
    change = (episodes.observations[rows + steps] - episodes.observations[rows]).astype(np.float64)
    typical = np.sqrt(np.mean(change**2, axis=0))
    least = 1e-6 * np.maximum(1.0, largest(episodes.observations))
    return np.where(typical > least, typical, 1.0).astype(np.float32)


def _beside(known: Episodes, observations: Float32s, rng: np.random.Generator) -> Float32s:
    """The recorded observation nearest to each of these, in units of the columns' spread."""
    from scipy.spatial import cKDTree

    spread = np.maximum(mean_and_std(known.observations)[1], 1e-6)
    rows = rng.permutation(len(known.observations))[:50_000]
    nearest = cKDTree(known.observations[rows] / spread).query(observations / spread)[1]
    beside: Float32s = known.observations[rows[nearest]]
    return beside
