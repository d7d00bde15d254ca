"""A graph as the arrays of `graph.npz`, and back: none that others tell, and floats with their bytes apart.

states, features    the rows of vertices in all recorded observations and features, where these are kept
places              the goal columns of all recorded observations, where these are kept
x.high, x.low       a table of float32: sign, exponent and first digits, byte by byte and column by column, which
                    compress well; and the other digits as they are, since they do not
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from vmg.base.types import Float32s
from vmg.graph import MemoryGraph, Recordings, Unrecorded

_OPTIONAL = ("recordings", "goal_columns", "places", "observations", "unrecorded", "falls", "unhandled")
HIGH, LOW = ".high", ".low"


def graph_arrays(graph: MemoryGraph) -> dict[str, np.ndarray]:
    """Return what the file keeps."""
    arrays = {name: array for name, array in _arrays(graph).items() if name not in _OPTIONAL}
    if graph.recordings:
        arrays |= _arrays(graph.recordings, "recorded_")
    if graph.unrecorded:
        arrays |= _arrays(graph.unrecorded, "unrecorded_")
    listed = {"falls": graph.falls, "unhandled": graph.unhandled}
    arrays |= {name: array for name, array in listed.items() if len(array)}
    kept = {"places": graph.places, "observations": graph.observations}
    arrays |= {name: array for name, array in kept.items() if array is not None}
    told = _told(arrays, graph.goal_columns)
    same = [name for name in told if name in arrays and np.array_equal(arrays[name], told[name])]
    return _apart({name: array for name, array in arrays.items() if name not in same})


def graph_of(arrays: Mapping[str, np.ndarray], goal_columns: tuple[int, ...]) -> MemoryGraph:
    """Undo `graph_arrays`; files that hold every array as it is are read, too."""
    whole = _together(arrays)
    whole = _told(whole, goal_columns) | whole
    places = whole.pop("places", None)
    kept, beyond = (
        {name.removeprefix(prefix): whole.pop(name) for name in list(whole) if name.startswith(prefix)}
        for prefix in ("recorded_", "unrecorded_")
    )
    return MemoryGraph(
        **{**whole, "radius": float(whole["radius"])},  # type: ignore[arg-type]
        recordings=Recordings(**kept) if kept else None,
        goal_columns=goal_columns if places is not None else (),
        places=places,
        unrecorded=_unrecorded(**beyond) if beyond else None,
    )


def _arrays(record: Any, prefix: str = "") -> dict[str, np.ndarray]:
    return {f"{prefix}{each.name}": np.asarray(getattr(record, each.name)) for each in fields(record)}


def _told(arrays: Mapping[str, np.ndarray], goal_columns: tuple[int, ...]) -> dict[str, np.ndarray]:
    """Look up what all recorded observations and features, where they are kept, say of vertices and goal columns."""
    observations = arrays.get("recorded_observations", arrays.get("observations"))
    tables = {"states": observations, "features": arrays.get("recorded_features")}
    told = {name: table[arrays["rows"]] for name, table in tables.items() if table is not None}
    if goal_columns and observations is not None:
        told["places"] = observations[:, list(goal_columns)]
    return told


def _unrecorded(*, sources: np.ndarray, **arrays: np.ndarray) -> Unrecorded:
    return Unrecorded(sources=tuple(map(str, sources.tolist())), **arrays)


# --- bytes ------------------------------------------------------------------------------------------------------------


def _apart(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Replace tables of float32 by their bytes."""
    found: dict[str, np.ndarray] = {}
    for name, array in arrays.items():
        found |= _bytes_of(name, array) if array.dtype == np.float32 and array.ndim == 2 else {name: array}
    return found


def _bytes_of(name: str, table: Float32s) -> dict[str, np.ndarray]:
    halves = np.ascontiguousarray(table, "<f4").view("<u2").reshape(*table.shape, 2)
    first = np.ascontiguousarray(halves[..., 1].T)
    high = np.stack([(first >> 8).astype(np.uint8), first.astype(np.uint8)])
    return {name + HIGH: high, name + LOW: np.ascontiguousarray(halves[..., 0])}


def _together(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Undo `_apart`."""
    names = [name.removesuffix(HIGH) for name in arrays if name.endswith(HIGH)]
    halves = {each + end for each in names for end in (HIGH, LOW)}
    others = {name: array for name, array in arrays.items() if name not in halves}
    return others | {name: _table(arrays[name + HIGH], arrays[name + LOW]) for name in names}


def _table(high: np.ndarray, low: np.ndarray) -> Float32s:
    if high.dtype != np.uint8 or low.dtype != np.uint16 or high.shape != (2, *low.shape[::-1]):
        raise ValueError("the two halves of a table do not fit")
    halves = np.empty((*low.shape, 2), "<u2")
    halves[..., 0] = low
    halves[..., 1] = (high[0].T.astype("<u2") << 8) | high[1].T
    table: Float32s = halves.view("<f4")[..., 0]
    return table
