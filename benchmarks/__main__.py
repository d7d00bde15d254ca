"""`python -m benchmarks`: measure, print the table, write the JSON."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import tyro

from benchmarks.machine import blas_threads, describe_machine
from benchmarks.rows import Level
from benchmarks.suite import Family, run
from benchmarks.tables import notes, table, to_json
from vmg.base.console import show
from vmg.base.files import write_json


@dataclass(frozen=True)
class Options:
    """Measure Value Memory Graph beside its peers, both sides in one run, and say which bars hold."""

    quick: bool = False
    """Small sizes, in a minute or two; the bars, which name their sizes, are left out."""
    tiny: bool = False
    """Sizes that only show that everything runs and agrees; the times mean nothing."""
    json: Path | None = None
    """Write the rows, versions, cores and threads to this file too."""
    rows: tuple[Family, ...] = ()
    """Only these families of rows."""

    @property
    def level(self) -> Level:
        return "tiny" if self.tiny else "quick" if self.quick else "full"


def main(options: Options) -> None:
    """Measure and report; the table says which bars do not hold."""
    began, clock = datetime.now(UTC).isoformat(timespec="seconds"), time.perf_counter()
    rows = run(options.level, options.rows)
    machine = describe_machine()
    title = f"{options.level} run, {began}, {machine['cores']} cores, BLAS threads: {blas_threads()}"
    show(table(rows, title))
    show(notes(rows))
    if options.json:
        content = to_json(rows, options.level, machine, began, time.perf_counter() - clock)
        write_json(options.json, content)


if __name__ == "__main__":
    main(tyro.cli(Options, prog="python -m benchmarks", description=Options.__doc__))
