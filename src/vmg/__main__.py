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
    if code == INTERRUPTED:
        for number in (signal.SIGINT, signal.SIGALRM):
            signal.signal(number, signal.SIG_IGN)  # once is enough: what is left is to close files
    return code


if __name__ == "__main__":
    sys.exit(main())
