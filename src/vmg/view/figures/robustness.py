"""The figure of scores where the world is not as recorded."""

from typing import TYPE_CHECKING, Any

from vmg.runs.robustness import known_robustness
from vmg.view.figures.base import FIGURES, SCORES, figure
from vmg.view.robustness import has_curves, robustness_figure
from vmg.view.style import Theme

if TYPE_CHECKING:
    from vmg.view.gallery import Gallery


@FIGURES.register("robustness")
@figure(
    SCORES,
    "Scores where the world is not as recorded, against how much it is disturbed; shaded: 95 % intervals over models "
    "and episodes. Every method met the same disturbances.",
    vector=True,
    wide=True,
)
def robustness(gallery: "Gallery", theme: Theme) -> Any:
    """Draw the score of every method against each disturbance."""
    found = known_robustness(gallery.run)
    if found is None or not has_curves(found["rows"]):
        return None
    return robustness_figure({found["task"]: (found["rows"], found["kinds"])}, theme=theme)
