"""Jobs on all cores of this machine, each worker a process of its own.

A worker that dies or hangs is replaced, and its job is done again: what a job gives depends on the job alone.
"""

import os
import pickle
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import wait
from pathlib import Path
from pickle import PicklingError
from tempfile import TemporaryDirectory
from typing import Any

from vmg.base.console import say
from vmg.base.errors import VMGError
from vmg.evaluation.executors.base import EXECUTORS, Work
from vmg.evaluation.executors.here import run_here
from vmg.evaluation.executors.worker import DONE, FAILED, READY, Lost, Worker, interrupts_wait

TRIES = 3
"""Processes that may end on one job, or one after the other before they have begun."""
LOOK = 1.0
"""Seconds after which is looked who has been silent for how long."""
BEGIN = 600.0
"""Seconds that a worker may take until it begins."""
SLOW, LEAST, MOST = 20, 60.0, 600.0
"""A worker is taken for hung when it is silent for so many times the slowest step so far, but between these seconds."""


@EXECUTORS.register("processes")
def run_in_processes(work: Work, jobs: Sequence[Any], workers: int | None) -> Iterator[Any]:
    """Do the jobs side by side; one worker alone needs no process of its own."""
    workers = min(workers or os.cpu_count() or 1, max(len(jobs), 1))
    if workers == 1:
        yield from run_here(work, jobs, 1)
        return
    with _handed_over(work) as file:
        crew = _Crew(file, jobs)
        try:
            yield from crew.results(workers)
        except BaseException:
            crew.dismiss(at_once=True)
            raise
        crew.dismiss()


@contextmanager
def _handed_over(work: Work) -> Iterator[Path]:
    """What the workers need, in a file: a pipe to one that dies at its start would take no more and be waited for."""
    with TemporaryDirectory(prefix="vmg-") as folder:
        file = Path(folder) / "work.pickle"
        try:
            with open(file, "wb") as out:
                pickle.dump(work, out, pickle.HIGHEST_PROTOCOL)
        except (PicklingError, AttributeError, TypeError) as error:
            if "pickle" not in str(error):
                raise
            raise VMGError(
                f"The task or the policy cannot be sent to other processes ({error}). Use functions defined at the top "
                "of a module, or workers=1."
            ) from error
        yield file


class _Crew:
    """Workers, the jobs they do, and those that nobody has begun."""

    def __init__(self, file: Path, jobs: Sequence[Any]) -> None:
        self._file, self._jobs = file, jobs
        self._open = deque(range(len(jobs)))
        self._workers: list[Worker] = []
        self._ended_on: Counter[int] = Counter()
        self._ended_early = 0
        self._began = False
        self._slowest = 0.0

    def results(self, workers: int) -> Iterator[Any]:
        """Yield what each job gives, as they end."""
        missing, looked = len(self._jobs), time.monotonic()
        for _ in range(workers):
            self._hire()
        while missing:
            wait([each.connection for each in self._workers], LOOK)
            now = time.monotonic()
            passed, looked = min(now - looked, 2 * LOOK), now  # more: this process was stopped, and so were the others
            for worker in list(self._workers):
                try:
                    for result in self._heard(worker):
                        missing -= 1
                        yield result
                    worker.silent += passed
                    if worker.silent > self._patience(worker):
                        raise Lost(f"was silent for {worker.silent:.0f} s")
                except Lost as lost:
                    self._replace(worker, lost)

    def _hire(self) -> None:
        with interrupts_wait():  # a worker that is started is known, so that it can be let go
            self._workers.append(Worker(self._file))

    def dismiss(self, *, at_once: bool = False) -> None:
        """Let all workers go: when they have closed what they opened, or at once."""
        for worker in self._workers:
            worker.let_go(at_once=at_once)
        for worker in self._workers:
            worker.end()

    def _heard(self, worker: Worker) -> Iterator[Any]:
        """Take in what a worker says, yield its result if it has one, and give it another job."""
        for kind, content in worker.messages():
            if kind == FAILED:
                raise content
            if kind == READY:
                self._began, self._ended_early = True, 0
            elif kind == DONE:
                worker.job = None
                yield content
            else:
                self._slowest = max(self._slowest, content)
            if worker.job is None and self._open:
                worker.job = self._open.popleft()
                worker.begin(self._jobs[worker.job])

    def _patience(self, worker: Worker) -> float:
        """Seconds that a worker may be silent, twice as many with each time that its job was lost."""
        if not worker.began:
            return BEGIN
        if worker.job is None:
            return float("inf")
        usual = min(max(SLOW * self._slowest, LEAST), MOST) if self._slowest else MOST
        return float(usual * 2 ** self._ended_on[worker.job])

    def _replace(self, worker: Worker, lost: Lost) -> None:
        self._workers.remove(worker)
        how = worker.end(lost)
        if not worker.began:
            self._ended_early += 1
            if not self._began or self._ended_early >= TRIES:
                raise VMGError(
                    "The processes that run the episodes could not start or died. In a script, evaluate under "
                    '`if __name__ == "__main__":`, or use workers=1, which also shows what went wrong.'
                )
        if worker.job is not None:
            self._ended_on[worker.job] += 1
            if self._ended_on[worker.job] >= TRIES:
                raise VMGError(
                    f"The process that ran the episode of seed {self._jobs[worker.job]} {how}; that was the last of "
                    f"{TRIES} that tried. Run it in this process to see why, or to wait longer: --on here."
                )
            say(f"A process that ran episodes {how}: the one of seed {self._jobs[worker.job]} is run again.")
            self._open.appendleft(worker.job)
        self._hire()
