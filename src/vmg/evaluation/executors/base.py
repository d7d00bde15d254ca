"""What an executor is: it runs jobs of one piece of work, and yields their results as they come."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from inspect import signature
from typing import Any, Protocol, TypeAlias

from vmg.base.errors import VMGError
from vmg.base.registry import Registry

THIS_MACHINE = ("processes", "here")
"""Executors that need no other machine; models then learn side by side in this process."""


class Work(Protocol):
    """Work that is opened once per worker and then does one job after another. It can be pickled.

    A worker needs a core. Work that needs something else says so: `cores` or `gpus`, for each worker.
    """

    def open(self) -> AbstractContextManager[Callable[[Any], Any]]:
        """Yield what does a job."""


Executor: TypeAlias = Callable[[Work, Sequence[Any], int | None], Iterator[Any]]
"""(work, jobs, number of workers or None for its own choice) → results, in any order."""


class Executors(Registry[Executor]):
    """Executors by name. One that takes an `address` can be named with it: NAME://ADDRESS."""

    def find(self, name: str) -> Executor:
        """Return the executor of this name, at the address where the name has one."""
        kind, colon, address = name.partition("://")
        found: Callable[..., Iterator[Any]] = super().find(kind)
        if not colon:
            return found
        if "address" not in signature(found).parameters:
            raise VMGError(f"The executor {kind!r} takes no address, but is named {name!r}. Name it {kind!r}.")
        if not address:
            raise VMGError(f"The executor {name!r} lacks its address: write {kind}://HOST, or {kind} alone.")
        return partial(found, address=name)


EXECUTORS = Executors("executor")
