"""Figures of studies: scores of variants, the radius, training curves, steps per edge; the paper's numbers beside."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from vmg.view.charts import SHOWN, readable_ticks
from vmg.view.robustness import robustness_figure
from vmg.view.style import DASHES, MARKERS, Style, Theme, new_figure, styled

Row = Mapping[str, Any]


def study_figure(rows: Sequence[Row], *, theme: Theme = "light") -> Any:
    """Draw a study; what its rows hold tells how."""
    measured = [row for row in rows if "missing" not in row]
    if "losses" in measured[0]:
        return _draw_tasks(measured, theme, _curves, rows=len(SHOWN), height=1.5 * len(SHOWN) + 0.4)
    if "disturbed" in measured[0]:
        return robustness_figure(_by_task(measured), theme=theme)
    if "explore" in measured[0]:
        return _draw_tasks(measured, theme, _growth, rows=1, height=3.0, words=_GROWTH)
    if "ratio" in measured[0]:
        return _ratio_figure(measured, theme)
    radii = [row["settings"]["graph"]["radius"] for row in measured if row["task"] == measured[0]["task"]]
    if len(set(radii)) > 1:
        return _draw_tasks(measured, theme, _radii, rows=2, height=4.2, words=_RADII)
    names = list(dict.fromkeys(row["variant"] for row in measured))
    return _draw_tasks(
        measured, theme, _variants(names), rows=1, height=1.2 + 0.36 * len(names), sharey=True, words=_VARIANTS
    )


def _by_task(rows: Sequence[Row]) -> dict[str, tuple[list[Row], Any]]:
    """The rows of each task, with what the amounts mean there; presets and ways of solving are named if several."""
    named = [key for key in ("preset", "solved") if len({row[key] for row in rows}) > 1]
    found: dict[str, tuple[list[Row], Any]] = {}
    for row in rows:
        name = ", ".join(row[key] for key in ("task", *named))
        found.setdefault(name, ([], row["kinds"]))[0].append(row)
    return found


_VARIANTS = "mean and 95 % interval; strokes: each model; diamonds: the paper's; dotted: the baseline"
_RADII = "mean and 95 % interval; strokes: each model; dotted: the baseline"


def _draw_tasks(
    measured: Sequence[Row],
    theme: Theme,
    draw: Callable[[Sequence[Any], Sequence[Row], Style], None],
    *,
    rows: int,
    height: float,
    sharey: bool = False,
    words: str = "",
) -> Any:
    """Draw one column of panels per task, and say beneath what is shown."""
    tasks = list(dict.fromkeys(row["task"] for row in measured))
    with styled(theme) as style:
        figure, axes = new_figure(1.6 + 2.5 * len(tasks), height, rows, len(tasks), sharex="col" if rows > 1 else False,
                                  sharey=sharey)  # fmt: skip
        for i, task in enumerate(tasks):
            panels = axes[i :: len(tasks)]
            panels[0].set_title(task)
            draw(panels, [row for row in measured if row["task"] == task], style)
        if words:
            figure.supxlabel(words, fontsize=8, color=style.faint)
    return figure


def _variants(names: Sequence[str]) -> Callable[[Sequence[Any], Sequence[Row], Style], None]:
    """Scores from the left to the right, one line per variant."""

    def draw(panels: Sequence[Any], rows: Sequence[Row], style: Style) -> None:
        (axis,) = panels
        for row in rows:
            place = names.index(row["variant"])
            if row["baseline"]:
                axis.axvline(row["score"], color=style.faint, lw=1, ls=":")
            _score(axis, row, place, style)
        axis.set_yticks(range(len(names)), names)
        axis.set(ylim=(len(names) - 0.4, -0.6), xlabel="score")
        low, high = axis.get_xlim()
        axis.set_xlim(min(-2.0, low), max(102.0, high))
        axis.grid(True, axis="x")

    return draw


def _score(axis: Any, row: Row, place: float, style: Style) -> None:
    reach = np.abs(np.array(row["interval"]) - row["score"])[:, None]
    colour = style.lines[0] if row["baseline"] else style.lines[1]
    marker = MARKERS[0] if row["baseline"] else MARKERS[1]
    axis.errorbar(row["score"], place, xerr=reach, color=colour, marker=marker, ms=6, capsize=3, lw=1.4)
    _beside(axis, row, place, colour, style)


def _beside(axis: Any, row: Row, place: float, colour: str, style: Style) -> None:
    """Add each model and the paper's number."""
    axis.plot(row["models"], np.full(len(row["models"]), place + 0.25), "|", color=colour, ms=7, mew=1.4)
    if row["paper"] is not None:
        axis.plot(row["paper"], place, marker="D", ms=6, mfc="none", color=style.ink, ls="none")


def _radii(panels: Sequence[Any], rows: Sequence[Row], style: Style) -> None:
    """Score above, size of the graph below, against the radius."""
    rows = sorted(rows, key=_radius)
    radii, scores = [_radius(row) for row in rows], np.array([row["score"] for row in rows])
    reach = np.abs(np.array([row["interval"] for row in rows]) - scores[:, None]).T
    score, size = panels
    score.errorbar(radii, scores, reach, color=style.lines[0], marker="o", ms=4, capsize=3, lw=1.2)
    for row in rows:
        score.plot(np.full(len(row["models"]), _radius(row)), row["models"], "_", color=style.faint, ms=7)
        if row["baseline"]:
            for axis in panels:
                axis.axvline(_radius(row), color=style.faint, lw=1, ls=":")
    low, high = score.get_ylim()
    score.set(ylim=(min(0.0, low), max(105.0, high)), ylabel="score")
    vertices = [np.mean([graph["vertices"] for graph in row["graphs"]]) for row in rows]
    size.plot(radii, vertices, color=style.lines[1], marker="s", ms=4, ls="--")
    size.set(yscale="log", ylabel="vertices", xlabel="radius")
    size.set_xticks(radii, [f"{radius:g}" for radius in radii])
    readable_ticks(size.yaxis)
    for axis in panels:
        axis.grid(True, axis="y")


_GROWTH = "95 % intervals; dashed: networks as they were"


def _growth(panels: Sequence[Any], rows: Sequence[Row], style: Style) -> None:
    """Score against the episodes recorded online, by how they were explored."""
    (axis,) = panels
    (start,), (whole,) = ([row for row in rows if row["explore"] == kind] for kind in ("none", "whole"))
    axis.axhline(whole["score"], color=style.faint, lw=1, ls=":", label="all data")
    apart = 0.01 * max(row["online"] for row in rows)  # so that no point hides another
    for i, kind in enumerate(dict.fromkeys(row["explore"] for row in rows if row["online"])):
        for again in (True, False):
            points = [start, *(row for row in rows if row["explore"] == kind and row["again"] == again)]
            scores = np.array([row["score"] for row in points])
            reach = np.abs(np.array([row["interval"] for row in points]) - scores[:, None]).T
            axis.errorbar(
                [row["online"] + apart * (2 * i + again) for row in points], scores, reach, color=style.lines[i],
                marker=MARKERS[i], ms=4, capsize=3, lw=1.2, ls="-" if again else "--", label=kind if again else None,
            )  # fmt: skip
    axis.set(ylim=(-2, 105), xlabel="episodes recorded online", ylabel="score")
    axis.grid(True, axis="y")
    axis.legend(fontsize=7)


def _radius(row: Row) -> float:
    return float(row["settings"]["graph"]["radius"])


def _curves(panels: Sequence[Any], rows: Sequence[Row], style: Style) -> None:
    """One panel per loss, one line per model."""
    (row,) = rows
    for axis, name in zip(panels, SHOWN, strict=True):
        for i, (seed, losses) in enumerate(zip(row["seeds"], row["losses"][name], strict=True)):
            colour, dashes = style.lines[i % len(style.lines)], DASHES[i % len(DASHES)]
            axis.plot(np.array(row["steps"]) / 1000, losses, color=colour, ls=dashes, lw=1, label=f"seed {seed}")
        axis.set(ylabel=name)
        if min(min(losses) for losses in row["losses"][name]) > 0:
            axis.set_yscale("log")
            readable_ticks(axis.yaxis)
        axis.grid(True, axis="y")
    panels[0].legend(fontsize=7)
    panels[-1].set_xlabel("thousand updates")


def _ratio_figure(rows: Sequence[Row], theme: Theme) -> Any:
    with styled(theme) as style:
        figure, (axis,) = new_figure(5.6, 0.9 + 0.34 * len(rows))
        for place, row in enumerate(rows):
            axis.plot(row["ratio"], place, color=style.lines[0], marker="o", ms=6, ls="none")
            _beside(axis, row, place, style.lines[0], style)
        axis.set_yticks(range(len(rows)), [row["task"] for row in rows])
        axis.set(ylim=(len(rows) - 0.4, -0.6), xlabel="environment steps per graph step; a diamond is the paper's")
        axis.set_xlim(left=0)
        axis.grid(True, axis="x")
    return figure
