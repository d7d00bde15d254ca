"""A process that does jobs, and what the one that started it sees of it."""

import pickle
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any

from vmg.evaluation.executors.heartbeat import listening

READY, BEAT, DONE, FAILED = "ready", "beat", "done", "failed"
EVERY = 0.5
"""Seconds between two beats that are sent on."""
CLOSING = 10.0
"""Seconds that a worker may take to close what it opened."""


class Lost(Exception):  # noqa: N818
    """A worker that died or hangs."""


class Worker:
    """A process that was started: the job it does, and for how long it has been silent."""

    def __init__(self, file: Path) -> None:
        processes = get_context("spawn")
        self.connection, theirs = processes.Pipe()
        self._process = processes.Process(target=_work, args=(file, theirs))
        self.job: int | None = None
        self.began = False
        self.silent = 0.0
        self._process.start()
        theirs.close()

    def begin(self, job: Any) -> None:
        """Give it a job."""
        with suppress(BrokenPipeError, ConnectionResetError):  # it has died, which is seen when it is listened to
            self.connection.send(job)

    def messages(self) -> Iterator[tuple[str, Any]]:
        """Yield what it has said since the last time."""
        try:
            while self.connection.poll():
                kind, content = pickle.loads(self.connection.recv_bytes())
                self.silent, self.began = 0.0, self.began or kind == READY
                yield kind, content
        except (EOFError, OSError) as error:
            raise Lost("died") from error
        if not self._process.is_alive() and not self.connection.poll():
            raise Lost("died")

    def let_go(self, *, at_once: bool = False) -> None:
        """Tell it that there are no more jobs."""
        self.connection.close()
        if at_once:
            self._process.terminate()

    def end(self, lost: Lost | None = None) -> str:
        """Wait until it has ended, one that is lost or takes too long is killed; return how it ended, in words."""
        if lost is None or str(lost) == "died":
            self._process.join(CLOSING)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self.connection.close()
        if lost is not None and str(lost) != "died":
            return str(lost)
        code = self._process.exitcode or 0
        return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"


@contextmanager
def interrupts_wait() -> Iterator[None]:
    """Hold ctrl-C back until the block has ended; a process that is started in it never hears of it.

    It is for the process that starts others, which then lets them go.
    """
    resource_tracker.ensure_running()  # which would let it through when it is started later
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(file: Path, connection: Connection) -> None:
    """Open the work and do jobs until there are no more, or whoever asked is gone."""
    signal.signal(signal.SIGTERM, _leave)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        try:
            with open(file, "rb") as handed_over:
                work = pickle.load(handed_over)  # written a moment ago by the process that started this one
            with work.open() as do, listening(_Pulse(connection)):
                connection.send_bytes(pickle.dumps((READY, None)))
                while True:
                    connection.send_bytes(_outcome(do, connection.recv()))
        except (EOFError, BrokenPipeError, ConnectionResetError):
            raise
        except Exception as error:
            connection.send_bytes(_failure(error))


def _leave(number: int, frame: FrameType | None) -> None:
    sys.exit(0)


class _Pulse:
    """Sends on how slow the slowest step so far was, now and then."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._last = self._sent = time.monotonic()
        self._slowest = 0.0

    def __call__(self) -> None:
        now = time.monotonic()
        self._slowest, self._last = max(self._slowest, now - self._last), now
        if now - self._sent > EVERY:
            self._sent = now
            self._connection.send_bytes(pickle.dumps((BEAT, self._slowest)))


def _outcome(do: Callable[[Any], Any], job: Any) -> bytes:
    try:
        return pickle.dumps((DONE, do(job)))
    except (BrokenPipeError, ConnectionResetError):
        raise
    except Exception as error:
        return _failure(error)


def _failure(error: Exception) -> bytes:
    """Return an exception as it can be sent, with where it comes from."""
    error.add_note(f"It was raised in a process that runs episodes:\n{traceback.format_exc()}")
    try:
        failure = pickle.dumps((FAILED, error))
        pickle.loads(failure)
    except Exception:  # its class cannot be found, or be made again, where it arrives
        told = RuntimeError(f"{type(error).__name__}: {error}")
        told.add_note("".join(error.__notes__))
        return pickle.dumps((FAILED, told))
    return failure
