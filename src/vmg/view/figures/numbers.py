"""Figures of numbers: losses, scores, distributions, and what the radius does."""

from typing import TYPE_CHECKING, Any

from vmg.view.charts import METRIC, histograms_figure, radius_figure, scores_figure, training_figure
from vmg.view.figures.base import FIGURES, GRAPH, SCORES, TRAINING, figure
from vmg.view.style import Theme

if TYPE_CHECKING:
    from vmg.view.gallery import Gallery


@FIGURES.register("training")
@figure(TRAINING, "The losses that are optimised; dashed where episodes were held out.", vector=True)
def training(gallery: "Gallery", theme: Theme) -> Any:
    """Draw the losses of every model."""
    if not gallery.losses:
        return None
    return training_figure(gallery.losses, (*METRIC, *gallery.run.config.learn.low_level.losses), theme=theme)


@FIGURES.register("scores")
@figure(
    SCORES,
    "Intervals are bootstrapped over models and episodes, or over episodes where there is one model.",
    vector=True,
)
def scores(gallery: "Gallery", theme: Theme) -> Any:
    """Draw the scores of every method."""
    return scores_figure(gallery.scores, theme=theme) if gallery.scores else None


@FIGURES.register("histograms")
@figure(GRAPH, "How values, edge rewards and recorded steps are spread, for the recorded rewards.", vector=True)
def histograms(gallery: "Gallery", theme: Theme) -> Any:
    """Draw the distributions on the graph."""
    return histograms_figure(gallery.agent.own_plan, gallery.rewards, theme=theme) if gallery.layouts else None


def _radius_caption(gallery: "Gallery") -> str:
    return (
        "The size of the graph against the radius, and the score where it was measured "
        f"(vmg draw {gallery.run.folder} --radii ... measures more)."
    )


@FIGURES.register("radius")
@figure(GRAPH, _radius_caption, vector=True)
def radius(gallery: "Gallery", theme: Theme) -> Any:
    """Draw size and score against the radius."""
    return radius_figure(gallery.radii, gallery.agent.built.radius, theme=theme) if gallery.radii else None
