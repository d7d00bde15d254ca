"""Columns of Parquet files as arrays; a column of lists of one length is a matrix."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vmg.base.console import progress_bar
from vmg.base.errors import VMGError, require
from vmg.base.files import check_expansion, reading
from vmg.data.mapping import stays_on_disk, unpacked

ROWS_AT_ONCE = 65_536


def read_parquet(paths: Sequence[Path], names: Sequence[str] | None = None) -> dict[str, NDArray[Any]]:
    """Read these columns, or all, of Parquet files that hold the rows of one table in order, whole."""
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


def map_parquet(path: Path, mapped: bool | None) -> dict[str, NDArray[Any]]:
    """Read every column of a file; those of floats, which are most of a recording, are left on disk if it is large."""
    parquet = require("pyarrow.parquet", "tables")
    with reading(path, "Parquet file"):
        file = parquet.ParquetFile(path)
        size = 8 * _values(file.metadata)
        if not stays_on_disk(size, mapped):
            return read_parquet([path])
        check_expansion(path, size, on_disk=True)
        widths = {name: _width(file, name) for name in file.schema_arrow.names}
        others = [name for name, width in widths.items() if width is None]
        found = read_parquet([path], others) if others else {}
        return {
            name: found[name] if width is None else _mapped(path, file, name, width) for name, width in widths.items()
        }


def _width(file: Any, name: str) -> int | None:
    """Count the numbers in a cell of a column of floats: 0 where they are no lists; None for other columns."""
    types, kind = require("pyarrow.types", "tables"), file.schema_arrow.field(name).type
    if types.is_floating(kind):
        return 0
    is_list = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    first = next(file.iter_batches(1, columns=[name]), None)
    return len(first.column(0)[0]) if is_list and types.is_floating(kind.value_type) and first is not None else None


def _mapped(path: Path, file: Any, name: str, width: int) -> NDArray[Any]:
    kind = file.schema_arrow.field(name).type
    arrow = require("pyarrow", "tables")
    dtype = arrow.array([], kind.value_type if width else kind).to_numpy().dtype
    shape = (file.metadata.num_rows, width) if width else (file.metadata.num_rows,)

    def pieces() -> Iterator[NDArray[Any]]:
        for batch in file.iter_batches(ROWS_AT_ONCE, columns=[name]):
            yield _array(arrow.chunked_array([batch.column(0)]), name, path)

    return unpacked(path, name, shape, dtype, pieces)


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
