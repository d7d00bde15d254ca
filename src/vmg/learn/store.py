"""A training run's folder, from which a killed run goes on as if nothing had happened.

learning.json                           configuration, seeds and data: what a resumed run must share
training_state.safetensors              weights, Adam's moments, averages and the step reached
checkpoints/step_0000050000.safetensors weights of all models
metrics.csv, tensorboard/               losses, see `logs`

Each safetensors file says one thing about itself: of several the order would differ from one process to the next.
"""

import json
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from vmg.base.errors import VMGError
from vmg.base.files import read_json, write_json
from vmg.data.episodes import Episodes
from vmg.learn.loop import State, state_at
from vmg.learn.models import Model
from vmg.networks.lowlevel import LowLevel
from vmg.networks.lowlevel.translator import Translator
from vmg.networks.models import checked_model
from vmg.networks.weights import Tensors, Weights, flat, nested, read_tensors, write_tensors

_HOW_LONG = ("steps", "checkpoint_every")
_OWN_FILES = ("learning.json", "training_state.safetensors", "metrics.csv", "checkpoints", "tensorboard")


@dataclass(frozen=True)
class Store:
    """The folder of one run."""

    folder: Path

    @property
    def state_file(self) -> Path:
        return self.folder / "training_state.safetensors"

    def open(self, identity: dict[str, Any], *, resume: bool) -> None:
        """Claim the folder for this run, or refuse if it holds another one; `resume=False` clears it first."""
        if not resume:
            _clear(self.folder)
        path = self.folder / "learning.json"
        if path.exists():
            _check_same(path, read_json(path), identity)
        elif self.state_file.exists():
            raise VMGError(f"{path} is missing, so nothing says what {self.state_file.name} beside it belongs to.")
        else:
            write_json(path, identity)

    def write_state(self, step: int, state: State) -> None:
        parts = {"weights": state.weights, "mu": state.adam.mu, "nu": state.adam.nu, "average": state.average}
        tensors = {f"{part}.{name}": array for part, tree in parts.items() for name, array in flat(tree).items()}
        write_tensors(self.state_file, tensors, {"step": str(step)})

    def read_state(self, initial: Weights, averaged: Iterable[str] = ()) -> tuple[State, int] | None:
        """Read the state and its step, if there is one; `initial` says which arrays there must be."""
        if not self.state_file.exists():
            return None
        tensors, metadata = read_tensors(self.state_file)
        if not metadata.get("step", "").isdecimal():
            raise VMGError(f"{self.state_file} is not a training state: it does not say which step it is of.")
        step = int(metadata["step"])
        weights, mu, nu = (_part(tensors, part, initial, self.state_file) for part in ("weights", "mu", "nu"))
        average = _part(tensors, "average", {part: initial[part] for part in averaged}, self.state_file)
        return state_at(step, weights, mu, nu, average), step

    def write_checkpoint(self, step: int, seeds: Sequence[int], models: Sequence[Weights]) -> None:
        tensors = {f"{seed}.{name}": x for seed, m in zip(seeds, models, strict=True) for name, x in flat(m).items()}
        write_tensors(self._checkpoint(step), tensors, {"format": "vmg checkpoint 1"})

    def read_checkpoint(self, step: int, seeds: Sequence[int]) -> list[Weights] | None:
        """Return the models of a step as they were written, whatever parts they have; None: there is no such step."""
        path = self._checkpoint(step)
        if not path.exists():
            return None
        models = _models(path)
        return [nested(models[seed]) for seed in seeds]

    def _checkpoint(self, step: int) -> Path:
        return self.folder / "checkpoints" / f"step_{step:010d}.safetensors"


def load_checkpoint(path: Path | str, low_level: LowLevel | None = None) -> dict[int, Weights]:
    """Read a checkpoint: the weights of each seed's model; `low_level` is the kind they were learned with."""
    path = Path(path)
    kind = low_level or Translator()
    return {seed: checked_model(model, path, kind) for seed, model in sorted(_models(path).items())}


def identity(model: Model, seeds: Sequence[int], episodes: Episodes, validation: Episodes | None) -> dict[str, Any]:
    """Everything that decides what a run learns, as it reads when it comes back from JSON.

    How many updates it takes is left out: a run that is asked for more goes on from its last.
    """
    held_out = None if validation is None else validation.digest
    data = {"seeds": list(seeds), "episodes": episodes.digest, "validation": held_out}
    described: dict[str, Any] = json.loads(json.dumps({"format": 1, **model.describe(), **data}))
    unsaid = _HOW_LONG if model.config.angles else (*_HOW_LONG, "angles")  # as before there were any
    return {name: value for name, value in described.items() if name not in unsaid}


def _models(path: Path) -> dict[int, Tensors]:
    tensors, metadata = read_tensors(path)
    if metadata.get("format") != "vmg checkpoint 1":
        raise VMGError(f"{path} is not a checkpoint of this program.")
    models: dict[int, Tensors] = {}
    for name, array in tensors.items():
        seed, _, rest = name.partition(".")
        models.setdefault(int(seed), {})[rest] = array
    return models


def _clear(folder: Path) -> None:
    for path in (folder / name for name in _OWN_FILES):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


_DATA = {
    "episodes": "it learned from other episodes",
    "validation": "other episodes were held out",
}


def _check_same(path: Path, there: Any, here: dict[str, Any]) -> None:
    there = {name: value for name, value in there.items() if name not in _HOW_LONG} if isinstance(there, dict) else {}
    differences = [
        _DATA.get(name) or f"{name} is {there.get(name)!r} there and {here.get(name)!r} now"
        for name in {**here, **there}
        if there.get(name) != here.get(name)
    ]
    if differences:
        raise VMGError(
            f"{path} belongs to another run: {'; '.join(differences)}. Use another folder (vmg train has "
            "--out), or the same settings and data to go on with that run."
        )


def _part(tensors: Tensors, part: str, initial: Weights, path: Path) -> Weights:
    arrays: dict[str, Any] = {}
    for name, like in flat(initial).items():
        array = tensors.get(f"{part}.{name}", np.empty(0))
        if array.shape != like.shape or array.dtype != like.dtype:
            raise VMGError(f"{path} is damaged: {part}.{name} is missing or not float32 of shape {like.shape}.")
        arrays[name] = jnp.asarray(array)
    return nested(arrays)
