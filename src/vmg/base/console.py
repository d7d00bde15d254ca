"""Progress bars, on standard error so that piped output stays clean, and silent where nobody watches.

What draws is imported when something is drawn: the processes of an evaluation draw nothing.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

PIPE_WIDTH = 120


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


@contextmanager
def progress_bar(description: str, total: float, *, show: bool | None = None) -> Iterator[Advance]:
    """Show one bar while the block runs; `show=None` shows it only on a terminal."""
    from rich import progress as rich
    from rich.console import Console

    console = Console(stderr=True)
    columns = (
        rich.SpinnerColumn(),
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.TaskProgressColumn(),
        rich.MofNCompleteColumn(),
        rich.TimeRemainingColumn(),
        rich.TextColumn("{task.fields[note]}"),
    )
    disabled = not console.is_terminal if show is None else not show
    with rich.Progress(*columns, console=console, transient=True, disable=disabled) as progress:
        task = progress.add_task(description, total=total, note="")

        def advance(completed: float, note: str = "") -> None:
            progress.update(task, completed=completed, note=note)

        yield advance
