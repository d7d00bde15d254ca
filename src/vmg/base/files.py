"""Files that are never half-written: each is made beside its place and renamed into it."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from vmg.base.errors import VMGError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a path beside `path` to write to; rename it to `path` when the block ends well, remove it when not."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for left_by_a_kill in path.parent.glob(f".{path.name}.*.part"):
        left_by_a_kill.unlink(missing_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        beside.touch()
        mode = beside.stat().st_mode  # as the user's umask has it; some writers make files that nobody else can read
        yield beside
        with open(beside, "rb") as written:
            os.fsync(written.fileno())
        beside.chmod(mode)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""
    with replacing(path) as beside:
        beside.write_text(text, encoding="utf-8")


def write_json(path: Path, content: Any) -> None:
    """Write JSON whole or not at all."""
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def read_json(path: Path) -> Any:
    """Read JSON, or say which file is missing or damaged."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise VMGError(f"{path} does not exist.") from error
    except (OSError, ValueError) as error:
        raise VMGError(f"{path} is not readable as JSON: {error}. Restore it from a copy or make it again.") from error


def write_npz(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write a compressed .npz whole or not at all."""
    with replacing(path) as beside, open(beside, "wb") as file:
        np.savez_compressed(file, allow_pickle=False, **{name: np.asarray(array) for name, array in arrays.items()})


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """Read every array of a .npz; pickled objects are refused, so opening a file can never run code."""
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except FileNotFoundError as error:
        raise VMGError(f"{path} does not exist.") from error
    except Exception as error:  # zip, zlib, header and pickle errors share no base class
        pickled = "allow_pickle" in str(error)
        why = "it is something else, or holds pickled objects, which are never opened" if pickled else error
        raise VMGError(
            f"{path} is not a readable .npz file: {why}. Restore it, or delete it and make it again."
        ) from error
