"""The families of rows, in the order in which data pass through the program, and what runs them."""

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Literal, TypeAlias

from benchmarks.rows import Level, Row
from vmg.base.console import say
from vmg.base.errors import VMGError

Family: TypeAlias = Literal[
    "training",
    "kinds",
    "stream",
    "merge",
    "growth",
    "extend",
    "scale",
    "cores",
    "files",
    "values",
    "resolve",
    "decisions",
    "evaluation",
    "startup",
]
FAMILIES: dict[Family, str] = {
    "training": "benchmarks.training",
    "kinds": "benchmarks.kinds",
    "stream": "benchmarks.streaming",
    "merge": "benchmarks.merging",
    "growth": "benchmarks.growth",
    "extend": "benchmarks.extending",
    "scale": "benchmarks.scale",
    "cores": "benchmarks.cores",
    "files": "benchmarks.files",
    "values": "benchmarks.values",
    "resolve": "benchmarks.resolving",
    "decisions": "benchmarks.decisions",
    "evaluation": "benchmarks.evaluation",
    "startup": "benchmarks.startup",
}
"""Name of each family, and the module whose `measure` yields its rows."""


def run(level: Level, families: Sequence[Family] = ()) -> list[Row]:
    """Measure the families named, or all; a row whose peer is not installed is skipped and says so."""
    rows: list[Row] = []
    for family in families or FAMILIES:
        say(f"{family} …")
        rows += announced(family, import_module(FAMILIES[family]).measure, level)
    return rows


def announced(family: str, measure: Callable[[Level], Iterator[Row]], level: Level) -> Iterator[Row]:
    """Yield the rows of a family, and announce each one as it is measured."""
    try:
        for row in measure(level):
            say(f"  {row.name}, {row.size}" if row.size else f"  {row.name}: {row.note}")
            yield row
    except VMGError as error:
        yield Row(family=family, name=f"{family}: skipped", note=str(error))
