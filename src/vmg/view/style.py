"""How pictures look: light and dark, legible in print and for colour-blind readers, the same for the same data."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from vmg.base.errors import VMGError, require
from vmg.base.files import replacing

Theme = Literal["light", "dark"]

VALUES = "viridis"  # even steps to the eye, the same order in grey and for colour-blind eyes


@dataclass(frozen=True)
class Style:
    """The colours of a theme. Nothing is told by colour alone: markers, dashes and labels say the same."""

    paper: str
    ink: str
    faint: str
    wall: str
    edge: str
    trail: str
    """Where an episode went."""
    ahead: str
    """The path planned from here."""
    goal: str
    lines: tuple[str, ...]
    """Okabe and Ito's colours, told apart by colour-blind readers."""
    values: tuple[float, float]
    """The part of the colour map that stands out from the paper."""


STYLES: dict[Theme, Style] = {
    "light": Style(
        paper="#ffffff", ink="#1f1f1f", faint="#6a6a6a", wall="#d9d9d9", edge="#4d4d4d", trail="#d55e00",
        ahead="#1f1f1f", goal="#d7191c", lines=("#0072b2", "#d55e00", "#009e73", "#aa4499", "#8c6d00"),
        values=(0.0, 0.94),
    ),
    "dark": Style(
        paper="#16181d", ink="#ececec", faint="#a3a7ad", wall="#3d424b", edge="#b8bcc4", trail="#ff7f2a",
        ahead="#ffffff", goal="#ff5c5c", lines=("#56b4e9", "#ff9f4a", "#2fd0a0", "#dd8fc0", "#e8d44d"),
        values=(0.16, 1.0),
    ),
}  # fmt: skip
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v")


@contextmanager
def styled(theme: Theme) -> Iterator[Style]:
    """Draw in a theme's colours and in letters of 9 points, whatever the user's own settings of matplotlib are."""
    if theme not in STYLES:
        raise VMGError(f"The theme must be one of {', '.join(STYLES)}; not {theme!r}.")
    style, matplotlib = STYLES[theme], require("matplotlib", "view")
    settings = {
        "figure.facecolor": style.paper, "axes.facecolor": style.paper, "savefig.facecolor": "auto",
        "text.color": style.ink, "axes.labelcolor": style.ink, "axes.edgecolor": style.faint,
        "xtick.color": style.faint, "ytick.color": style.faint, "xtick.labelcolor": style.ink,
        "ytick.labelcolor": style.ink, "legend.facecolor": style.paper, "legend.edgecolor": style.wall,
        "legend.framealpha": 0.85, "legend.fontsize": 8, "font.size": 9, "axes.titlesize": 10,
        "axes.titlelocation": "left", "axes.spines.top": False, "axes.spines.right": False, "axes.grid": False,
        "grid.color": style.wall, "grid.linewidth": 0.5,
    }  # fmt: skip
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(settings)
        yield style


def new_figure(width: float, height: float, rows: int = 1, columns: int = 1, **options: Any) -> tuple[Any, list[Any]]:
    """Return a figure of this size in inches and its axes, row by row; no window, no global state."""
    figure = require("matplotlib.figure", "view").Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(rows, columns, squeeze=False, **options).flat)


def value_colours(style: Style) -> Any:
    """Return the colour map of values, cut where it would vanish into the paper."""
    colours = require("matplotlib", "view").colormaps[VALUES]
    low, high = style.values
    levels = [colours(low + (high - low) * i / 255) for i in range(256)]
    return require("matplotlib.colors", "view").ListedColormap(levels, name=f"{VALUES}_cut")


def save_figure(figure: Any, file: Path, *, dpi: int = 160) -> None:
    """Write a PNG or SVG file: the same bytes for the same figure."""
    kind = file.suffix[1:].lower()
    if kind not in ("png", "svg"):
        raise VMGError(f"Pictures are written as .png or .svg, not as {file.name!r}.")
    nothing = {"Software": None} if kind == "png" else {"Date": None, "Creator": None}
    with require("matplotlib", "view").rc_context({"svg.hashsalt": "vmg"}), replacing(file) as beside:
        figure.savefig(beside, format=kind, dpi=dpi, metadata=nothing)
