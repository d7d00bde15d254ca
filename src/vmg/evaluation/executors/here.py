"""One job after the other, in this process: any environment allows it, and errors show where they happen."""

from collections.abc import Iterator, Sequence
from typing import Any

from vmg.evaluation.executors.base import EXECUTORS, Work


@EXECUTORS.register("here")
def run_here(work: Work, jobs: Sequence[Any], workers: int | None) -> Iterator[Any]:
    """Do the jobs in order."""
    with work.open() as do:
        for job in jobs:
            yield do(job)
