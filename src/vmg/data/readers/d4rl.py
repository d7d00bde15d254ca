"""Reader for D4RL's HDF5 files: one row per step, the ends of episodes marked by `terminals` and `timeouts`."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vmg.base.arguments import checked
from vmg.base.errors import VMGError
from vmg.data.episodes import Episodes
from vmg.data.readers.base import READERS, Reader
from vmg.data.readers.hdf5_arrays import read_arrays
from vmg.data.steps import StepLog, assemble, check_rows, column, flag_column

NEEDED = ("observations", "actions", "rewards", "terminals")
OPTIONAL = ("timeouts", "next_observations")
KITCHEN_STATE = 30
"""The state in a kitchen file, 9 joints and 21 numbers of objects; a goal of the same size stands after it."""


@checked
def read_d4rl(path: str | Path, *, reward_on_arrival: bool | None = None, mapped: bool | None = None) -> Episodes:
    """Read a D4RL file.

    With `next_observations` every row is a step and each episode ends in its last next observation. Without, the last
    action of each episode is dropped, and a `DataWarning` counts the rewards lost that way. A tail without an end mark
    is kept as truncated.

    `reward_on_arrival`: the kitchen files store a reward with the state that earns it, so r_t = stored[t+1]. Then no
    reward is lost at the end, but what the first row holds is, because no step leads there. None: true for files with
    "kitchen" in their name.

    `mapped`: leave its arrays on disk; None: if they take more than a quarter of the free memory.

    In kitchen files, the last 30 of the 60 numbers in a row are a goal that never changes; they are left out.
    """
    path = Path(path).expanduser()
    source = f"d4rl:{path}"
    fields = read_arrays(path, NEEDED + OPTIONAL, mapped)
    for name in NEEDED:
        if name not in fields:
            raise VMGError(f"{source}: there is no field {name!r}. A D4RL file needs {', '.join(NEEDED)}.")
    check_rows(fields, source)
    is_kitchen = "kitchen" in path.name
    if is_kitchen:
        fields |= _without_goal(fields)
    terminals = flag_column(fields, "terminals", source)
    log = StepLog(
        observations=fields["observations"],
        actions=fields["actions"],
        rewards=column(fields, "rewards", source),
        terminals=terminals,
        timeouts=flag_column(fields, "timeouts", source) if "timeouts" in fields else np.zeros_like(terminals),
        next_observations=fields.get("next_observations"),
        source=source,
    )
    if reward_on_arrival is None:
        reward_on_arrival = is_kitchen
    return assemble(log, reward_on_arrival=reward_on_arrival)


READERS.add(
    "d4rl",
    Reader(
        read_d4rl,
        example="d4rl:hopper_medium-v2.hdf5",
        options={"reward_on_arrival": bool, "mapped": bool},
        looks_like="*.hdf5",
    ),
)


def _without_goal(fields: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the observations of a kitchen file without the goal, where there is one."""
    found = {name: fields[name] for name in ("observations", "next_observations") if name in fields}
    with_goal = {name: values for name, values in found.items() if values.shape[1:] == (2 * KITCHEN_STATE,)}
    return {name: values[:, :KITCHEN_STATE] for name, values in with_goal.items()}
