"""Reader for tables, CSV or Parquet: one row per observation, and a column that says which episode it belongs to.

    episode   q0    q1    hand_x   a0    a1    reward
    0         0.1   0.5   0.3      1.0   0.0   0         seen, then done, then earned
    0         0.2   0.5   0.4      1.0   0.2   1
    0         0.3   0.6   0.5                            the final state; an action here is left out

What each column is, is guessed from its name or named in options (see `vmg.data.readers.table_roles`).
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vmg.base.arguments import checked
from vmg.base.errors import VMGError
from vmg.base.types import Bools, Int64s
from vmg.data.contents import left_out, warn
from vmg.data.counting import counted
from vmg.data.episodes import Episodes
from vmg.data.fields import field_columns
from vmg.data.mapping import beside, taken
from vmg.data.readers.base import READERS, Reader, with_options
from vmg.data.readers.table_files import read_columns
from vmg.data.readers.table_roles import Roles, assign
from vmg.data.steps import StepLog, assemble

Columns = Mapping[str, NDArray[Any]]


@checked
def read_table(
    path: str | Path, *, episode: str | None = None, state: str | None = None, action: str | None = None,
    reward: str | None = None, terminated: str | None = None, truncated: str | None = None, step: str | None = None,
    reward_on_arrival: bool = False, mapped: bool | None = None,
) -> Episodes:  # fmt: skip
    """Read a table; each part is a column, or several columns and patterns, "q*,hand_?"; "" means none.

    Where nothing says otherwise, columns are found by their names, and rewards are 0. `next_` columns of the whole
    state give the state after the last action. Without them an episode's last row only serves as its final state: its
    action is left out, and the step before earns its reward if it has none. `reward_on_arrival`: a row's reward
    was earned by the step that led there. `mapped`: leave the columns of a Parquet file on disk; None: if they take
    more than a quarter of the free memory.
    """
    path = Path(path).expanduser()
    source = f"table:{path}"
    columns = read_columns(path, mapped)
    named: dict[str, Any] = {
        "episode": episode, "state": state, "action": action, "reward": reward, "terminated": terminated,
        "truncated": truncated, "step": step,
    }  # fmt: skip
    roles = assign(columns, named, source)
    rows, ends = _in_order(columns, roles, source)
    _warn_of_gaps(rows, roles, ends, source)
    if not state:
        _refuse_what_ends_before(rows, roles, ends, source)
    log = _log(rows, roles, ends, source)
    episodes = assemble(log, reward_on_arrival=reward_on_arrival, keep_last_reward=True)
    called = with_options(source, named | {"reward_on_arrival": reward_on_arrival or None})
    return replace(episodes, source=called, left_out=_left_out(rows, roles, log))


READERS.add(
    "table",
    Reader(
        read_table,
        example="table:log.csv",
        options={
            **dict.fromkeys(("episode", "state", "action", "reward", "terminated", "truncated", "step"), str),
            "reward_on_arrival": bool,
            "mapped": bool,
        },
        looks_like="*.csv *.parquet",
    ),
)


def _in_order(columns: Columns, roles: Roles, source: str) -> tuple[dict[str, NDArray[Any]], Bools]:
    """Return the rows, episode by episode in the order of time, and a mark at the last row of each."""
    if not roles.episode:
        return dict(columns), _marks(columns, roles)
    episode = _episodes(columns, roles)
    step = columns[roles.step] if roles.step else np.zeros(len(episode))
    same = np.diff(episode) == 0
    rows = dict(columns)
    if (np.diff(episode) < 0).any() or (same & (np.diff(step) < 0)).any():
        order = np.lexsort((step, episode))
        _refuse_ties(step[order], episode[order], roles, source)
        rows, episode = {name: taken(cells, order) for name, cells in columns.items()}, episode[order]
    return rows, np.append(np.diff(episode) != 0, True)


def _refuse_ties(step: NDArray[Any], episode: Int64s, roles: Roles, source: str) -> None:
    """Refuse rows of one episode that lie apart, or not in the order of time, where no step puts them in order."""
    if ((np.diff(episode) == 0) & ~(np.diff(step) > 0)).any():
        why = f"and several have the same {roles.step!r}" if roles.step else "and no column says how they follow"
        raise VMGError(
            f"{source}: the rows of an episode do not stand together, {why}. Name the column that does with "
            "step=COLUMN, or, where several logs number their episodes alike, all columns that tell episodes apart: "
            f"episode={','.join(('LOG', *roles.episode))}."
        )


def _warn_of_gaps(rows: Columns, roles: Roles, ends: Bools, source: str) -> None:
    """Say where a counter of steps leaves some out; times that are measured, with no usual difference, say nothing."""
    if not roles.step:
        return
    apart = np.diff(rows[roles.step].astype(np.float64))[~ends[:-1]]
    values, counts = np.unique(apart, return_counts=True)
    if not len(values) or 2 * counts.max() <= len(apart) or (usual := values[counts.argmax()]) <= 0:
        return
    if gaps := int((apart >= 2 * usual).sum()):
        warn(
            f"{source}: {counted(gaps, 'time')} {roles.step!r} goes on by more than the usual {usual:g}: rows are "
            "missing there, and what lies on either side counts as one step."
        )


def _refuse_what_ends_before(rows: Columns, roles: Roles, ends: Bools, source: str) -> None:
    """Refuse a guessed state that is empty just where episodes end, as only actions and rewards are."""
    empty = {name: np.isnan(rows[name].reshape(len(ends), -1).astype(np.float64)).any(1) for name in roles.state}
    if ended := [name for name in roles.state if (empty[name] == ends).all()]:
        raise VMGError(
            f"{source}: {', '.join(ended)} would be part of the state, but the last row of every episode, and no "
            f"other, lacks it. If it is an action or a reward, say so: action=NAME,NAME or reward={ended[0]}. If not, "
            "name the state without it: state=NAME,NAME_*."
        )


def _episodes(columns: Columns, roles: Roles) -> Int64s:
    """Number the episodes in the order in which they appear."""
    number = np.zeros(len(columns[roles.episode[0]]), dtype=np.int64)
    for name in roles.episode:
        cells = columns[name].astype(str) if columns[name].dtype == object else columns[name]
        values, place = np.unique(cells, return_inverse=True)
        number = number * len(values) + place
    _, first, place = np.unique(number, return_index=True, return_inverse=True)
    rank: Int64s = np.argsort(np.argsort(first))[place]
    return rank


def _marks(columns: Columns, roles: Roles) -> Bools:
    ends: Bools = np.logical_or(*(_flags(columns, name) for name in (roles.terminated, roles.truncated)))
    ends[-1] = True
    return ends


def _flags(columns: Columns, name: str) -> Bools:
    if not name:
        return np.zeros(len(next(iter(columns.values()))), dtype=bool)
    flags: Bools = np.nan_to_num(columns[name].astype(np.float64)) != 0
    return flags


def _log(rows: Columns, roles: Roles, ends: Bools, source: str) -> StepLog:
    """Return the log; an episode is terminated if any of its rows says so."""
    first = np.append(0, np.flatnonzero(ends)[:-1] + 1)
    terminals, timeouts = np.zeros((2, len(ends)), dtype=bool)
    terminals[ends] = np.logical_or.reduceat(_flags(rows, roles.terminated), first)
    timeouts[ends] = np.logical_or.reduceat(_flags(rows, roles.truncated), first) | ~terminals[ends]
    after = [_after(name, rows) for name in roles.state]
    return StepLog(
        observations=_beside(rows, roles.state),
        actions=_beside(rows, roles.action),
        rewards=rows[roles.reward].astype(np.float64) if roles.reward else np.zeros(len(ends)),
        terminals=terminals,
        timeouts=timeouts,
        next_observations=_beside(rows, after) if all(after) else None,
        source=source,
        fields=_fields(rows, roles),
    )


def _after(name: str, rows: Columns) -> str:
    return next((f"{word}{name}" for word in ("next_", "next.", "next ") if f"{word}{name}" in rows), "")


def _beside(rows: Columns, names: Any) -> NDArray[Any]:
    return beside([rows[name].reshape(len(rows[name]), -1) for name in names])


def _fields(rows: Columns, roles: Roles) -> dict[str, tuple[int, ...]]:
    """Name every column, and columns that a number or an axis tells apart together: hand_x, hand_y are "hand"."""
    fields = field_columns((name, _width(rows[name])) for name in roles.state)
    groups: dict[str, tuple[int, ...]] = {}
    for name, columns in fields.items():
        if found := re.fullmatch(r"(.*[^_. \[\d])[_. \[]?(\d+\]?|(?<=[_. ])[xyzw])", name):
            groups[found[1]] = groups.get(found[1], ()) + columns
    return fields | {stem: columns for stem, columns in groups.items() if len(columns) > 1 and stem not in fields}


def _left_out(rows: Columns, roles: Roles, log: StepLog) -> dict[str, str]:
    after = {_after(name, rows) for name in roles.state} if log.next_observations is not None else set()
    beside = {name: cells for name, cells in rows.items() if name and name not in roles.used | after}
    numbers = {name: (_width(cells),) for name, cells in beside.items() if cells.dtype.kind in "biuf"}
    return left_out(numbers, ()) | {name: "text" for name in beside if name not in numbers}


def _width(cells: NDArray[Any]) -> int:
    return int(np.prod(cells.shape[1:]))
