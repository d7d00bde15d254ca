"""The figures of a run: what `vmg draw` writes and `vmg report` shows. One place for all of them, built in or not.

from vmg.view import FIGURES, figure
from vmg.view.style import new_figure, styled

@FIGURES.register("lengths")                                # lengths_light.png, ...
@figure("The data", "How long the recorded episodes are.")  # its section in the report, and its caption
def lengths(gallery, theme):
    if gallery.episodes is None:
        return None                                         # no material: it is left out
    with styled(theme) as style:
        drawing, (axis,) = new_figure(5.2, 2.4)
        axis.hist(gallery.episodes.lengths, color=style.lines[0])
    return drawing
"""

from vmg.view.figures.base import FIGURES, Figure, draw_figures, figure

from vmg.view.figures import plans, numbers, robustness  # isort: skip  # what is built in, in the report's order

__all__ = ["FIGURES", "Figure", "draw_figures", "figure", "numbers", "plans", "robustness"]
