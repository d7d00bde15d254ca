"""Columns of a table by name: CSV (commas, semicolons or tabs) and Parquet."""

import csv
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from vmg.base.errors import VMGError
from vmg.base.files import reading
from vmg.data.readers.parquet_arrays import map_parquet

DELIMITERS = ",;\t"
ROWS_AT_ONCE = 50_000
_PARQUET = (".parquet", ".pq")
_WORDS = {"": np.nan, "true": 1.0, "false": 0.0}


def read_columns(path: Path, mapped: bool | None = None) -> dict[str, NDArray[Any]]:
    """Return every column: numbers where all cells are (an empty one is NaN), texts elsewhere.

    `mapped`: whether columns of Parquet files are left on disk (see `vmg.data.mapping`).
    """
    columns = map_parquet(path, mapped) if path.suffix.lower() in _PARQUET else _read_csv(path)
    if not columns or not len(next(iter(columns.values()))):
        raise VMGError(f"{path}: there is not a single row in it.")
    return columns


def place_of(path: Path, row: int) -> str:
    """Say where a row stands, from 0 on: in which line of a CSV file, where a row may take several, or none."""
    if path.suffix.lower() in _PARQUET:
        return f"row {row + 1}"
    with reading(path, "CSV file"), open(path, newline="", encoding="utf-8-sig") as file:
        lines = _lines(file)
        next(lines)
        numbers = (lines.line_num for cells in lines if cells)
        return f"line {next(islice(numbers, row, None))}"


def _lines(file: TextIO) -> Any:
    """Return the reader of a CSV file, which knows the number of each line."""
    delimiter = max(DELIMITERS, key=file.readline().count)
    file.seek(0)
    return csv.reader(file, delimiter=delimiter)


def _read_csv(path: Path) -> dict[str, NDArray[Any]]:
    with reading(path, "CSV file"), open(path, newline="", encoding="utf-8-sig") as file:
        lines = _lines(file)
        names = [name.strip() for name in next(lines, [])]
        _check_header(names, path)
        parts = [_columns(rows) for rows in _batches(lines, len(names), path)]
    return {name: _joined([part[i] for part in parts]) for i, name in enumerate(names) if parts}


def _check_header(names: Sequence[str], path: Path) -> None:
    if numbers := [name for name in names if is_number(name)]:
        raise VMGError(f"{path}: the first line must name the columns, but has the number {numbers[0]}.")
    if twice := [name for i, name in enumerate(names) if name in names[:i]]:
        raise VMGError(f"{path}: two columns are called {twice[0]!r}. Give every column a name of its own.")


def _batches(lines: Any, width: int, path: Path) -> Iterator[list[list[str]]]:
    """Yield the rows, many at once but never all: texts take far more memory than numbers."""
    rows = iter((lines.line_num, row) for row in lines if row)
    while batch := list(islice(rows, ROWS_AT_ONCE)):
        for number, row in batch:
            if len(row) != width:
                raise VMGError(f"{path}: line {number} has {len(row)} cells, but the first has {width} names.")
        yield [row for _, row in batch]


def _columns(rows: list[list[str]]) -> list[NDArray[Any]]:
    return [_array(cells) for cells in zip(*rows, strict=True)]


def _array(cells: Sequence[str]) -> NDArray[Any]:
    try:
        return np.array(cells, dtype=np.float64)
    except ValueError:
        pass
    try:
        return np.array([_number(cell) for cell in cells])
    except ValueError:
        return np.array(cells, dtype=object)


def _joined(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    numbers = all(part.dtype == np.float64 for part in parts)
    return np.concatenate(parts if numbers else [part.astype(str).astype(object) for part in parts])


def _number(cell: str) -> float:
    text = cell.strip().lower()
    return _WORDS[text] if text in _WORDS else float(text)


def is_number(text: str) -> bool:
    """Whether a text is a number as Python writes them."""
    try:
        float(text)
    except ValueError:
        return False
    return True
