"""Figures of the graph: its values, an episode on it, failed episodes, values before and after a change.

Each is drawn on every layout: "graph" in two dimensions and, for a maze, "floor".
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from vmg.view.figures.base import CHANGE, EPISODE, FAILURES, FIGURES, GRAPH, Caption, Draw, Figure
from vmg.view.graphs import endings_figure, graph_figure, value_change_figure
from vmg.view.layout import Layout
from vmg.view.style import Theme

if TYPE_CHECKING:
    from vmg.view.gallery import Gallery


def _values(gallery: "Gallery", layout: Layout, theme: Theme) -> Any:
    return graph_figure(gallery.plan, layout, theme=theme)


def _episode(gallery: "Gallery", layout: Layout, theme: Theme) -> Any:
    if gallery.episode is None:
        return None
    return graph_figure(gallery.plan, layout, episode=gallery.episode, theme=theme)


def _failures(gallery: "Gallery", layout: Layout, theme: Theme) -> Any:
    return endings_figure(layout, gallery.failed, theme=theme) if gallery.failed else None


def _change(gallery: "Gallery", layout: Layout, theme: Theme) -> Any:
    change = gallery.change
    if change is None:
        return None
    return value_change_figure(change.before, change.after, layout, change.names, goals=change.goals, theme=theme)


def _values_caption(gallery: "Gallery") -> str:
    named = gallery.episode is not None and gallery.episode.goal is not None
    seen = "for the goal of the episode shown below" if named else "for the recorded rewards"
    return f"Vertices by value {seen}; one line per edge."


def _episode_caption(gallery: "Gallery") -> str:
    assert gallery.episode is not None
    return f"Seed {gallery.episode.score.seed} on the graph: its way from vertex to vertex, and its end."


def _change_caption(gallery: "Gallery") -> str:
    assert gallery.change is not None
    before, after = gallery.change.names
    return f"{before}. {after}. Each side from its least to its most value."


def _change_caption_without_floor(gallery: "Gallery") -> str:
    """The report shows a change once: on the floor, where there is one."""
    return "" if "floor" in gallery.layouts else _change_caption(gallery)


def _add(
    name: str, section: str, caption: Caption, draw: Callable[["Gallery", Layout, Theme], Any], *, wide: bool = False
) -> None:
    layout = name.rpartition("_")[2]
    FIGURES.add(name, Figure(section, caption, _on(layout, draw), wide=wide))


def _on(name: str, draw: Callable[["Gallery", Layout, Theme], Any]) -> Draw:
    """Draw on the layout of this name, where there is one."""
    return lambda gallery, theme: draw(gallery, gallery.layouts[name], theme) if name in gallery.layouts else None


_add("graph", GRAPH, _values_caption, _values)
_add("floor", GRAPH, "The same vertices where their states lie on the floor.", _values)
_add("episode_graph", EPISODE, _episode_caption, _episode)
_add("episode_floor", EPISODE, "The same episode on the floor.", _episode)
_add("failures_graph", FAILURES, "Where they ended, on the graph.", _failures)
_add("failures_floor", FAILURES, "Where they ended, on the floor.", _failures)
_add("change_graph", CHANGE, _change_caption_without_floor, _change, wide=True)
_add("change_floor", CHANGE, _change_caption, _change, wide=True)
