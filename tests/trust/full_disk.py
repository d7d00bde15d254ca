"""Commands that may write only so much to a file, as on a full disk, each in a fresh copy of what was there.

python tests/trust/full_disk.py CASES.json: a list of [folder that was there, arguments, most bytes of a file, or the
name of a file and how much more than now]. For each it writes what came of it: exit code, what was said, files lost.
"""

import io
import json
import os
import resource
import shutil
import sys
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

from vmg.cli.main import main


@contextmanager
def no_file_larger_than(size: int):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def tried(place: Path, there: str, arguments: list[str], most: int | list) -> dict:
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(there, place)
    os.chdir(place)
    before = contents(place)
    limit = most if isinstance(most, int) else len(before[most[0]]) + most[1]
    with redirect_stderr(io.StringIO()) as said, redirect_stdout(io.StringIO()):
        with no_file_larger_than(limit):
            code = main(arguments)
        after = contents(place)
        again = main(arguments)
    return {
        "code": code,
        "said": said.getvalue(),
        "lost": [name for name in before if name not in after],
        "changed": [name for name in before if name in after and before[name] != after[name]],
        "left": [name for name in after if name.endswith(".part") or ".part/" in name],
        "again": again,
    }


if __name__ == "__main__":
    cases = json.loads(Path(sys.argv[1]).read_text())
    place = Path(sys.argv[1]).resolve().parent / "here"
    found = [tried(place, *case) for case in cases]
    Path(sys.argv[1]).with_suffix(".found").write_text(json.dumps(found))
