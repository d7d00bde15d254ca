"""How work tells that it goes on: whoever waits for it and hears nothing for too long may take it for hung."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_listeners: list[Callable[[], None]] = []


def beat() -> None:
    """Say that the work goes on; an evaluation does so with every step. Costs nothing where nobody listens."""
    for hear in _listeners:
        hear()


@contextmanager
def listening(hear: Callable[[], None]) -> Iterator[None]:
    """Call a function with every beat while the block runs."""
    _listeners.append(hear)
    try:
        yield
    finally:
        _listeners.remove(hear)
