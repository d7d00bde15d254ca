"""Arrays of .npz files, read whole or left on disk: those stored as they are can be mapped, others are unpacked."""

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from vmg.base.errors import VMGError
from vmg.base.files import check_expansion, check_file, read_npz, reading
from vmg.data.mapping import PIECE, stays_on_disk, unpacked

_LOCAL_HEADER = 30  # bytes before a member's name; the lengths of that and of what else stands there are its last four


def read_arrays(path: Path, mapped: bool | None) -> dict[str, NDArray[Any]]:
    """Read every array of a file, or map those of at least one dimension."""
    check_file(path)
    if not zipfile.is_zipfile(path) or not stays_on_disk(_size(path), mapped):
        return read_npz(path)
    with reading(path, ".npz file"), zipfile.ZipFile(path) as file:
        check_expansion(path, _size(path), on_disk=True)
        members = [each for each in file.infolist() if each.filename.endswith(".npy")]
        return {each.filename.removesuffix(".npy"): _mapped(path, file, each) for each in members}


def _size(path: Path) -> int:
    with reading(path, ".npz file"), zipfile.ZipFile(path) as file:
        return sum(each.file_size for each in file.infolist())


def _mapped(path: Path, file: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    with file.open(member) as stream:
        shape, fortran, dtype = _header(stream)
        before = stream.tell()
    if dtype.hasobject:
        raise VMGError(f"{path} holds pickled objects, which are never opened. Write its arrays as numbers.")
    if not shape or 0 in shape or fortran:
        with file.open(member) as stream:
            whole: NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
            return whole
    if member.compress_type == zipfile.ZIP_STORED:
        return np.memmap(path, dtype, "r", offset=_begin(path, member) + before, shape=shape)

    def pieces() -> Iterator[NDArray[Any]]:
        with file.open(member) as stream:
            _header(stream)
            while content := stream.read(PIECE - PIECE % dtype.itemsize):
                yield np.frombuffer(content, dtype)

    return unpacked(path, member.filename.removesuffix(".npy"), shape, dtype, pieces)


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, fortran, dtype = read(stream)
    return shape, fortran, dtype


def _begin(path: Path, member: zipfile.ZipInfo) -> int:
    """Where the content of a member begins in the file."""
    with open(path, "rb") as file:
        file.seek(member.header_offset + _LOCAL_HEADER - 4)
        lengths = np.frombuffer(file.read(4), "<u2")
    return member.header_offset + _LOCAL_HEADER + int(lengths.sum())
