"""Reader for HDF5 files of plain arrays."""

from pathlib import Path

from vmg.base.arguments import checked
from vmg.data.episodes import Episodes
from vmg.data.readers.arrays import FIELDS, from_fields
from vmg.data.readers.base import READERS, Reader
from vmg.data.readers.hdf5_arrays import read_arrays


@checked
def read_hdf5(path: str | Path) -> Episodes:
    """Read episodes from an HDF5 file, with the arrays of any layout of `vmg.data.readers.arrays` at its root."""
    path = Path(path).expanduser()
    return from_fields(read_arrays(path, FIELDS), f"hdf5:{path}")


READERS.add("hdf5", Reader(read_hdf5, example="hdf5:episodes.hdf5", looks_like="*.h5"))
