"""`vmg` and `python -m vmg`: the overview at once, and a command with all it needs."""

import sys

from vmg.overview import answered


def main() -> int:
    """Answer, or run the command that the arguments name, and return its exit code."""
    if answered(sys.argv[1:]):
        return 0
    from vmg import cli

    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
