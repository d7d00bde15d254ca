"""Which parts of a structured observation make the state.

Goal environments hand out a dict (of dicts, or tuples) where this project needs one vector. Every array in it is a
*leaf* with a dotted path as its name, "achieved_goal.kettle", and *keys* are the leaves that make the state, in order:

    {"achieved_goal": (2,), "desired_goal": (2,), "observation": (27,)}
    keys ("achieved_goal", "observation")  →  (29,)

A plain array is its own single leaf, called "". Data and evaluation use the same two functions, so a policy sees in the
environment what it saw in the data.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vmg.errors import VMGError


def choose_keys(
    names: Iterable[str], keys: Sequence[str] | None = None, *, source: str = "observation"
) -> tuple[str, ...]:
    """Return the leaves that make the state: `keys` if they all exist, else the default.

    The default is "observation", with "achieved_goal" before it where that is one array (a maze's position) and not a
    dict (the kitchen's objects); never "desired_goal". Without an "observation", every leaf in sorted order.
    """
    there = sorted(names)
    if keys is None:
        return _default_keys(there)
    chosen = (keys,) if isinstance(keys, str) else tuple(keys)
    if there == [""]:
        raise VMGError(f"{source}: the observation is one plain vector, so it takes no keys. Leave keys out.")
    missing = [key for key in chosen if key not in there]
    if missing or not chosen:
        what = f"has no {', '.join(map(repr, missing))}" if missing else "needs at least one key"
        raise VMGError(f"{source}: the observation {what}. Choose keys from: {', '.join(there)}.")
    return chosen


def join_leaves(observation: Any, keys: Sequence[str], *, batch: bool = False) -> NDArray[Any]:
    """Put the chosen leaves of an observation side by side: one vector, or with `batch` one a row."""
    named = leaves(observation)
    parts = [np.asarray(named[key]) for key in keys]
    flat = [part.reshape(len(part), -1) if batch else part.reshape(-1) for part in parts]
    return flat[0] if len(flat) == 1 else np.concatenate(flat, axis=-1)


def leaves(structure: Any, path: str = "") -> dict[str, Any]:
    """Name everything that is neither a dict nor a tuple by its dotted path, "" for a structure that is one leaf."""
    if isinstance(structure, Mapping):
        below = [(str(name), value) for name, value in structure.items()]
    elif isinstance(structure, tuple):
        below = [(str(i), value) for i, value in enumerate(structure)]
    else:
        return {path: structure}
    found: dict[str, Any] = {}
    for name, value in below:
        found |= leaves(value, f"{path}.{name}" if path else name)
    return found


def _default_keys(there: list[str]) -> tuple[str, ...]:
    if "observation" not in there:
        return tuple(there)
    return ("achieved_goal", "observation") if "achieved_goal" in there else ("observation",)
