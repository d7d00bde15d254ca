"""What learns side by side: trainings, each with its data, settings, seeds and folder, and groups of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vmg.base.errors import VMGError
from vmg.data.angles import turns_of
from vmg.data.episodes import Episodes
from vmg.learn.config import Training
from vmg.learn.loop import Own, State
from vmg.learn.models import Model, Steps, on_device, spans
from vmg.learn.stacking import joined, narrowed, stacked, taken, widened, widest
from vmg.learn.store import Store
from vmg.learn.streaming import Stream, streams
from vmg.networks.actions import ACTIONS
from vmg.networks.angles import angles_part, turned_episodes
from vmg.networks.lowlevel import Numbers
from vmg.networks.mlp import Parts, layer_sizes
from vmg.networks.weights import Weights


@dataclass(frozen=True)
class Learner:
    """One training with its model: what does not change while learning."""

    model: Model
    training: Training
    """Its episodes as networks see them."""
    angles: Weights = field(default_factory=dict)
    """What says which of their columns are angles, as a part of the weights."""

    @classmethod
    def of(cls, models: Sequence[Model], trainings: Sequence[Training]) -> "list[Learner]":
        """Show episodes to networks as their settings say: each set once, however many learn from it."""
        made: dict[Any, tuple[Training, Weights]] = {}
        found = []
        for model, one in zip(models, trainings, strict=True):
            asked = (id(one.episodes), id(one.validation), model.config.angles or ())
            if asked not in made:
                made[asked] = _seen(one, model.config.angles or ())
            seen, angles = made[asked]
            found.append(cls(model, replace(one, episodes=seen.episodes, validation=seen.validation), angles))
        return found

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
        return self.model.scalings(self.episodes)

    @cached_property
    def fixed_inputs(self) -> tuple[Any, ...]:
        """What of its inputs must be the same side by side, in a form that can be compared."""
        arrays = ((part, name, np.asarray(x)) for part, layers in self.inputs.items() for name, x in layers.items())
        kept = ((part, name, x) for part, name, x in arrays if name not in {*_OWN, "columns"})  # columns: of the widest
        return tuple((part, name, x.shape, x.dtype.str, x.tobytes()) for part, name, x in kept)

    @cached_property
    def parts(self) -> dict[str, Parts]:
        return self.model.parts(self.episodes)

    @cached_property
    def sizes(self) -> dict[str, tuple[int, ...]]:
        return layer_sizes(self.parts, self.model.config.hidden_units)

    @cached_property
    def numbers(self) -> Numbers:
        return self.model.numbers()

    @cached_property
    def held_out(self) -> Steps | None:
        return None if self.validation is None else on_device(self.validation, model=self.model)


@dataclass(frozen=True)
class Group:
    """Trainings at the same step: their models learn side by side, smaller ones zero-padded to the largest."""

    learners: Sequence[Learner]

    @cached_property
    def model(self) -> Model:
        return self.learners[0].model.shared()

    @cached_property
    def parts(self) -> dict[str, Parts]:
        return widest([learner.parts for learner in self.learners])

    @cached_property
    def stream(self) -> Stream | None:
        """What sends batches to the device; None where all data fit there."""
        data = list(self._sets.values())
        return Stream(data, self.model) if streams(data) else None

    @cached_property
    def steps(self) -> Steps:
        return self.stream.steps if self.stream else on_device(*self._sets.values(), model=self.model)

    @cached_property
    def _sets(self) -> dict[int, Episodes]:
        """The data sets, each once however many learners there are from it."""
        return {id(learner.episodes): learner.episodes for learner in self.learners}

    @cached_property
    def own(self) -> Own:
        seeds = np.concatenate([np.array(learner.seeds, np.uint32) for learner in self.learners])
        models = [len(learner.seeds) for learner in self.learners]
        sets = [list(self._sets).index(id(learner.episodes)) for learner in self.learners]
        first, size = (np.repeat(ends[sets], models) for ends in spans(list(self._sets.values())))
        widths = self.steps.observations.shape[1], self.steps.actions.shape[1]
        scales = stacked([_scales(learner, *widths) for learner in self.learners for _ in learner.seeds])
        numbers = {
            name: np.repeat([learner.numbers[name] for learner in self.learners], models)
            for name in self.learners[0].numbers
        }
        arrays = jax.tree.map(jnp.asarray, (seeds, first, size, scales, numbers))
        return Own(*arrays)

    @cached_property
    def inputs(self) -> Weights:
        widest = max(self.learners, key=lambda learner: learner.episodes.observation_size).inputs
        return {part: {name: layers[name] for name in layers.keys() - _OWN} for part, layers in widest.items()}

    def joined(self, states: Sequence[State]) -> State:
        """Put the states of the learners side by side."""
        wide = [
            _changed(state, widened, learner.parts, self.parts)
            for learner, state in zip(self.learners, states, strict=True)
        ]
        together: State = joined(wide)
        return together

    def states(self, together: State) -> list[State]:
        """Undo `joined`."""
        pairs = zip(self.learners, self.apart(together), strict=True)
        return [_changed(state, narrowed, learner.parts, self.parts) for learner, state in pairs]

    def apart(self, together: Any) -> list[Any]:
        """Cut what has one leading entry per model into one piece per learner."""
        return [taken(together, which) for which in self._slices]

    def weights_of(self, learner: int, together: State) -> Weights:
        """Return the weights of one of the learners."""
        return narrowed(taken(together.learned, self._slices[learner]), self.learners[learner].parts, self.parts)

    @cached_property
    def _slices(self) -> list[slice]:
        ends = np.cumsum([len(learner.seeds) for learner in self.learners])
        return [slice(end - len(learner.seeds), end) for learner, end in zip(self.learners, ends, strict=True)]


_OWN = {"mean", "std", "spread", "relative"}  # what each training has of its own in the inputs


def _scales(learner: Learner, observations: int, actions: int) -> Weights:
    sizes = (learner.episodes.observation_size, observations), (learner.episodes.action_size, actions)
    return {
        part: {name: _filled(np.asarray(layers[name]), name, *sizes[part == ACTIONS]) for name in layers.keys() & _OWN}
        for part, layers in learner.inputs.items()
    }


def _filled(array: np.ndarray, name: str, size: int, width: int) -> np.ndarray:
    """Return a scale of observations or actions as wide as the widest; what is added to those stays zero."""
    if array.shape != (size,):
        return array
    return np.pad(array, (0, width - size), constant_values=0 if name == "mean" else 1)


def _changed(state: State, change: Callable[..., Weights], *parts: Mapping[str, Parts]) -> State:
    adam = state.adam._replace(mu=change(state.adam.mu, *parts), nu=change(state.adam.nu, *parts))
    return State(change(state.weights, *parts), adam, change(state.average, *parts))


def _seen(one: Training, columns: tuple[int, ...]) -> tuple[Training, Weights]:
    """Return a training with its episodes as networks see them, and what says how."""
    _check_sizes(one)
    angles = angles_part(turns_of(one.episodes, columns))
    held_out = None if one.validation is None else turned_episodes(one.validation, angles)
    return replace(one, episodes=turned_episodes(one.episodes, angles), validation=held_out), angles


def _check_sizes(one: Training) -> None:
    first, other = one.episodes, one.validation
    for name in ("observation_size", "action_size"):
        if other is not None and getattr(other, name) != getattr(first, name):
            raise VMGError(
                f"{first.source} and {other.source} do not fit together: {name} is {getattr(first, name)} in "
                f"the one and {getattr(other, name)} in the other."
            )


def _checked_seeds(seeds: Sequence[int]) -> tuple[int, ...]:
    if len(seeds) == 0 or len(set(seeds)) < len(seeds):
        raise VMGError(f"There must be at least one seed and no seed twice, but the seeds are {list(seeds)}.")
    for seed in seeds:
        if not 0 <= seed < 2**32:
            raise VMGError(f"A seed must lie between 0 and 2³² − 1, not {seed}.")
    return tuple(int(seed) for seed in seeds)
