"""Charts of numbers: losses while training, distributions on the graph, and what the radius does."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vmg.base.errors import VMGError, require
from vmg.base.files import reading
from vmg.base.types import Float64s
from vmg.graph import EdgeRewards
from vmg.view.graphs import Solved
from vmg.view.style import DASHES, MARKERS, Theme, new_figure, styled

METRIC = ("contrastive", "action")
"""The losses of the metric space that are optimised; the others are their parts."""
SHOWN = (*METRIC, "translator")
"""The same with that of the paper's low-level policy."""


@dataclass(frozen=True)
class RadiusRow:
    """One radius: the size of the graph and, where it was measured, the score."""

    radius: float
    vertices: int
    edges: int
    score: float | None = None
    interval: tuple[float, float] | None = None
    episodes: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return asdict(self)


def read_losses(file: Path) -> dict[str, Float64s]:
    """Read metrics.csv: one column per name; losses that were not computed are NaN."""
    if not file.exists():
        raise VMGError(f"{file} does not exist: this model was trained without a folder, so nothing was logged.")
    with reading(file, "table of losses"), open(file, encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
        columns = {name: np.array([float(row[name] or "nan") for row in rows]) for name in (rows or [{}])[0]}
    if not rows:
        raise VMGError(f"{file} holds no losses yet: training had not come to its first log.")
    wanted = ["step", *(f"validation_{name}" for name in (*SHOWN, "cloning") if name in columns)]
    if missing := [name for name in wanted if name not in columns]:
        raise VMGError(f"{file} is no table of losses: there is no column {missing[0]!r}. Restore it from a copy.")
    return columns


def training_figure(
    models: Mapping[int, Mapping[str, Float64s]], shown: Sequence[str] = (*SHOWN, "cloning"), *, theme: Theme = "light"
) -> Any:
    """Draw the losses of each model, one panel per loss; validation losses are dashed."""
    losses = models[next(iter(models))]
    shown = [name for name in shown if name in losses and not np.isnan(losses[name]).all()]
    with styled(theme) as style:
        figure, axes = new_figure(5.2, 1.6 * len(shown) + 0.4, len(shown), 1, sharex=True)
        for axis, name in zip(axes, shown, strict=True):
            axis.set_title(name)
            axis.grid(True, axis="y")
            for colour, (seed, columns) in zip(_cycled(style.lines, len(models)), models.items(), strict=True):
                axis.plot(columns["step"], columns[name], color=colour, lw=1.2, label=f"seed {seed}, training")
                held_out = columns[f"validation_{name}"]
                if not np.isnan(held_out).all():
                    axis.plot(columns["step"], held_out, color=colour, lw=1.2, ls="--", label=f"seed {seed}, held out")
            _scale(axis, np.concatenate([columns[name] for columns in models.values()]))
        axes[-1].set_xlabel("updates")
        axes[0].legend(ncols=2, fontsize=7)
    return figure


def histograms_figure(solved: Solved, rewards: EdgeRewards | None, *, theme: Theme = "light") -> Any:
    """Draw how values, edge rewards and recorded steps per edge are distributed; counts on a log scale."""
    graph = solved.graph
    panels = [("value of a vertex", "vertices", solved.values)]
    if rewards is not None:
        panels.append(("reward of an edge", "edges", rewards.edges))
    panels.append(("recorded steps on an edge", "edges", graph.counts[: graph.n_edges].astype(np.float64)))
    with styled(theme) as style:
        figure, axes = new_figure(5.2, 1.6 * len(panels) + 0.3, len(panels), 1)
        for axis, (what, counted, numbers), colour in zip(axes, panels, style.lines, strict=False):
            axis.hist(numbers, bins=_bins(numbers), color=colour, edgecolor=style.paper, lw=0.3)
            axis.set(xlabel=what, ylabel=counted, yscale="log")
            axis.set_ylim(bottom=0.7)
            readable_ticks(axis.yaxis)
            middle = float(np.median(numbers))
            axis.axvline(middle, color=style.ink, lw=1, ls="--")
            axis.set_title(f"median {middle:.3g} (dashed)", fontsize=8, loc="right")
    return figure


def radius_figure(rows: Sequence[RadiusRow], chosen: float, *, theme: Theme = "light") -> Any:
    """Draw the score (where measured) and the size of the graph against the radius."""
    rows = sorted(rows, key=lambda row: row.radius)
    radii, scored = [row.radius for row in rows], [row for row in rows if row.score is not None]
    with styled(theme) as style:
        figure, axes = new_figure(5.2, 4.2 if scored else 2.4, 1 + bool(scored), 1, sharex=True)
        if scored:
            _draw_scores(axes[0], scored, style.lines[0])
        size = axes[-1]
        for name, colour, marker, dashes in zip(
            ("vertices", "edges"), style.lines[1:], MARKERS[1:], DASHES, strict=False
        ):
            size.plot(
                radii, [getattr(row, name) for row in rows], color=colour, marker=marker, ls=dashes, ms=4, label=name
            )
        size.set(yscale="log", xscale="log", ylabel="size of the graph", xlabel="radius")
        size.set_xticks(radii, [f"{radius:.3g}" for radius in radii])
        size.minorticks_off()
        readable_ticks(size.yaxis)
        size.legend()
        for axis in axes:
            axis.grid(True, axis="y")
            axis.axvline(chosen, color=style.faint, lw=1, ls=":")
        size.annotate(
            "this run", (chosen, 0), xycoords=("data", "axes fraction"), xytext=(3, 3),
            textcoords="offset points", fontsize=8, color=style.faint,
        )  # fmt: skip
    return figure


def scores_figure(scores: Mapping[str, Any], *, theme: Theme = "light") -> Any:
    """Draw a run's scores.json: every method's mean with its interval, and each of its models beside it."""
    methods = list(scores["summary"])
    with styled(theme) as style:
        figure, (axis,) = new_figure(5.2, 0.9 + 0.55 * len(methods))
        for row, (method, colour, marker) in enumerate(
            zip(methods, _cycled(style.lines, 99), _cycled(MARKERS, 99), strict=False)
        ):
            overall, models = scores["summary"][method], scores["scores"][method]
            reach = np.abs(np.array(overall["interval"]) - overall["score"])[:, None]
            axis.errorbar(overall["score"], row, xerr=reach, color=colour, marker=marker, ms=8, capsize=4, lw=1.6)
            places = np.full(len(models), row + 0.28)
            axis.plot([model["score"] for model in models], places, "|", color=colour, ms=9, mew=1.6)
        axis.set_yticks(range(len(methods)), methods)
        axis.set(ylim=(len(methods) - 0.4, -0.6), xlabel="score: mean and 95 % interval; one stroke per model")
        low, high = axis.get_xlim()
        axis.set_xlim(min(-2.0, low), max(102.0, high))
        axis.grid(True, axis="x")
    return figure


def _draw_scores(axis: Any, rows: Sequence[RadiusRow], colour: str) -> None:
    scores = np.array([row.score for row in rows], np.float64)
    bounds = np.array([row.interval or (row.score, row.score) for row in rows], np.float64)
    reach = np.abs(bounds - scores[:, None]).T
    axis.errorbar([row.radius for row in rows], scores, reach, color=colour, marker="o", ms=4, capsize=3, lw=1.2)
    low, high = axis.get_ylim()
    axis.set(ylim=(min(0.0, low), max(105.0, high)), ylabel="score", title="Score, with its 95 % interval")


def _scale(axis: Any, losses: Float64s) -> None:
    """Use a log scale where losses fall by much."""
    low, high = np.nanmin(losses), np.nanmax(losses)
    if 0 < 5 * low < high:
        axis.set_yscale("log")
        readable_ticks(axis.yaxis)
    else:
        axis.set_ylim(bottom=min(0.0, low))


def readable_ticks(axis: Any) -> None:
    """Label a log axis with plain numbers, also between the powers of ten."""
    ticker = require("matplotlib.ticker", "view")
    low, high = axis.get_view_interval()
    axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5) if high < 40 * low else (1,), numticks=8))
    axis.set_major_formatter(ticker.FuncFormatter(lambda number, _: f"{number:,.7g}"))
    axis.set_minor_formatter(ticker.NullFormatter())


def _bins(numbers: Float64s) -> Any:
    """Whole numbers get bins of their own where there are few of them."""
    low, high = float(numbers.min()), float(numbers.max())
    if (numbers == np.round(numbers)).all() and high - low <= 60:
        return np.arange(low - 0.5, high + 1)
    return 40


def _cycled(colours: Sequence[str], n: int) -> list[str]:
    return [colours[i % len(colours)] for i in range(n)]
