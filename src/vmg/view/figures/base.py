"""What a figure of a run is: the section it belongs to, what is said beneath it, and how it is drawn."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from vmg.base.registry import Registry
from vmg.view.style import Theme

if TYPE_CHECKING:
    from vmg.view.gallery import Gallery

DATA = "The data"
TRAINING = "Training"
GRAPH = "The graph"
SCORES = "Scores"
FAILURES = "Where and why episodes failed"
EPISODE = "An episode, step by step"
CHANGE = "A new task for the same graph"
RECIPE = "How to make this run again"

Draw: TypeAlias = "Callable[[Gallery, Theme], Any]"
"""(gallery, theme) → a matplotlib figure, or None where a run has no material for it."""
Caption: TypeAlias = "str | Callable[[Gallery], str]"


@dataclass(frozen=True)
class Figure:
    """A figure of a run."""

    section: str
    """Its section of the report: one that is there, or one of its own."""
    caption: Caption
    """What is said beneath it, or a function of the gallery; where it is empty, the report leaves the figure out."""
    draw: Draw
    """Draws it. A caption is asked for only where there is something to draw."""
    vector: bool = False
    """Whether the report keeps it as a vector: for figures with few marks, which then stay sharp at any size."""
    wide: bool = False
    """Whether it takes the whole width of the report."""

    def caption_for(self, gallery: "Gallery") -> str:
        """Return what is said beneath it."""
        return self.caption if isinstance(self.caption, str) else self.caption(gallery)


FIGURES: Registry[Figure] = Registry("figure")


def figure(section: str, caption: Caption, *, vector: bool = False, wide: bool = False) -> Callable[[Draw], Figure]:
    """Return a decorator that makes a figure of a function that draws."""
    return lambda draw: Figure(section, caption, draw, vector, wide)


def draw_figures(gallery: "Gallery", theme: Theme) -> dict[str, Any]:
    """Draw every figure that there is material for, by name."""
    drawn = {name: each.draw(gallery, theme) for name, each in FIGURES.items()}
    return {name: drawing for name, drawing in drawn.items() if drawing is not None}
