"""What a robustness study measured, as a table and as curves: scores against how much the world was disturbed."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rich.table import Table

from vmg.envs.disturbing import in_words
from vmg.view.style import DASHES, MARKERS, Style, Theme, new_figure, styled

Row = Mapping[str, Any]


def robustness_table(content: Mapping[str, Any]) -> Table:
    """One row per disturbance, one column per method: its mean score, with an interval over models and episodes."""
    rows, kinds = content["rows"], content["kinds"]
    table = Table(
        title=f"{content['task']}, disturbed: score and 95 % interval",
        caption=" ".join(f"{name}: {kind['unit']}." for name, kind in kinds.items()),
        title_justify="left",
        caption_justify="left",
    )
    table.add_column("disturbed by")
    for method in rows[0]["scores"]:
        table.add_column(method, justify="right")
    for row in rows:
        table.add_row(in_words(row["disturbed"]) or "nothing", *map(with_interval, row["scores"].values()))
    return table


def with_interval(summary: Mapping[str, Any]) -> str:
    """Write a score and its interval."""
    low, high = summary["interval"]
    return f"{summary['score']:.1f} ({low:.0f} – {high:.0f})"


def robustness_figure(tasks: Mapping[str, tuple[Sequence[Row], Mapping[str, Any]]], *, theme: Theme = "light") -> Any:
    """Draw curves of the score: one line of panels per task, given its rows and what the amounts mean.

    Disturbances that came two at a time are in the table alone.
    """
    names = {task: _names(rows) for task, (rows, _) in tasks.items()}
    columns = max(map(len, names.values()))
    with styled(theme) as style:
        figure, axes = new_figure(0.6 + 2.1 * columns, 2.6 * len(tasks), len(tasks), columns, sharey=True)
        for i, (task, (rows, kinds)) in enumerate(tasks.items()):
            panels = axes[i * columns : (i + 1) * columns]
            for axis, name in zip(panels, names[task], strict=False):
                _curve(axis, name, rows, kinds[name], style)
            for axis in panels[len(names[task]) :]:
                axis.set_axis_off()
            panels[0].set(ylabel="score", title=task if len(tasks) > 1 else "")
            panels[0].legend(fontsize=7)
    return figure


def has_curves(rows: Sequence[Row]) -> bool:
    """Say whether something was disturbed by one thing alone."""
    return bool(_names(rows))


def _names(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(name for row in rows if len(row["disturbed"]) == 1 for name in row["disturbed"]))


def _curve(axis: Any, name: str, rows: Sequence[Row], kind: Mapping[str, Any], style: Style) -> None:
    own = [
        (row["disturbed"].get(name, kind["nothing"]), row["scores"])
        for row in rows
        if not row["disturbed"].keys() - {name}
    ]
    own.sort(key=lambda each: each[0])
    amounts = [amount for amount, _ in own]
    for method, colour, marker, dashes in zip(own[0][1], style.lines, MARKERS, DASHES, strict=False):
        scores = np.array([found[method]["score"] for _, found in own])
        low, high = np.array([found[method]["interval"] for _, found in own]).T
        axis.plot(amounts, scores, color=colour, marker=marker, ls=dashes, ms=4, lw=1.3, label=method)
        axis.fill_between(amounts, low, high, color=colour, alpha=0.18, lw=0)
    axis.set_xlabel(f"{name}, {kind['unit'].partition(',')[0]}", fontsize=8)
    axis.set_xticks(amounts, [f"{amount:g}" for amount in amounts], fontsize=7)
    axis.grid(True, axis="y")
