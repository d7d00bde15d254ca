"""Reading named arrays from HDF5 files, with every failure a sentence that names the file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vmg.base.errors import VMGError
from vmg.base.files import check_expansion, reading
from vmg.data.mapping import slices, stays_on_disk, unpacked


def read_arrays(path: Path, names: Sequence[str], mapped: bool | None = False) -> dict[str, NDArray[Any]]:
    """Read those of the named arrays that stand at the root of the file, whole, or map them (see `mapping`)."""
    import h5py  # here, so that data of other formats does not need it

    with reading(path, "HDF5 file"), h5py.File(path, "r") as file:
        found = {name: file[name] for name in names if name in file}
        _refuse_groups(path, found, h5py.Dataset)
        size = sum(dataset.nbytes for dataset in found.values())
        on_disk = stays_on_disk(size, mapped)
        check_expansion(path, size, on_disk=on_disk)
        take = _mapped if on_disk else _whole
        arrays = {name: take(path, name, dataset) for name, dataset in found.items()}
        return arrays or _refuse_nothing(path, names, sorted(file))


def _whole(path: Path, name: str, dataset: Any) -> NDArray[Any]:
    return np.asarray(dataset[()])


def _mapped(path: Path, name: str, dataset: Any) -> NDArray[Any]:
    """Map what lies in the file in one piece; what is compressed or in chunks is unpacked."""
    if dataset.ndim == 0 or 0 in dataset.shape or dataset.dtype.kind not in "biuf":
        return _whole(path, name, dataset)
    begin = dataset.id.get_offset()
    if begin is not None:
        return np.memmap(path, dataset.dtype, "r", offset=begin, shape=dataset.shape)
    return unpacked(path, name, dataset.shape, dataset.dtype, lambda: (dataset[rows] for rows in slices(dataset)))


def _refuse_groups(path: Path, found: dict[str, Any], dataset_type: type) -> None:
    for name, item in found.items():
        if not isinstance(item, dataset_type):
            raise VMGError(f"{path}: {name} is a group of arrays, but must be one array. Flatten it into one first.")


def _refuse_nothing(path: Path, names: Sequence[str], there: list[str]) -> dict[str, NDArray[Any]]:
    raise VMGError(
        f"{path} holds none of the fields {', '.join(names)} at its root; what it holds: "
        f"{', '.join(there) or 'nothing'}."
    )
