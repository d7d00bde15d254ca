"""What is learned side by side: trainings, each with its data, seeds and folder, and groups of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vmg.data.episodes import Episodes
from vmg.errors import VMGError
from vmg.learn.config import Training
from vmg.learn.loop import Own
from vmg.learn.models import stacked, taken
from vmg.learn.objectives import Objective, Steps, on_device, spans
from vmg.learn.store import Store
from vmg.networks import Weights


@dataclass(frozen=True)
class Run:
    """One training: what does not change while learning."""

    objective: Objective
    training: Training

    @property
    def episodes(self) -> Episodes:
        return self.training.episodes

    @property
    def validation(self) -> Episodes | None:
        return self.training.validation

    @cached_property
    def seeds(self) -> tuple[int, ...]:
        return _checked_seeds(self.training.seeds)

    @cached_property
    def store(self) -> Store | None:
        return Store(Path(self.training.folder)) if self.training.folder else None

    @cached_property
    def inputs(self) -> Weights:
        return self.objective.scalings(self.episodes)

    @cached_property
    def held_out(self) -> Steps | None:
        return None if self.validation is None else on_device(self.validation)


@dataclass(frozen=True)
class Group:
    """Trainings at the same step: their models learn side by side."""

    runs: Sequence[Run]

    @property
    def objective(self) -> Objective:
        return self.runs[0].objective

    @cached_property
    def steps(self) -> Steps:
        return on_device(*(run.episodes for run in self.runs))

    @cached_property
    def own(self) -> Own:
        seeds = np.concatenate([np.array(run.seeds, np.uint32) for run in self.runs])
        models = [len(run.seeds) for run in self.runs]
        first, size = (np.repeat(ends, models) for ends in spans([run.episodes for run in self.runs]))
        scales = stacked([_leaves(run.inputs, _SCALES) for run in self.runs for _ in run.seeds])
        return Own(jnp.asarray(seeds), jnp.asarray(first), jnp.asarray(size), jax.tree.map(jnp.asarray, scales))

    @cached_property
    def inputs(self) -> Weights:
        names = {name for layers in self.runs[0].inputs.values() for name in layers} - _SCALES
        return _leaves(self.runs[0].inputs, names)

    def apart(self, together: Any) -> list[Any]:
        """Cut what has one leading entry a model into one piece a run."""
        ends = np.cumsum([len(run.seeds) for run in self.runs])
        return [taken(together, slice(end - len(run.seeds), end)) for run, end in zip(self.runs, ends, strict=True)]


_SCALES = {"mean", "std", "spread"}  # what each data set has of its own in the inputs


def _leaves(inputs: Weights, names: set[str]) -> Weights:
    return {part: {name: array for name, array in layers.items() if name in names} for part, layers in inputs.items()}


def _checked_seeds(seeds: Sequence[int]) -> tuple[int, ...]:
    if len(seeds) == 0 or len(set(seeds)) < len(seeds):
        raise VMGError(f"There must be at least one seed and no seed twice, but the seeds are {list(seeds)}.")
    for seed in seeds:
        if not 0 <= seed < 2**32:
            raise VMGError(f"A seed must lie between 0 and 2³² − 1, not {seed}.")
    return tuple(int(seed) for seed in seeds)
