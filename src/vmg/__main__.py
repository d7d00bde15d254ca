"""`vmg` and `python -m vmg`: the overview at once, and a command with all it needs."""

import sys

from vmg.base.lazy import LazyModule
from vmg.cli.overview import answered

cli = LazyModule("vmg.cli.main")


def main() -> int:
    """Answer, or run the command that the arguments name, and return its exit code."""
    return 0 if answered(sys.argv[1:]) else int(cli.main())


if __name__ == "__main__":
    sys.exit(main())
