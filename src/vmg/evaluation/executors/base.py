"""What an executor is: it runs jobs of one piece of work, and yields their results as they come."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeAlias

from vmg.base.registry import Registry


class Work(Protocol):
    """Work that is opened once per worker and then does one job after another. It can be pickled."""

    def open(self) -> AbstractContextManager[Callable[[Any], Any]]:
        """Yield what does a job."""


Executor: TypeAlias = Callable[[Work, Sequence[Any], int | None], Iterator[Any]]
"""(work, jobs, number of workers or None for its own choice) → results, in any order."""
EXECUTORS: Registry[Executor] = Registry("executor")
