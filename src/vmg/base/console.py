"""Progress, on standard error so that piped output stays clean: a bar on a terminal, plain lines in a log.

What draws is imported when something is drawn: the processes of an evaluation draw nothing.
"""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

PIPE_WIDTH = 120
SAY_AFTER, SAY_SOONEST, SAY_SHARE = 30.0, 5.0, 0.1
"""A log's lines: at the latest after, at the soonest after (seconds), and for which share of the work."""


class Advance(Protocol):
    """Tell the bar how far the work is, and what to show beside it."""

    def __call__(self, completed: float, note: str = "") -> None: ...


def show(result: Any) -> None:
    """Print a result on standard output: text, a table, anything rich can draw; never wrapped to a pipe's width."""
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=PIPE_WIDTH)
    console.print(result, markup=False, soft_wrap=isinstance(result, str))


def say(text: str) -> None:
    """Tell the user what is going on, on standard error."""
    from rich.console import Console

    Console(stderr=True, highlight=False, soft_wrap=True).print(text, markup=False)


@contextmanager
def stopping_on_interrupt() -> Iterator[Callable[[], bool]]:
    """Yield a function that says whether somebody pressed ctrl-C, so that work can end where nothing is lost.

    The second time interrupts at once. Only the main thread hears of it; elsewhere the answer is always no.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    asked: list[int] = []

    def hear(number: int, frame: Any) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)

    before = signal.signal(signal.SIGINT, hear)
    try:
        yield lambda: bool(asked)
    finally:
        signal.signal(signal.SIGINT, before)
    if asked:  # while nobody looked: what follows is not wanted either
        raise KeyboardInterrupt


@contextmanager
def progress_bar(description: str, total: float, *, show: bool | None = None) -> Iterator[Advance]:
    """Show how far the work is while the block runs; `show=None`: a bar on a terminal, plain lines elsewhere."""
    from rich.console import Console

    console = Console(stderr=True)
    if show is False:
        yield lambda completed, note="": None
    elif show is None and not console.is_terminal:
        yield ProgressLines(description, total)
    else:
        with _bar(description, total, console) as advance:
            yield advance


class ProgressLines:
    """Plain lines for a log: one for every tenth of the work, and one whenever nothing was said for half a minute."""

    def __init__(self, description: str, total: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._description, self._total, self._clock = description, total, clock
        self._began = self._said_at = clock()
        self._first: float | None = None
        self._said_share = 0.0

    def __call__(self, completed: float, note: str = "") -> None:
        """Say how far the work is, if it is time to."""
        now = self._clock()
        if self._first is None:
            self._first = completed  # what was done before does not tell how fast this goes
        waited, share = now - self._said_at, completed / max(self._total, 1e-9)
        if waited >= SAY_AFTER or (waited >= SAY_SOONEST and share - self._said_share >= SAY_SHARE):
            self._said_at, self._said_share = now, share
            say(self._line(completed, share, now - self._began, note))

    def _line(self, completed: float, share: float, taken: float, note: str) -> str:
        done = completed - (self._first or 0.0)
        left = f", about {duration(taken * (self._total - completed) / done)} left" if done > 0 else ""
        ending = f", {note}" if note else ""
        return f"{self._description}: {completed:,.0f} of {self._total:,.0f} ({100 * share:.0f} %){left}{ending}"


def duration(seconds: float) -> str:
    """Say a time in words: "40 s", "12 min", "3.5 h"."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


@contextmanager
def _bar(description: str, total: float, console: Any) -> Iterator[Advance]:
    from rich import progress as rich

    columns = (
        rich.SpinnerColumn(),
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.TaskProgressColumn(),
        rich.MofNCompleteColumn(),
        rich.TimeRemainingColumn(),
        rich.TextColumn("{task.fields[note]}"),
    )
    with rich.Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(description, total=total, note="")

        def advance(completed: float, note: str = "") -> None:
            progress.update(task, completed=completed, note=note)

        yield advance
