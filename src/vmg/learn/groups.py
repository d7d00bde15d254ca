"""What is learned side by side: trainings, each with its data, settings, seeds and folder, and groups of them."""

from collections.abc import Callable, Mapping, Sequence
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
from vmg.learn.loop import Own, State
from vmg.learn.metric import Choices
from vmg.learn.models import joined, narrowed, stacked, taken, widened, widest
from vmg.learn.objectives import Objective, Steps, on_device, spans
from vmg.learn.store import Store
from vmg.networks import Layers, Parts, Weights


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
    def parts(self) -> dict[str, Parts]:
        return self.objective.parts(self.episodes)

    @cached_property
    def choices(self) -> Choices:
        return Choices.of(self.objective.config)

    @cached_property
    def held_out(self) -> Steps | None:
        return None if self.validation is None else on_device(self.validation)


@dataclass(frozen=True)
class Group:
    """Trainings at the same step: their models learn side by side, the narrow as wide as the widest."""

    runs: Sequence[Run]

    @cached_property
    def objective(self) -> Objective:
        return self.runs[0].objective.shared()

    @cached_property
    def parts(self) -> dict[str, Parts]:
        return widest([run.parts for run in self.runs])

    @cached_property
    def steps(self) -> Steps:
        return on_device(*self._sets.values())

    @cached_property
    def _sets(self) -> dict[int, Episodes]:
        """The data sets, each once however many runs learn from it."""
        return {id(run.episodes): run.episodes for run in self.runs}

    @cached_property
    def own(self) -> Own:
        seeds = np.concatenate([np.array(run.seeds, np.uint32) for run in self.runs])
        models = [len(run.seeds) for run in self.runs]
        sets = [list(self._sets).index(id(run.episodes)) for run in self.runs]
        first, size = (np.repeat(ends[sets], models) for ends in spans(list(self._sets.values())))
        width = self.steps.observations.shape[1]
        scales = stacked([_scales(run.inputs, width) for run in self.runs for _ in run.seeds])
        choices = Choices(*(np.repeat(each, models) for each in zip(*(run.choices for run in self.runs), strict=True)))
        arrays = jax.tree.map(jnp.asarray, (seeds, first, size, scales, choices))
        return Own(*arrays)

    @cached_property
    def inputs(self) -> Weights:
        widest = max(self.runs, key=lambda run: run.episodes.observation_size).inputs
        return {part: {name: layers[name] for name in layers.keys() - _OWN} for part, layers in widest.items()}

    def joined(self, states: Sequence[State]) -> State:
        """Put the states of the runs side by side."""
        wide = [_changed(state, widened, run.parts, self.parts) for run, state in zip(self.runs, states, strict=True)]
        together: State = joined(wide)
        return together

    def states(self, together: State) -> list[State]:
        """Undo `joined`."""
        pairs = zip(self.runs, self.apart(together), strict=True)
        return [_changed(state, narrowed, run.parts, self.parts) for run, state in pairs]

    def apart(self, together: Any) -> list[Any]:
        """Cut what has one leading entry a model into one piece a run."""
        return [taken(together, which) for which in self._slices]

    def weights_of(self, run: int, together: State) -> Weights:
        """Return the weights of one of the runs."""
        return narrowed(taken(together.learned, self._slices[run]), self.runs[run].parts, self.parts)

    @cached_property
    def _slices(self) -> list[slice]:
        ends = np.cumsum([len(run.seeds) for run in self.runs])
        return [slice(end - len(run.seeds), end) for run, end in zip(self.runs, ends, strict=True)]


_OWN = {"mean", "std", "spread", "relative"}  # what each training has of its own in the inputs


def _scales(inputs: Weights, width: int) -> Weights:
    return {
        part: {name: _filled(layers, name, width) for name in layers.keys() & _OWN} for part, layers in inputs.items()
    }


def _filled(layers: Layers, name: str, width: int) -> Any:
    """Return a scale as wide as the widest observation; what is added to that stays zero."""
    array = np.asarray(layers[name])
    if array.ndim == 0:
        return array
    return np.pad(array, (0, width - len(array)), constant_values=0 if name == "mean" else 1)


def _changed(state: State, change: Callable[..., Weights], *parts: Mapping[str, Parts]) -> State:
    adam = state.adam._replace(mu=change(state.adam.mu, *parts), nu=change(state.adam.nu, *parts))
    return State(change(state.weights, *parts), adam, change(state.average, *parts))


def _checked_seeds(seeds: Sequence[int]) -> tuple[int, ...]:
    if len(seeds) == 0 or len(set(seeds)) < len(seeds):
        raise VMGError(f"There must be at least one seed and no seed twice, but the seeds are {list(seeds)}.")
    for seed in seeds:
        if not 0 <= seed < 2**32:
            raise VMGError(f"A seed must lie between 0 and 2³² − 1, not {seed}.")
    return tuple(int(seed) for seed in seeds)
