"""Episodes of several models, run by one set of workers: none waits while another model's last episodes end."""

import pickle
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from vmg.base.console import progress_bar
from vmg.data.counting import counted
from vmg.envs.task import Task
from vmg.evaluation.evaluation import Actor, EpisodeWork
from vmg.evaluation.executors import EXECUTORS
from vmg.evaluation.scores import EpisodeScore


class Wanted(NamedTuple):
    """The episodes that are wanted of a model."""

    make: Callable[[], Actor]
    """Makes it, when its turn comes to be handed over: only one is in memory at a time."""
    task: Task
    seeds: Sequence[int]


class _Episode(NamedTuple):
    model: int
    seed: int

    def __str__(self) -> str:
        return f"{self.seed} of model {self.model}"


class _Ended(NamedTuple):
    model: int
    score: EpisodeScore


def run_together(
    wanted: Sequence[Wanted],
    *,
    executor: str = "processes",
    workers: int | None = None,
    show_progress: bool | None = None,
) -> Iterator[tuple[int, EpisodeScore]]:
    """Run the episodes of all models; yield each as it ends, with the place of its model."""
    jobs = [_Episode(model, seed) for model, each in enumerate(wanted) for seed in each.seeds]
    execute = EXECUTORS.find(executor)
    with ExitStack() as stack:
        files = _handed_over(Path(stack.enter_context(TemporaryDirectory(prefix="vmg-"))), wanted)
        title = f"Evaluating {counted(len(wanted), 'model')}"
        advance = stack.enter_context(progress_bar(title, len(jobs), show=show_progress))
        results = execute(_SharedWork(files), jobs, workers)
        if isinstance(results, Generator):
            stack.enter_context(closing(results))  # its processes end here, whatever happens
        left = Counter(job.model for job in jobs)
        for i, ended in enumerate(results, 1):
            yield ended.model, ended.score
            advance(i)
            left[ended.model] -= 1
            if not left[ended.model]:
                files[ended.model].unlink()  # a file has all that is recorded: hundreds of megabytes


def _handed_over(folder: Path, wanted: Sequence[Wanted]) -> tuple[Path, ...]:
    """Write every model into a file of its own, from which the workers read the one they are at."""
    files = tuple(folder / f"{i}.pickle" for i in range(len(wanted)))
    with progress_bar("Preparing models", len(wanted)) as advance:
        for i, (file, each) in enumerate(zip(files, wanted, strict=True), 1):
            if each.seeds:
                with open(file, "wb") as out:
                    pickle.dump(EpisodeWork(each.make(), each.task), out, pickle.HIGHEST_PROTOCOL)
            advance(i)
    return files


@dataclass(frozen=True)
class _SharedWork:
    """Runs an episode of any model; the last one's is kept, as most episodes in a row are of one model."""

    files: tuple[Path, ...]

    @contextmanager
    def open(self) -> Iterator[Callable[[_Episode], _Ended]]:
        with ExitStack() as opened:
            now: dict[int, Callable[[int], EpisodeScore]] = {}

            def run(job: _Episode) -> _Ended:
                if job.model not in now:
                    opened.close()
                    now.clear()
                    with open(self.files[job.model], "rb") as handed_over:
                        work: EpisodeWork = pickle.load(handed_over)  # written a moment ago by whoever started this
                    now[job.model] = opened.enter_context(work.open())
                return _Ended(job.model, now[job.model](job.seed))

            yield run
