"""Reader for .npz files of plain arrays, and this project's own one-file form of `Episodes`, which is one of them."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vmg.base import files
from vmg.base.arguments import checked
from vmg.base.errors import VMGError
from vmg.data.episodes import Episodes
from vmg.data.readers.arrays import OWN, from_fields
from vmg.data.readers.base import READERS, Reader
from vmg.data.readers.npz_arrays import read_arrays


@checked
def read_npz(path: str | Path, *, mapped: bool | None = None) -> Episodes:
    """Read episodes from a .npz file in any layout of `vmg.data.readers.arrays`.

    `mapped`: leave its arrays on disk; None: if they take more than a quarter of the free memory.

    Columns of the observation can have names: `fields`, a text of JSON, '{"hand": [4, 5]}'.
    """
    path = Path(path).expanduser()
    fields = read_arrays(path, mapped)
    episodes = from_fields(fields, f"npz:{path}")
    source = str(fields["source"]) if _is_text(fields.get("source")) else episodes.source
    return replace(episodes, source=source, fields=_column_names(fields.get("fields"), path))


@checked
def save(episodes: Episodes, path: str | Path) -> None:
    """Write episodes to one .npz file that `read_npz` reads back exactly."""
    arrays = {name: getattr(episodes, name) for name in OWN}
    texts = {"source": np.array(episodes.source), "fields": np.array(json.dumps(episodes.fields))}
    files.write_npz(Path(path).expanduser(), arrays | texts)


READERS.add("npz", Reader(read_npz, example="npz:episodes.npz", options={"mapped": bool}, looks_like="*.npz"))


def _is_text(array: NDArray[Any] | None) -> bool:
    return array is not None and array.dtype.kind == "U" and array.ndim == 0


def _column_names(told: NDArray[Any] | None, path: Path) -> Any:
    try:
        return json.loads(str(told)) if _is_text(told) else {}
    except ValueError as error:
        raise VMGError(
            f'{path}: fields is not JSON ({error}). Write names with their columns: {{"hand": [4, 5]}}.'
        ) from error
