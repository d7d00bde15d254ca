"""`vmg` and `python -m vmg`: the overview at once, and a command with all it needs."""

import signal
import sys

from vmg.base.lazy import LazyModule
from vmg.cli.interrupts import listen
from vmg.cli.overview import INTERRUPTED, answered, interrupted

cli = LazyModule("vmg.cli.main")


def main() -> int:
    """Answer, or run the command that the arguments name, and return its exit code."""
    listen()
    try:
        code = 0 if answered(sys.argv[1:]) else int(cli.main())
    except KeyboardInterrupt:  # while the command was loaded, or was being left
        code = interrupted()
    except Exception as error:
        if not _came_of_ctrl_c(error):
            raise
        code = interrupted()
    if code == INTERRUPTED:
        for number in (signal.SIGINT, signal.SIGALRM):
            signal.signal(number, signal.SIG_IGN)  # once is enough: what is left is to close files
    return code


def _came_of_ctrl_c(error: BaseException | None) -> bool:
    """Tell whether an error was made of an interrupt, as libraries do that are interrupted while they are loaded."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


if __name__ == "__main__":
    sys.exit(main())
