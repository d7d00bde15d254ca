"""Columns of Parquet files as arrays; a column of lists of one length is a matrix."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vmg.base.console import progress_bar
from vmg.base.errors import VMGError, require
from vmg.base.files import check_expansion, reading


def read_parquet(paths: Sequence[Path], names: Sequence[str] | None = None) -> dict[str, NDArray[Any]]:
    """Read these columns, or all, of Parquet files that hold the rows of one table in order."""
    pyarrow, parquet = require("pyarrow", "tables"), require("pyarrow.parquet", "tables")
    tables = []
    with progress_bar(f"Reading {paths[0].name}", len(paths)) as advance:
        for i, path in enumerate(paths):
            with reading(path, "Parquet file"):
                check_expansion(path, 8 * _values(parquet.read_metadata(path)))
                tables.append(parquet.read_table(path, columns=None if names is None else list(names)))
            advance(i + 1)
    try:
        table = pyarrow.concat_tables(tables, promote_options="permissive").combine_chunks()
    except (ValueError, TypeError) as error:
        raise VMGError(f"{paths[0].parent}: the files do not have the same columns: {error}.") from error
    return {name: _array(table.column(name), name, paths[0]) for name in table.column_names}


def _values(metadata: Any) -> int:
    """Count the values in all columns, those in lists one by one."""
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    return sum(group.column(i).num_values for group in groups for i in range(group.num_columns))


def _array(column: Any, name: str, path: Path) -> NDArray[Any]:
    types = require("pyarrow.types", "tables")
    column = column.combine_chunks()
    is_list = types.is_list(column.type) or types.is_large_list(column.type) or types.is_fixed_size_list(column.type)
    if not is_list:
        filled = column.fill_null(False) if types.is_boolean(column.type) else column
        values: NDArray[Any] = filled.to_numpy(zero_copy_only=False)
        return values
    flat = column.flatten().to_numpy(zero_copy_only=False)
    sizes = np.unique(require("pyarrow.compute", "tables").list_value_length(column).to_numpy(zero_copy_only=False))
    if len(sizes) != 1 or np.isnan(sizes[0]) or len(flat) != len(column) * sizes[0]:
        raise VMGError(f"{path}: the lists in the column {name!r} are of different lengths.")
    matrix: NDArray[Any] = flat.reshape(len(column), int(sizes[0]))
    return matrix
