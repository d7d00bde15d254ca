"""The columns of the observation as a table for the terminal: one row per column, or per run of alike ones."""

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from vmg.base.arguments import checked
from vmg.data.columns import Column
from vmg.data.fields import columns_in_words
from vmg.data.summary import number_in_words

if TYPE_CHECKING:
    from rich.console import RenderableType

MANY = 24  # columns beyond which alike ones share a row


@checked
def render_columns(columns: Sequence[Column]) -> "RenderableType":
    """Lay the columns out; in a wide observation, neighbours of one field and one kind share a row."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("column", "name", "from", "to", ""):
        table.add_column(heading, justify="right" if heading in ("from", "to") else "left", overflow="fold")
    for run in _runs(columns):
        low, high = min(each.smallest for each in run), max(each.largest for each in run)
        place = columns_in_words([each.column for each in run])
        table.add_row(place, Text(_name(run)), number_in_words(low), number_in_words(high), Text(_remark(run)))
    return table


def _runs(columns: Sequence[Column]) -> list[list[Column]]:
    if len(columns) <= MANY:
        return [[column] for column in columns]
    return [list(run) for _, run in groupby(columns, key=lambda column: (_field(column), _kind(column)))]


def _name(run: Sequence[Column]) -> str:
    if len(run) == 1:
        return "" if run[0].name == str(run[0].column) else run[0].name
    return _field(run[0])


def _remark(run: Sequence[Column]) -> str:
    if len(run) == 1 or run[0].remark == _kind(run[0]):
        return run[0].remark
    return {"copy": "copies of others", "speed": "speeds of others"}[_kind(run[0])]


def _field(column: Column) -> str:
    """Return the field a column belongs to: "hand" of "hand[1]"; nothing for one without a name."""
    return "" if column.name == str(column.column) else column.name.rpartition("[")[0] or column.name


def _kind(column: Column) -> str:
    return column.remark.partition(" of ")[0]
