"""Reader for .npz files of plain arrays, and this project's own one-file form of `Episodes`, which is one of them."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from vmg.base import files
from vmg.data.episodes import Episodes
from vmg.data.readers.arrays import OWN, from_fields
from vmg.data.readers.base import READERS, Reader


def read_npz(path: str | Path) -> Episodes:
    """Read episodes from a .npz file in any layout of `vmg.data.readers.arrays`."""
    path = Path(path).expanduser()
    fields = files.read_npz(path)
    episodes = from_fields(fields, f"npz:{path}")
    if "source" in fields and fields["source"].dtype.kind == "U" and fields["source"].ndim == 0:
        return replace(episodes, source=str(fields["source"]))
    return episodes


def save(episodes: Episodes, path: str | Path) -> None:
    """Write episodes to one .npz file that `read_npz` reads back exactly."""
    arrays = {name: getattr(episodes, name) for name in OWN}
    files.write_npz(Path(path).expanduser(), arrays | {"source": np.array(episodes.source)})


READERS.add("npz", Reader(read_npz, example="npz:episodes.npz", looks_like="*.npz"))
