"""The rows as a table for people and as JSON for programs."""

from collections.abc import Sequence
from typing import Any

from rich.table import Table

from benchmarks.rows import Bar, Row, Unit

_SCALES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


def table(rows: Sequence[Row], title: str) -> Table:
    """Draw the rows; the numbers in brackets are notes, see `notes`."""
    drawn = Table("row", "size", title=title, title_justify="left", caption_justify="left")
    for heading in ("ours", "peer", "times better", "bar"):
        drawn.add_column(heading, justify="right")
    drawn.add_column("holds")
    for number, row in enumerate(rows, start=1):
        drawn.add_row(f"{row.name} ({number})", row.size, *_numbers(row))
    return drawn


def notes(rows: Sequence[Row]) -> str:
    """Say for each row what was checked and how it was measured."""
    lines = []
    for number, row in enumerate(rows, start=1):
        checked = f"checked: {row.checked}" if row.checked else ""
        lines.append(f"({number}) " + "; ".join(part for part in (checked, row.note) if part))
    return "\n".join(lines)


def markdown(rows: Sequence[Row]) -> str:
    """Write the rows as a table of Markdown, for the documentation."""
    headings = ("work", "size", "ours", "peer", "times better", "bar", "holds")
    lines = [f"| {' | '.join(headings)} |", "|---|---|--:|--:|--:|--:|---|"]
    return "\n".join([*lines, *(f"| {' | '.join((row.name, row.size, *_numbers(row)))} |" for row in rows)])


def to_json(rows: Sequence[Row], level: str, machine: dict[str, Any], began: str, seconds: float) -> dict[str, Any]:
    """Return the whole run, ready for JSON."""
    taken = {"level": level, "began": began, "seconds": round(seconds, 1)}
    return {**taken, "machine": machine, "rows": [row.to_dict() for row in rows]}


def readable(value: float | None, unit: Unit) -> str:
    """Write a number so that it can be read at a glance: three digits and the unit that suits it."""
    if value is None:
        return "–"
    if unit != "s":
        return f"{value:,.0f}/s" if unit == "steps/s" else f"{value:.3g} MiB"
    scale, name = next(((s, n) for s, n in _SCALES if value >= s), _SCALES[-1])
    return f"{value / scale:.3g} {name}"


def _numbers(row: Row) -> tuple[str, str, str, str, str]:
    peer = f"{readable(row.peer, row.unit)} {row.peer_name}" if row.peer is not None else "–"
    ratio = "–" if row.ratio is None else f"{row.ratio:,.3g}×"
    verdict = {True: "yes", False: "NO", None: ""}[row.holds]
    return readable(row.ours, row.unit), peer, ratio, _bar(row.bar, row.unit), verdict


def _bar(bar: Bar | None, unit: Unit) -> str:
    if bar is None:
        return ""
    if bar.kind == "times the peer":
        return f"≥ {bar.limit:g}×"
    return f"{'≤' if bar.kind == 'at most' else '≥'} {readable(bar.limit, unit)}"
