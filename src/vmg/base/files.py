"""Files that are never half-written: each is made beside its place and renamed into it.

What is read is looked at first: neither a pipe nor a small file that would fill the memory is opened.
"""

import fcntl
import glob
import json
import os
import shutil
import zipfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from vmg.base.errors import VMGError

MOST_TEXT = 2**26
"""Bytes of a text file that is read whole."""
MUCH, EXPANDS = 2**30, 200
"""Bytes beyond which a file may not hold more than so many times its own size: numbers that were recorded never do."""


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Say in a sentence that a file cannot be written: a full disk, a folder where that is not allowed."""
    try:
        yield
    except BrokenPipeError:  # it is no file
        raise
    except OSError as error:
        raise VMGError(
            f"{path} could not be written: {error.strerror or error}. Make room for it, allow writing there, or choose "
            "another place; what was there before is kept."
        ) from error


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a path beside `path` to write to; rename it to `path` when the block ends well, remove it when not."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        remove_what_kills_left(path.parent, f".{glob.escape(path.name)}.*.part")
        with _new_file_beside(path) as (beside, mode):
            yield beside
            with open(beside, "rb") as written:
                os.fsync(written.fileno())
            beside.chmod(mode)  # some writers make files that nobody else can read
            os.replace(beside, path)


@contextmanager
def _new_file_beside(path: Path) -> Iterator[tuple[Path, int]]:
    """Yield a file of a name that nobody can foresee, locked while it is written, and its mode by the user's umask."""
    beside = path.with_name(f".{path.name}.{os.urandom(4).hex()}.part")
    with open(beside, "xb") as file:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield beside, os.fstat(file.fileno()).st_mode
        finally:
            beside.unlink(missing_ok=True)


def remove_what_kills_left(folder: Path, pattern: str = f"**/.*.{'[0-9a-f]' * 8}.part") -> None:
    """Remove files of a folder that were to be renamed, and that nobody writes to any more."""
    for left in folder.glob(pattern):
        with suppress(OSError), _opened(left) as descriptor:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(left) if left.is_dir() else left.unlink()


@contextmanager
def staged(folder: Path) -> Iterator[Path]:
    """Yield an empty folder in `folder` for files that are then renamed together: a full disk leaves all as it was."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        remove_what_kills_left(folder)
        beside = folder / f".staged.{os.urandom(4).hex()}.part"
        beside.mkdir()
        try:
            with _opened(beside) as descriptor:
                with suppress(OSError):
                    fcntl.flock(descriptor, fcntl.LOCK_EX)
                yield beside
        finally:
            shutil.rmtree(beside, ignore_errors=True)


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    """Open a file or a folder, to lock it."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def append(file: BinaryIO, text: str) -> None:
    """Add text to a file that was opened without a buffer, which would fail once more when a full file is closed."""
    with writing(Path(file.name)):
        left = text.encode()
        while left:
            left = left[file.write(left) :]


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""
    with replacing(path) as beside:
        beside.write_text(text, encoding="utf-8")


def write_json(path: Path, content: Any) -> None:
    """Write JSON whole or not at all."""
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def check_file(path: Path) -> None:
    """Refuse what is no file: what is not there, folders, and pipes and devices, which may never end."""
    if not is_file(path):
        there = os.path.lexists(path)
        raise VMGError(f"{path} is no file. Put the file itself there." if there else f"{path} does not exist.")


def is_file(path: Path) -> bool:
    """Say whether there is a file; not where the name is too long for one, or links run in a circle."""
    return os.path.isfile(path)


@contextmanager
def reading(path: Path, kind: str) -> Iterator[None]:
    """Say in a sentence that a file is missing, damaged or of another kind, whatever its reader makes of that."""
    check_file(path)
    try:
        yield
    except VMGError:
        raise
    except Exception as error:  # what libraries raise at damaged files has no base class
        raise VMGError(f"{path} is not a readable {kind}: {error}. Copy or download it again.") from error


def check_expansion(path: Path, size: int, *, on_disk: bool = False) -> None:
    """Refuse a file whose content, of so many bytes, was made to fill the memory, or does not fit into it.

    `on_disk`: it is not read into memory, so only the former counts.
    """
    own, memory = path.stat().st_size, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if (size > memory and not on_disk) or (size > MUCH and size > EXPANDS * own):
        raise VMGError(
            f"{path} is refused: its {own:,} bytes claim to hold {size:,}, which would fill the memory. Restore it "
            "from a copy, or read it on a machine with more memory."
        )


def read_json(path: Path) -> Any:
    """Read JSON, or say which file is missing or damaged."""
    check_file(path)
    try:
        if path.stat().st_size > MOST_TEXT:
            raise VMGError(f"it is larger than {MOST_TEXT:,} bytes")
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise VMGError(f"{path} is not readable as JSON: {error}. Restore it from a copy or make it again.") from error


def write_npz(path: Path, arrays: Mapping[str, np.ndarray], *, stored: Collection[str] = ()) -> None:
    """Write a .npz whole or not at all, compressed but for the arrays that are `stored` as they are.

    Little effort is made: more of it takes several times as long, and leaves numbers that were recorded as large.
    """
    with replacing(path) as beside:
        for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
            with zipfile.ZipFile(beside, "a", method, compresslevel=1) as file:
                for name in (each for each in arrays if (each in stored) == (method == zipfile.ZIP_STORED)):
                    with file.open(f"{name}.npy", "w", force_zip64=True) as member:
                        np.lib.format.write_array(member, np.asarray(arrays[name]), allow_pickle=False)


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """Read every array of a .npz; pickled objects are refused, so opening a file can never run code."""
    check_file(path)
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
            check_expansion(path, sum(each.file_size for each in arrays.zip.infolist()))
            return {name: arrays[name] for name in arrays.files}
    except VMGError:
        raise
    except Exception as error:  # zip, zlib, header and pickle errors share no base class
        pickled = "allow_pickle" in str(error)
        why = "it is something else, or holds pickled objects, which are never opened" if pickled else error
        raise VMGError(
            f"{path} is not a readable .npz file: {why}. Restore it, or delete it and make it again."
        ) from error
