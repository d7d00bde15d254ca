"""The command line: one file per command, each a few lines over the public functions.

Results go to standard output, progress and remarks to standard error. Exit codes: 0 done; 1 a bug; 2 something the user
can mend, said in a sentence; 130 interrupted.
"""

import errno
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module

from vmg.base.console import say
from vmg.base.errors import VMGError
from vmg.base.registry import VARIABLE, load_extensions
from vmg.cli.overview import answered, interrupted

COMMANDS = {
    "demo": "vmg.cli.demo",
    "data info": "vmg.cli.data_info",
    "data save": "vmg.cli.data_save",
    "train": "vmg.cli.train",
    "build": "vmg.cli.build",
    "solve": "vmg.cli.solve",
    "grow": "vmg.cli.grow",
    "evaluate": "vmg.cli.evaluate",
    "info": "vmg.cli.info",
    "retask": "vmg.cli.retask",
    "reproduce": "vmg.cli.reproduce",
    "sweep": "vmg.cli.sweep",
    "draw": "vmg.cli.draw",
    "report": "vmg.cli.report",
    "explore": "vmg.cli.explore",
}
"""Each command's name and the module whose `run` does it."""
REFUSED = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM}
"""What the system says of a full disk, or of a place where writing or reading is not allowed."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if answered(given):
        return 0
    name = " ".join(given[:2]) if given[0] == "data" else given[0]
    if name not in COMMANDS:
        say(f"There is no command `vmg {name}`. There are: {', '.join(COMMANDS)}. `vmg --help` says what each does.")
        return 0 if name in ("data --help", "data -h") else 2
    try:
        options = _extended(given[len(name.split()) :])
        with _warnings_said():
            import_module(COMMANDS[name]).run(options)
    except VMGError as error:
        say(f"Error: {error}")
        return 2
    except BrokenPipeError:  # whoever read the output has heard enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        if error.errno not in REFUSED:
            raise
        say(f"Error: {error}. Make room or allow it, and call the same command again; what was there before is kept.")
        return 2
    except KeyboardInterrupt:
        return interrupted()
    return 0


@contextmanager
def _warnings_said() -> Iterator[None]:
    """Say warnings as sentences, without the line of the program they come from."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: say(f"Warning: {message}")
        yield


def _extended(arguments: list[str]) -> list[str]:
    """Load what --extension names, for this process and those it starts, and return the other arguments."""
    others, named = [], []
    rest = iter(arguments)
    for argument in rest:
        if argument == "--extension":
            named.append(next(rest, ""))
        elif argument.startswith("--extension="):
            named.append(argument.partition("=")[2])
        else:
            others.append(argument)
    if "" in named:
        raise VMGError("--extension needs a file or a module: --extension mine.py")
    if named:
        files = [os.path.abspath(each) if each.endswith(".py") else each for each in named]
        before = os.environ.get(VARIABLE)
        os.environ[VARIABLE] = os.pathsep.join([*([before] if before else []), *files])
        load_extensions()
    return others


if __name__ == "__main__":
    sys.exit(main())
