"""Arrays that stay on disk, as memory maps: what does not fit into memory is read and written in pieces.

A file whose arrays lie in it as they are in memory is mapped itself. Others are unpacked once, into a folder beside it.
What is made of an array on disk (`taken`, `as_type`, `joined`) is on disk, too, in a file without a name that goes when
the array does. Arrays in memory pass through the same functions and stay there.
"""

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

import numpy as np
from numpy.typing import DTypeLike, NDArray

from vmg.base.console import say
from vmg.base.errors import VMGError
from vmg.base.files import replacing
from vmg.base.memory import free_memory, in_words

PIECE = 2**26
"""Bytes worked on at once."""
SHARE = 4
"""Arrays that would take more than one part in so many of the free memory stay on disk."""

Array = NDArray[Any]
Pieces = Callable[[], Iterator[Array]]


def stays_on_disk(n_bytes: int, mapped: bool | None) -> bool:
    """Say whether arrays of so many bytes are mapped: as asked for or, where nothing is, if they are large."""
    return n_bytes > free_memory() // SHARE if mapped is None else mapped


def unpacked(path: Path, name: str, shape: tuple[int, ...], dtype: DTypeLike, pieces: Pieces) -> Array:
    """Map an array of a file that cannot be mapped itself: its pieces are written beside the file, once."""
    target = path.with_name(f"{path.name}.unpacked") / f"{quote(name, safe='')}.npy"
    kind, stamp = np.dtype(dtype), path.stat().st_mtime_ns
    if not _is_copy(target, shape, kind, stamp):
        size = in_words(int(np.prod(shape)) * kind.itemsize)
        say(
            f"{path.name}: {name} is unpacked to {target} ({size}) and read from there. Delete that folder when you no "
            "longer need the data."
        )
        with replacing(target) as beside:
            with open(beside, "wb") as file:
                _write(file, name, shape, kind, pieces, path)
            os.utime(beside, ns=(stamp, stamp))
    mapped: Array = np.load(target, mmap_mode="r")
    return mapped


def _is_copy(target: Path, shape: tuple[int, ...], dtype: np.dtype[Any], stamp: int) -> bool:
    if not target.is_file() or target.stat().st_mtime_ns != stamp:
        return False
    try:
        there = np.load(target, mmap_mode="r")
    except (ValueError, OSError):
        return False
    return bool(there.shape == shape and there.dtype == dtype)


def _write(file: BinaryIO, name: str, shape: tuple[int, ...], dtype: np.dtype[Any], pieces: Pieces, path: Path) -> None:
    np.lib.format.write_array_header_2_0(
        file, {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    )
    written = 0
    for piece in pieces():
        file.write(np.ascontiguousarray(piece, dtype).data if piece.size else b"")
        written += piece.size
    if written != np.prod(shape):
        raise VMGError(
            f"{path}: {name} ends after {written:,} of {int(np.prod(shape)):,} numbers. Copy the file again."
        )


def is_mapped(array: Array) -> bool:
    """Say whether an array lies on disk."""
    return _map_of(array) is not None


def slices(array: Array) -> Iterator[slice]:
    """Cut the rows of an array into pieces of bounded size."""
    width = max(1, array.nbytes // max(1, len(array)))
    step = max(1, PIECE // width)
    return (slice(start, min(start + step, len(array))) for start in range(0, len(array), step))


def like(array: Array, shape: tuple[int, ...], dtype: DTypeLike) -> Array:
    """Return an array of any content: on disk beside the one given, if that is there, or in memory."""
    source = _map_of(array)
    if source is None or 0 in shape:
        return np.empty(shape, dtype)
    folder = Path(source.filename).parent if source.filename else None
    with tempfile.TemporaryFile(dir=folder if folder and os.access(folder, os.W_OK) else None) as file:
        return np.memmap(file, dtype, "w+", shape=shape)


def taken(array: Array, which: Array) -> Array:
    """Return `array[which]`, for rows by number or by a mark for each."""
    if not is_mapped(array):
        chosen: Array = array[which]
        return chosen
    if which.dtype == bool:
        if which.all():
            return array
        which = np.flatnonzero(which)
    made = like(array, (len(which), *array.shape[1:]), array.dtype)
    for rows in slices(made):
        made[rows] = array[which[rows]]
    return made


def columns_of(table: Array, columns: Sequence[int]) -> Array:
    """Return these columns of a table."""
    if not is_mapped(table):
        return table[:, list(columns)]
    made = like(table, (len(table), len(columns)), table.dtype)
    for rows in slices(table):
        made[rows] = table[rows][:, list(columns)]
    return made


def as_type(array: Array, dtype: DTypeLike) -> Array:
    """Return the array in this type, row by row in one piece; itself where it is so already."""
    if not is_mapped(array) or (array.dtype == dtype and array.flags.c_contiguous):
        return np.ascontiguousarray(array, dtype=dtype)
    made = like(array, array.shape, dtype)
    for rows in slices(array):
        made[rows] = array[rows]
    return made


def joined(parts: Sequence[Array]) -> Array:
    """Return arrays below each other."""
    on_disk = next((part for part in parts if is_mapped(part)), None)
    if on_disk is None:
        return np.concatenate(parts)
    shape = (sum(map(len, parts)), *parts[0].shape[1:])
    made, first = like(on_disk, shape, np.result_type(*parts)), 0
    for part in parts:
        for rows in slices(part):
            made[first + rows.start : first + rows.stop] = part[rows]
        first += len(part)
    return made


def beside(parts: Sequence[Array]) -> Array:
    """Return tables of as many rows beside each other."""
    on_disk = next((part for part in parts if is_mapped(part)), None)
    if on_disk is None:
        return np.concatenate(parts, axis=1)
    made = like(on_disk, (len(parts[0]), sum(part.shape[1] for part in parts)), np.result_type(*parts))
    for rows in slices(made):
        np.concatenate([part[rows] for part in parts], axis=1, out=made[rows])
    return made


def row_pieces(array: Array, rows: Array) -> Iterator[Array]:
    """Cut rows that are to be looked up in an array into pieces: many where it lies on disk, one in memory."""
    step = len(rows) if not is_mapped(array) else max(1, PIECE * max(1, len(array)) // max(1, array.nbytes))
    return (rows[first : first + step] for first in range(0, len(rows), max(1, step)))


def mean_and_std(table: Array) -> tuple[Array, Array]:
    """Return mean and standard deviation of each column, in float64 without a copy of the table."""
    mean = _column_sums(table, lambda piece: piece) / len(table)
    return mean, np.sqrt(_column_sums(table, lambda piece: np.square(piece - mean)) / len(table))


def _column_sums(table: Array, of: Callable[[Array], Array]) -> Array:
    """Add row to row in their order, so that pieces change no bit."""
    sums = np.zeros(table.shape[1])
    for rows in slices(table):
        sums = np.add.reduce(np.concatenate([sums[None], of(table[rows].astype(np.float64))]), axis=0)
    return sums


def largest(table: Array) -> Array:
    """Return the largest size of a number in each column."""
    found: Array = np.maximum(np.abs(table.min(0)), np.abs(table.max(0)))
    return found


def first_not_finite(array: Array) -> tuple[int, ...] | None:
    """Return the place of the first number that is not finite; None where all are."""
    for rows in slices(array):
        finite = np.isfinite(array[rows])
        if not finite.all():
            row, *column = np.argwhere(~finite)[0].tolist()
            return (rows.start + row, *column)
    return None


def _map_of(array: Any) -> np.memmap[Any, Any] | None:
    """Return the memory map that an array is a view of."""
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            return array
        array = array.base
    return None
