"""Names for columns of the observation, as a data set gives them: {"joints": (0, 1), "hand": (4, 5)}.

A name may stand for one column or for several, and a column may have several names.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from vmg.base.errors import VMGError

Fields = Mapping[str, tuple[int, ...]]


def checked_fields(fields: Any, size: int, source: str) -> dict[str, tuple[int, ...]]:
    """Return fields with their columns as tuples, or refuse those that an observation of this size does not have."""
    if not isinstance(fields, Mapping):
        raise VMGError(f"{source}: fields must be names, each with its columns, not {fields!r}.")
    return {str(name): _checked(name, columns, size, source) for name, columns in fields.items()}


def field_columns(sizes: Iterable[tuple[str, int]]) -> dict[str, tuple[int, ...]]:
    """Return fields of parts that lie side by side, given the name and size of each; a part without name has none."""
    fields, begin = {}, 0
    for name, size in sizes:
        if name:
            fields[name] = tuple(range(begin, begin + size))
        begin += size
    return fields


def column_names(fields: Fields, size: int) -> list[str]:
    """Return the most exact name of every column: its own, or "hand[1]" for a part of several, or its number."""
    names = [str(column) for column in range(size)]
    for field, columns in sorted(fields.items(), key=lambda each: -len(each[1])):
        for place, column in enumerate(columns):
            names[column] = field if len(columns) == 1 else f"{field}[{place}]"
    return names


def fields_in_words(fields: Fields) -> str:
    """List fields with their columns: "joints (0, 1), hand (4, 5)"."""
    return ", ".join(f"{name} ({columns_in_words(columns)})" for name, columns in fields.items()) or "none"


def columns_in_words(columns: Sequence[int]) -> str:
    """List columns, those in a row as a range: "0-8, 18"."""
    runs: list[list[int]] = []
    for column in columns:
        if runs and column == runs[-1][-1] + 1:
            runs[-1].append(column)
        else:
            runs.append([column])
    words = [[str(column) for column in run] if len(run) < 3 else [f"{run[0]}-{run[-1]}"] for run in runs]
    return ", ".join(word for run in words for word in run)


def moved_fields(before: Fields, now: Fields) -> str:
    """Say which names stand for other columns now than before; nothing where none does, or none is known to both."""
    moved = [name for name in before if name in now and tuple(before[name]) != tuple(now[name])]
    each = [f"{name} was {columns_in_words(before[name])} and is {columns_in_words(now[name])}" for name in moved]
    return "; ".join(each)


def kept_fields(fields: Fields, columns: Sequence[int]) -> dict[str, tuple[int, ...]]:
    """Return the names that stand, where only these columns remain, in this order; a field keeps all of its columns."""
    place = {column: i for i, column in enumerate(columns)}
    whole = {name: old for name, old in fields.items() if all(column in place for column in old)}
    return {name: tuple(place[column] for column in old) for name, old in whole.items()}


def common_fields(several: Sequence[Fields], source: str) -> dict[str, tuple[int, ...]]:
    """Return the names that all have, or refuse sets in which one name stands for different columns."""
    first, *others = several
    for other in others:
        if moved := moved_fields(first, other):
            raise VMGError(
                f"{source}: these have their columns in different orders: {moved}. Read them in one order; in a table, "
                "state=NAME,NAME gives it."
            )
    return {name: columns for name, columns in first.items() if all(each.get(name) == columns for each in others)}


def _checked(name: Any, columns: Any, size: int, source: str) -> tuple[int, ...]:
    try:
        checked = tuple(range(size)[column] for column in columns)
    except (TypeError, IndexError):
        checked = ()
    if not checked or len(set(checked)) < len(checked):
        raise VMGError(
            f"{source}: the field {name!r} must name different columns of the observation, 0 to {size - 1}, "
            f"not {columns!r}."
        )
    return checked
