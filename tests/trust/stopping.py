"""A command as a fork of this process, which has imported all that commands need, and how it is stopped."""

import os
import signal
import sys
import time
import traceback
from pathlib import Path

from vmg.__main__ import main

OPERATIONS = ("os.rename", "os.remove", "os.mkdir", "open")
"""Python's audit events before which a command can be stopped."""


class Command:
    """A command that runs in a fork of this process, in a folder, in a session of its own."""

    def __init__(self, words: list[str], folder: Path, stop: tuple[int, int] = (0, 0), count: Path | None = None):
        self.said = folder.parent / f"{folder.name}.said"
        self.pid = os.fork()
        if self.pid == 0:
            _be(words, folder, self.said, stop, count)

    def code(self, seconds: float) -> int | None:
        """Wait so long for its exit code; below zero, the signal that ended it."""
        until = time.monotonic() + seconds
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() > until:
                return None
            time.sleep(0.002)

    def send(self, number: int) -> None:
        """Send a signal; a terminal interrupts what a command has started, too."""
        try:
            (os.killpg if number == signal.SIGINT else os.kill)(self.pid, number)
        except ProcessLookupError:  # it is not yet in a session of its own
            os.kill(self.pid, number)

    def left_behind(self, seconds: float = 20.0) -> list[int]:
        """Processes of its session that are still there after so long; what it started must end with it."""
        until = time.monotonic() + seconds
        while (found := _session(self.pid)) and time.monotonic() < until:
            time.sleep(0.02)
        return found


def _session(leader: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parts = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(parts[3]) == leader and parts[0] != "Z":
            found.append(int(stat.parent.name))
    return found


def _be(words: list[str], folder: Path, said: Path, stop: tuple[int, int], count: Path | None) -> None:
    """Be the command; never return."""
    code = 1
    try:
        os.setsid()
        os.chdir(folder)
        out = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        os.dup2(out, 1)
        os.dup2(out, 2)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        done = _stopping_at(*stop)
        sys.argv = ["vmg", *words]
        code = main()
        if count:
            count.write_text(str(done[0]))
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    except KeyboardInterrupt:  # before the command began, or after it had ended
        code = 130
        sys.stderr.write("Interrupted.\n")
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _stopping_at(number: int, operation: int) -> list[int]:
    """Send this process a signal just before an operation on files; return how many there were."""
    done, here = [0], os.getpid()

    def hear(event: str, arguments: tuple) -> None:
        if event not in OPERATIONS or os.getpid() != here or not _writes(event, arguments):
            return
        done[0] += 1
        if done[0] == operation:
            os.kill(here, number)

    sys.addaudithook(hear)
    return done


def _writes(event: str, arguments: tuple) -> bool:
    if event != "open":
        return not str(arguments[0]).startswith(("/proc", "/dev"))
    mode, flags = arguments[1], arguments[2]
    return (isinstance(mode, str) and any(c in mode for c in "wax+")) or (mode is None and bool(flags & os.O_CREAT))
