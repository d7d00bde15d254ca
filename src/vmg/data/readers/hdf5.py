"""Reader for HDF5 files of plain arrays."""

from pathlib import Path

from vmg.base.arguments import checked
from vmg.data.episodes import Episodes
from vmg.data.readers.arrays import FIELDS, from_fields
from vmg.data.readers.base import READERS, Reader
from vmg.data.readers.hdf5_arrays import read_arrays


@checked
def read_hdf5(path: str | Path, *, mapped: bool | None = None) -> Episodes:
    """Read episodes from an HDF5 file, with the arrays of any layout of `vmg.data.readers.arrays` at its root.

    `mapped`: leave its arrays on disk; None: if they take more than a quarter of the free memory.
    """
    path = Path(path).expanduser()
    return from_fields(read_arrays(path, FIELDS, mapped), f"hdf5:{path}")


READERS.add("hdf5", Reader(read_hdf5, example="hdf5:episodes.hdf5", options={"mapped": bool}, looks_like="*.h5"))
