"""Models that learn on other machines, each as it would here; what they write is joined in the run's folder.

RUN/training/parts/seed_0/    what one model has written, until all of them have ended

Where the workers see this folder, on a disk that the machines share, a model whose worker died goes on where it was.
Elsewhere it begins again, and what it has written is sent when it ends.
"""

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from vmg.base.console import progress_bar
from vmg.base.errors import VMGError
from vmg.base.files import writing
from vmg.base.lazy import LazyModule
from vmg.base.locks import held
from vmg.data.counting import counted
from vmg.data.episodes import Episodes
from vmg.evaluation.executors import EXECUTORS, THIS_MACHINE, cluster_gpus
from vmg.learn import joining
from vmg.learn.config import LearnConfig, Training

models, training = LazyModule("vmg.learn.models"), LazyModule("vmg.learn.training")

PARTS, MARK = "parts", "mark"
Files = dict[str, bytes]
Columns = tuple[int, ...]


@dataclass(frozen=True)
class Part:
    """One model of a training: its data by their place in the work, and the folder that it writes."""

    data: int
    config: LearnConfig
    cloned: Columns | None
    seed: int
    folder: Path

    @property
    def model(self) -> Any:
        """What is learned, where it is learned: it takes JAX."""
        return models.AgentModel(self.config) if self.cloned is None else models.CloningModel(self.config, self.cloned)


@dataclass(frozen=True)
class Job:
    """Models that learn side by side on one worker."""

    parts: tuple[Part, ...]

    @property
    def name(self) -> str:
        seeds = ", ".join(str(part.seed) for part in self.parts)
        return f"the learning of seed {seeds}"


def learn_on(
    on: str,
    trainings: Sequence[Training],
    configs: Sequence[LearnConfig],
    *,
    cloned: Columns | None = None,
    workers: int | None = None,
) -> None:
    """Learn elsewhere, one configuration for each training; then its folder is as if that had been done here.

    `cloned`: it is behaviour cloning, with goals in these columns. What this machine's executors would do is left to
    the caller.
    """
    if on in THIS_MACHINE:
        return
    pairs = zip(trainings, configs, strict=True)
    asked = [(one, config) for one, config in pairs if joining.reached(Path(one.folder or "")) < config.steps]
    parts = [part for i, (one, config) in enumerate(asked) for part in _parts(i, one, config, cloned)]
    missing = [part for part in parts if joining.reached(part.folder) < part.config.steps]
    if missing:
        _learn(on, missing, [(one.episodes, one.validation) for one, _ in asked], workers)
    for i, (one, _) in enumerate(asked):
        joining.join(Path(one.folder or ""), [part.folder for part in parts if part.data == i])
        shutil.rmtree(Path(one.folder or "") / PARTS)


def _parts(data: int, one: Training, config: LearnConfig, cloned: Columns | None) -> list[Part]:
    """The models of a training; what it has learned already goes along."""
    folder = Path(one.folder or "").resolve()
    parts = [Part(data, config, cloned, int(seed), folder / PARTS / f"seed_{seed}") for seed in one.seeds]
    if min(joining.reached(part.folder) for part in parts) < joining.reached(folder):
        joining.split(folder, {part.seed: part.folder for part in parts})
    return parts


def _learn(on: str, parts: Sequence[Part], sets: list[tuple[Episodes, Episodes | None]], workers: int | None) -> None:
    gpus = _gpus(on)
    jobs = _packed(parts, min(gpus, workers or gpus)) if gpus else [Job((part,)) for part in parts]
    with _marked({part.folder.parent for part in parts}) as mark:
        work = LearningWork(tuple(sets), mark, gpus=1 if gpus else 0)
        with progress_bar(f"Learning {counted(len(parts), 'model')} on {on}", len(parts)) as advance:
            advance(0)
            done = 0
            for learned in EXECUTORS.find(on)(work, jobs, workers):
                for folder, files in learned:
                    _write(folder, files)
                done += len(learned)
                advance(done)


def _gpus(on: str) -> int:
    kind, colon, _ = on.partition("://")
    return cluster_gpus(on if colon else None) if kind == "ray" else 0


def _packed(parts: Sequence[Part], gpus: int) -> list[Job]:
    """Share the models out to the GPUs: on one of them thirty take little longer than one."""
    return [Job(tuple(parts[i::gpus])) for i in range(min(gpus, len(parts)))]


@contextmanager
def _marked(folders: set[Path]) -> Iterator[str]:
    """Leave a mark in folders, by which a worker can tell that it sees the same disk."""
    mark = os.urandom(8).hex()
    for folder in folders:
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / MARK).write_text(mark)
    yield mark


@dataclass(frozen=True, eq=False)
class LearningWork:
    """The work of learning: the data sets, each once."""

    sets: tuple[tuple[Episodes, Episodes | None], ...]
    mark: str
    gpus: int = 0
    cores: int = 1

    @contextmanager
    def open(self) -> Iterator[Callable[[Job], list[tuple[Path, Files]]]]:
        """Yield what does a job: it returns the files of each part that the run's machine has not got yet."""
        yield self._learn

    def _learn(self, job: Job) -> list[tuple[Path, Files]]:
        with TemporaryDirectory(prefix="vmg-") as own:
            folders = [self._folder(part, Path(own) / str(i)) for i, part in enumerate(job.parts)]
            trainings = [
                Training(self.sets[part.data][0], (part.seed,), self.sets[part.data][1], folder)
                for part, folder in zip(job.parts, folders, strict=True)
            ]
            training.fit_models([part.model for part in job.parts], trainings, show_progress=False)
            pairs = zip(job.parts, folders, strict=True)
            return [(part.folder, {} if folder == part.folder else _read(folder)) for part, folder in pairs]

    def _folder(self, part: Part, own: Path) -> Path:
        """Where to learn: in the run's own folder, if it is seen from here and no lost worker is still busy there."""
        mark = part.folder.parent / MARK
        if not (mark.is_file() and mark.read_text() == self.mark):
            return own
        try:
            with held(part.folder):
                return part.folder
        except VMGError:
            return own


def _read(folder: Path) -> Files:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def _write(folder: Path, files: Files) -> None:
    """Write what a worker sent, its state last: that says that the rest is there."""
    for name in sorted(files, key=_is_state):
        path = folder / name
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(files[name])


def _is_state(name: str) -> bool:
    return name == joining.STATE
