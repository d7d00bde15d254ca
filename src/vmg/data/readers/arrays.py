"""Plain arrays, and the layouts in which .npz and HDF5 files hold them.

Three layouts are understood, by the fields that are there (n steps, e episodes):

    own           observations (n+e), actions, rewards (n), lengths, terminated, truncated (e)
    with lengths  observations, actions, rewards (n), lengths (e), perhaps next_observations (n)
    with marks    observations, actions, rewards (n), perhaps next_observations (n), and marks at the last row of an
                  episode: terminals (or terminations, terminated, dones) and timeouts (or truncations, truncated)

Where `rewards` are missing, they are 0. Without `next_observations`, each episode's last row only serves as its final
state (see `vmg.data.steps`). Pickled objects are never read.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vmg.base.errors import VMGError
from vmg.base.types import Bools, Int64s
from vmg.data.episodes import Episodes
from vmg.data.fields import Fields
from vmg.data.steps import StepLog, assemble, check_rows, column, flag_column

OWN = ("observations", "actions", "rewards", "lengths", "terminated", "truncated")
TERMINALS = ("terminals", "terminations", "terminated", "dones")
TIMEOUTS = ("timeouts", "truncations", "truncated")
FIELDS = ("observations", "actions", "rewards", "next_observations", "lengths", *TERMINALS, *TIMEOUTS)

Arrays = Mapping[str, NDArray[Any]]


def from_arrays(
    observations: ArrayLike, actions: ArrayLike, rewards: ArrayLike | None = None, *, source: str = "arrays",
    fields: Fields | None = None, **arrays: ArrayLike,
) -> Episodes:  # fmt: skip
    """Make episodes of flat arrays in any of this module's layouts, the other arrays by name.

    `fields` are names for columns of the observation, {"hand": (4, 5)}.

    >>> from_arrays([[0.0], [1.0], [2.0]], [[1.0], [1.0], [0.0]], [0, 1, 0], terminals=[0, 0, 1]).lengths
    array([2])
    """
    unknown = sorted(set(arrays) - set(FIELDS))
    if unknown:
        raise VMGError(f"{source}: {', '.join(unknown)} is not a known field. Known are: {', '.join(FIELDS)}.")
    given = {"observations": observations, "actions": actions, "rewards": rewards, **arrays}
    found = {name: _array(name, value, source) for name, value in given.items() if value is not None}
    return replace(from_fields(found, source), fields={} if fields is None else fields)


def from_fields(fields: Arrays, source: str) -> Episodes:
    """Make episodes of named arrays in any of this module's layouts; fields of other names are left alone."""
    for name in ("observations", "actions"):
        if name not in fields:
            there = ", ".join(sorted(fields)) or "nothing"
            raise VMGError(f"{source}: there is no field {name!r}, and no learning without it. What it holds: {there}.")
    if "lengths" in fields and fields["observations"].shape[:1] != fields["actions"].shape[:1]:
        return _own_layout(fields, source)
    check_rows({name: fields[name] for name in _row_fields(fields) if name in fields}, source)
    terminals, timeouts = _ends_by_lengths(fields, source) if "lengths" in fields else _ends_by_marks(fields, source)
    log = StepLog(
        observations=fields["observations"],
        actions=fields["actions"],
        rewards=_rewards(fields, source),
        terminals=terminals,
        timeouts=timeouts,
        next_observations=fields.get("next_observations"),
        source=source,
    )
    return assemble(log)


def _own_layout(fields: Arrays, source: str) -> Episodes:
    terminated, truncated = _episode_flags(fields, _lengths(fields, source), source)
    return Episodes(
        observations=fields["observations"],
        actions=fields["actions"],
        rewards=_rewards(fields, source),
        lengths=fields["lengths"],
        terminated=terminated,
        truncated=truncated,
        source=source,
    )


def _ends_by_lengths(fields: Arrays, source: str) -> tuple[Bools, Bools]:
    lengths, n_rows = _lengths(fields, source), len(fields["observations"])
    if len(lengths) == 0 or (lengths < 1).any() or lengths.sum() != n_rows:
        raise VMGError(
            f"{source}: lengths must be at least 1 each and add up to the {n_rows} rows of observations, but they add "
            f"up to {lengths.sum()}."
        )
    marks = np.zeros((2, n_rows), dtype=bool)
    marks[:, lengths.cumsum() - 1] = _episode_flags(fields, lengths, source)
    return marks[0], marks[1]


def _ends_by_marks(fields: Arrays, source: str) -> tuple[Bools, Bools]:
    terminals, timeouts = (_first_of(fields, names) for names in (TERMINALS, TIMEOUTS))
    if terminals is None and timeouts is None:
        raise VMGError(
            f"{source}: nothing says where episodes end. Add {' or '.join(TERMINALS)}, {' or '.join(TIMEOUTS)} "
            "(1 at the last row of each episode), or lengths (rows of each episode)."
        )
    none = np.zeros(fields["observations"].shape[:1], dtype=bool)
    return (
        none if terminals is None else flag_column(fields, terminals, source),
        none if timeouts is None else flag_column(fields, timeouts, source),
    )


def _episode_flags(fields: Arrays, lengths: Int64s, source: str) -> tuple[Bools, Bools]:
    """Return how each episode ends, from a flag per episode or a mark per step; where nothing is said, truncated."""
    terminals, timeouts = (_first_of(fields, names) for names in (TERMINALS, TIMEOUTS))
    none = np.zeros(len(lengths), dtype=bool)
    terminated = none if terminals is None else _per_episode(fields, terminals, lengths, source)
    return terminated, ~terminated if timeouts is None else _per_episode(fields, timeouts, lengths, source)


def _per_episode(fields: Arrays, name: str, lengths: Int64s, source: str) -> Bools:
    flags = flag_column(fields, name, source)
    if len(flags) == len(lengths):
        return flags
    if len(flags) == lengths.sum() and (lengths > 0).all():
        last: Bools = flags[lengths.cumsum() - 1]
        return last
    raise VMGError(
        f"{source}: {name} has {len(flags)} rows, but needs one per episode ({len(lengths)}) or one per step "
        f"({lengths.sum()})."
    )


def _row_fields(fields: Arrays) -> tuple[str, ...]:
    marks = () if "lengths" in fields else (*TERMINALS, *TIMEOUTS)
    return ("observations", "actions", "rewards", "next_observations", *marks)


def _lengths(fields: Arrays, source: str) -> Int64s:
    lengths = column(fields, "lengths", source)
    if lengths.dtype.kind not in "iu":
        raise VMGError(f"{source}: lengths must be whole numbers, not {lengths.dtype}.")
    return lengths.astype(np.int64)


def _rewards(fields: Arrays, source: str) -> NDArray[Any]:
    return column(fields, "rewards", source) if "rewards" in fields else np.zeros(fields["actions"].shape[:1])


def _first_of(fields: Arrays, names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in fields), None)


def _array(name: str, value: ArrayLike, source: str) -> NDArray[Any]:
    try:
        return np.asarray(value)
    except ValueError as error:  # rows of different sizes
        raise VMGError(f"{source}: {name} is not one array of numbers: {error}") from error
