"""Folders that one process writes to at a time. A lock ends with the process that holds it, however that ends."""

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from vmg.base.errors import VMGError
from vmg.base.files import remove_what_kills_left, writing

LOCK = ".lock"

_held: set[Path] = set()


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Keep other processes from writing to a folder while the block runs, or say which one does; made if need be.

    What a process holds already it may hold again. Reading needs no lock: every file is whole at any time.
    """
    place = Path(os.path.realpath(folder))  # links that run in a circle are no error yet
    if place in _held:
        yield
        return
    path, is_new = place / LOCK, not place.exists()
    with writing(path):
        place.mkdir(parents=True, exist_ok=True)
        file = _locked(path, folder)
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}")
        file.flush()
    _held.add(place)
    try:
        remove_what_kills_left(place)
        yield
    finally:
        _held.discard(place)
        path.unlink(missing_ok=True)
        file.close()
        if is_new:
            with suppress(OSError):  # it is kept where anything was written
                place.rmdir()


def _locked(path: Path, folder: Path) -> TextIO:
    """Open the file and lock it; one that was removed in the meantime, by whoever held it, is made again."""
    while True:
        file = open(path, "a+", encoding="utf-8")  # noqa: SIM115
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            with file:
                file.seek(0)
                who = file.read().strip() or "another process"
            raise VMGError(
                f"{folder} is being written to by {who}. Wait until it has ended, or choose another folder."
            ) from error
        except OSError:  # a file system without locks: better unlocked than not at all
            return file
        if _is_at(path, file):
            return file
        file.close()


def _is_at(path: Path, file: TextIO) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False
