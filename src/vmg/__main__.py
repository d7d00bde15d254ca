"""`vmg` and `python -m vmg`: the overview at once, and a command with all it needs."""

import sys

from vmg.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
