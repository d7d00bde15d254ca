"""Jobs on all cores of this machine, each worker a process of its own."""

import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context
from pathlib import Path
from pickle import PicklingError
from tempfile import TemporaryDirectory
from typing import Any

from vmg.base.errors import VMGError
from vmg.evaluation.executors.base import EXECUTORS, Work
from vmg.evaluation.executors.here import run_here


@EXECUTORS.register("processes")
def run_in_processes(work: Work, jobs: Sequence[Any], workers: int | None) -> Iterator[Any]:
    """Do the jobs side by side; one worker alone needs no process of its own."""
    workers = min(workers or os.cpu_count() or 1, max(len(jobs), 1))
    if workers == 1:
        yield from run_here(work, jobs, 1)
        return
    try:
        with _handed_over(work) as file, _pool(workers, file) as pool:
            futures = [pool.submit(_do_in_worker, job) for job in jobs]
            try:
                for future in as_completed(futures):
                    yield future.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    except BrokenProcessPool as error:
        raise VMGError(
            "The processes that run the episodes could not start or died. In a script, evaluate under "
            '`if __name__ == "__main__":`, or use workers=1, which also shows what went wrong.'
        ) from error
    except (PicklingError, AttributeError, TypeError) as error:
        if "pickle" not in str(error):
            raise
        raise VMGError(
            f"The task or the policy cannot be sent to other processes ({error}). Use functions defined at the top of "
            "a module, or workers=1."
        ) from error


@contextmanager
def _handed_over(work: Work) -> Iterator[Path]:
    """What the workers need, in a file: a pipe to one that dies at its start would take no more and be waited for."""
    with TemporaryDirectory(prefix="vmg-") as folder:
        file = Path(folder) / "work.pickle"
        with open(file, "wb") as out:
            pickle.dump(work, out, pickle.HIGHEST_PROTOCOL)
        yield file


def _pool(workers: int, file: Path) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, get_context("spawn"), _prepare_worker, (file,))


_opened = ExitStack()
_worker: dict[str, Callable[[Any], Any]] = {}


def _prepare_worker(file: Path) -> None:
    with open(file, "rb") as handed_over:
        work = pickle.load(handed_over)  # written a moment ago by the process that started this one
    _worker["do"] = _opened.enter_context(work.open())


def _do_in_worker(job: Any) -> Any:
    return _worker["do"](job)
