"""Cost as work grows: `python -m benchmarks.curves` draws results/benchmarks*.json into docs/images, light and dark."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from vmg.view.charts import readable_ticks
from vmg.view.style import DASHES, MARKERS, STYLES, Style, Theme, new_figure, save_figure, styled

ROOT = Path(__file__).parents[1]
RESULTS, IMAGES = ROOT / "results", ROOT / "docs" / "images"


@dataclass(frozen=True)
class Panel:
    """Rows of one or more names: ours, and each peer, over the amount of work."""

    title: str
    x: str
    y: str
    names: tuple[str, ...]


OTHERS = (
    "merge, 20 dimensions",
    "merge, 50 dimensions",
    "merge, every state a vertex, 10 dimensions",
    "merge, every state a vertex, 50 dimensions",
)
FIXED = ("merge, fixed room", "edges, fixed room", "rewards, fixed room")
STAGES = ("merge", "edges", "rewards", "plan")
FROM_DISK, STAGE_MEMORY = (
    tuple(f"{stage}, {kind}" for stage in STAGES) for kind in ("from disk", "memory of the stage")
)
FIGURES = {
    "benchmarks-merge": (
        Panel("Merge, 10 dimensions", "states", "seconds", ("merge",)),
        Panel("Merge, other data", "states", "seconds", OTHERS),
        Panel("Memory beyond the input", "states", "MiB", ("merge, memory",)),
        Panel("More states, the same room", "states", "seconds", FIXED),
    ),
    "benchmarks-scale": (
        Panel("From features on disk to a plan", "states", "seconds", FROM_DISK),
        Panel("Memory of each stage", "states", "MiB", STAGE_MEMORY),
    ),
    "benchmarks-graph": (
        Panel("Values", "vertices, 5 edges each", "seconds", ("value iteration",)),
        Panel("Values and tables of all paths", "vertices, 5 edges each", "seconds", ("planning tables",)),
        Panel("Decisions", "observations at once", "seconds", ("decision",)),
    ),
    "benchmarks-gpu": (
        Panel("Training on one GPU", "models side by side", "steps/s of all", ("training, models side by side",)),
    ),
}


def main() -> None:
    """Draw every figure whose rows have been measured."""
    files = (RESULTS / name for name in ("benchmarks.json", "benchmarks-scale.json", "benchmarks-gpu.json"))
    rows = [row for file in files if file.exists() for row in json.loads(file.read_text(encoding="utf-8"))["rows"]]
    for name in FIGURES:
        for theme in STYLES:
            if figure := draw(name, rows, theme):
                save_figure(figure, IMAGES / f"{name}-{theme}.svg")


def draw(name: str, rows: Sequence[dict[str, Any]], theme: Theme) -> Any | None:
    """Draw one figure; None where nothing of it has been measured."""
    panels = [panel for panel in FIGURES[name] if any(row["name"] in panel.names for row in rows)]
    if not panels:
        return None
    with styled(theme) as style:
        n_rows, n_columns = -(-len(panels) // 2), min(len(panels), 2)
        figure, axes = new_figure(4.6 * n_columns, 3.5 * n_rows, n_rows, n_columns)
        for axis, panel in zip(axes, panels, strict=False):
            _draw_panel(axis, panel, rows, style)
        for axis in axes[len(panels) :]:
            axis.set_axis_off()
    return figure


def _draw_panel(axis: Any, panel: Panel, rows: Sequence[dict[str, Any]], style: Style) -> None:
    looks = [*zip(style.lines, MARKERS, DASHES, strict=True)]
    for (label, points), (colour, marker, dashes) in zip(series(panel, rows), looks, strict=False):
        amounts, costs = zip(*points, strict=True)
        width = 1.8 if label == "ours" or len(panel.names) > 1 else 1.1
        axis.plot(amounts, costs, color=colour, marker=marker, ms=4, ls=dashes, lw=width, label=label)
    slow = sorted((row["amount"], row["percentiles"]["p99"]) for row in rows if _is_spread(row, panel))
    if slow:
        axis.plot(*zip(*slow, strict=True), color=style.lines[0], lw=0.8, ls=":", label="ours, 99th percentile")
    axis.set(title=panel.title, xlabel=panel.x, ylabel=panel.y, xscale="log", yscale="log")
    readable_ticks(axis.xaxis)
    readable_ticks(axis.yaxis)
    axis.grid(True)
    axis.legend(fontsize=7)


def series(panel: Panel, rows: Sequence[dict[str, Any]]) -> Iterator[tuple[str, list[tuple[float, float]]]]:
    """Yield ours of each name and, where there is one name only, its peers: label and points."""
    for name in panel.names:
        named = [row for row in rows if row["name"] == name and row["ours"] is not None]
        alone = len(panel.names) == 1
        ours = [(n, median(r["ours"] for r in named if r["amount"] == n)) for n in sorted({r["amount"] for r in named})]
        if ours:
            yield "ours" if alone else _short(name), ours
        for peer in dict.fromkeys(row["peer_name"] for row in named if row["peer_name"] and alone):
            yield peer, sorted((row["amount"], row["peer"]) for row in named if row["peer_name"] == peer)


def _short(name: str) -> str:
    for end in (", fixed room", ", from disk", ", memory of the stage"):
        name = name.removesuffix(end)
    return name.removeprefix("merge, ")


def _is_spread(row: dict[str, Any], panel: Panel) -> bool:
    return row["name"] in panel.names and bool(row["percentiles"])


if __name__ == "__main__":
    main()
