"""Reader for OGBench's npz files, as downloaded and in the two layouts its own loader makes of them.

                       as downloaded        compact              regular
    observations       s0 s1 s2 s3          s0 s1 s2 s3          s0 s1 s2
    actions            a0 a1 a2 a3          a0 a1 a2 a3          a0 a1 a2
    next_observations                                            s1 s2 s3
    terminals           0  0  0  1           0  0  1  1           0  0  1
    valids                                   1  1  1  0

In the first two, an episode's last row is only its final state: a3 was never carried out.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vmg.base.arguments import checked
from vmg.base.errors import VMGError
from vmg.data.episodes import Episodes
from vmg.data.readers.base import READERS, Reader
from vmg.data.readers.npz_arrays import read_arrays
from vmg.data.steps import StepLog, assemble, check_rows, column, flag_column

NEEDED = ("observations", "actions", "terminals")
OPTIONAL = ("rewards", "next_observations", "valids")


@checked
def read_ogbench(path: str | Path, *, mapped: bool | None = None) -> Episodes:
    """Read an OGBench file.

    Files without `rewards` (all that are made for many goals) get rewards of 0: give them some with `relabel`, or solve
    for a goal. OGBench's `terminals` mark where a recording stops, so every episode counts as truncated.

    `mapped`: leave its arrays on disk; None: if they take more than a quarter of the free memory.
    """
    path = Path(path).expanduser()
    source = f"ogbench:{path}"
    fields = read_arrays(path, mapped)
    for name in NEEDED:
        if name not in fields:
            there = ", ".join(sorted(fields)) or "nothing"
            raise VMGError(
                f"{source}: there is no field {name!r}. An OGBench file needs {', '.join(NEEDED)}; "
                f"what it holds: {there}."
            )
    check_rows({name: fields[name] for name in NEEDED + OPTIONAL if name in fields}, source)
    ends = _ends(fields, source)
    log = StepLog(
        observations=fields["observations"],
        actions=fields["actions"],
        rewards=column(fields, "rewards", source) if "rewards" in fields else np.zeros(len(ends)),
        terminals=np.zeros_like(ends),
        timeouts=ends,
        next_observations=fields.get("next_observations"),
        source=source,
    )
    return assemble(log, last_row_acts="next_observations" in fields)


READERS.add(
    "ogbench",
    Reader(read_ogbench, example="ogbench:pointmaze-medium-navigate-v0.npz", options={"mapped": bool}),
)


def _ends(fields: dict[str, NDArray[Any]], source: str) -> NDArray[np.bool_]:
    """Mark the last row of each episode; in the compact layout `terminals` marks two, and the second is not valid."""
    return ~flag_column(fields, "valids", source) if "valids" in fields else flag_column(fields, "terminals", source)
