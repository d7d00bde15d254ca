"""The graph on paper: its vertices by value, its edges, an episode on it, and its values before and after a change."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from vmg.base.errors import require
from vmg.base.lazy import LazyModule
from vmg.base.types import Float64s
from vmg.data.counting import counted
from vmg.envs import Floor
from vmg.graph import MemoryGraph
from vmg.view.episodes import Watched
from vmg.view.layout import Layout
from vmg.view.style import Style, Theme, new_figure, styled, value_colours

kernels: Any = LazyModule("vmg.view.kernels")

DRAWN_AS_PIXELS = 3_000
"""From this many vertices or edges on an SVG holds them as one picture: browsers and printers choke on more."""
DRAWN_AS_LINES = 10_000
"""More edges than this are drawn as a density: in less time, and not as one dark blot."""
PIXELS, BORDER = 1_000, 30


class Solved(Protocol):
    """A graph and what its vertices are worth: a plan, or the routes of one."""

    @property
    def graph(self) -> MemoryGraph: ...

    @property
    def values(self) -> Float64s: ...


def graph_figure(solved: Solved, layout: Layout, *, episode: Watched | None = None, theme: Theme = "light") -> Any:
    """Draw the graph, vertices by value, with an episode on it if one is given."""
    graph = solved.graph
    with styled(theme) as style:
        figure, (axis,) = new_figure(5.2, 4.6)
        shades = draw_graph(axis, solved, layout, style)
        figure.colorbar(shades, ax=axis, label="value of a vertex", shrink=0.7, pad=0.01)
        axis.set_title(
            f"{layout.title}: {counted(graph.n_vertices, 'vertex', 'vertices')}, {counted(graph.n_edges, 'edge')}"
        )
        if episode is not None:
            draw_episode(axis, layout, episode, style)
            axis.set_title(f"An episode, seed {episode.score.seed}: {ending(episode)}")
            axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.01), ncols=3, frameon=False)
        _add_note(figure, layout, style)
    return figure


def value_change_figure(
    before: Solved,
    after: Solved,
    layout: Layout,
    names: tuple[str, str],
    *,
    goals: tuple[Float64s | None, Float64s | None] = (None, None),
    theme: Theme = "light",
) -> Any:
    """Draw the values of one graph for two rewards, side by side; each in its own range, from least to most."""
    with styled(theme) as style:
        figure, axes = new_figure(8.4, 4.2, 1, 2)
        for axis, solved, name, goal in zip(axes, (before, after), names, goals, strict=True):
            shades = draw_graph(axis, solved, layout, style)
            figure.colorbar(shades, ax=axis, shrink=0.6, pad=0.01)
            axis.set_title(name)
            if goal is not None and layout.floor:
                axis.plot(*goal, marker="*", color=style.goal, ms=17, mec=style.paper, mew=1.5, zorder=5)
        _add_note(figure, layout, style)
    return figure


def endings_figure(layout: Layout, failed: Sequence[Watched], *, theme: Theme = "light") -> Any:
    """Mark where failed episodes ended, and the way they went; vertices by their value in the first of them."""
    with styled(theme) as style:
        figure, (axis,) = new_figure(5.2, 4.6)
        shades = draw_graph(axis, failed[0].plan, layout, style)
        figure.colorbar(shades, ax=axis, label="value of a vertex", shrink=0.7, pad=0.01)
        for number, episode in enumerate(failed):
            way = layout.trail(episode.states, episode.vertices)
            label = "ways of failed episodes" if number == 0 else None
            axis.plot(way[:, 0], way[:, 1], color=style.trail, lw=1.1, alpha=0.8, zorder=3, label=label)
        ends = np.array([layout.trail(e.states, e.vertices)[-1] for e in failed])
        mark = {"marker": "X", "s": 90, "color": style.goal, "edgecolors": style.paper, "zorder": 5}
        axis.scatter(ends[:, 0], ends[:, 1], label="where they ended", **mark)
        axis.set_title(f"Where {len(failed)} failed episode{'s' * (len(failed) > 1)} went and ended")
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.01), ncols=2, frameon=False)
        _add_note(figure, layout, style)
    return figure


def draw_graph(axis: Any, solved: Solved, layout: Layout, style: Style) -> Any:
    """Draw walls, edges and vertices; the best vertices lie on top. Returns what a colour bar is made from."""
    graph, values = solved.graph, solved.values
    if layout.floor:
        draw_walls(axis, layout.floor, style)
    axis.set_aspect("equal" if layout.floor else "auto")
    axis.axis("off")
    at, n = layout.points, graph.n_vertices
    (_draw_lines if graph.n_edges <= DRAWN_AS_LINES else _draw_density)(axis, graph, layout, style)
    order = np.argsort(values, kind="stable")
    size = float(np.clip(9_000 / n, 0.8, 16))
    shades = axis.scatter(
        at[order, 0], at[order, 1], c=values[order], cmap=value_colours(style), s=size, lw=0, zorder=2
    )  # fmt: skip
    shades.set_rasterized(n > DRAWN_AS_PIXELS)
    return shades


def _draw_lines(axis: Any, graph: MemoryGraph, layout: Layout, style: Style) -> None:
    at, m = layout.points, graph.n_edges
    thin = {"lw": float(np.clip(60 / np.sqrt(m + 1), 0.3, 0.6)), "alpha": float(np.clip(900 / (m + 1), 0.15, 0.5))}
    segments = np.stack([at[graph.tails], at[graph.heads]], axis=1)
    lines = require("matplotlib.collections", "view").LineCollection(segments, colors=style.edge, zorder=1, **thin)
    lines.set_rasterized(m > DRAWN_AS_PIXELS)
    axis.add_collection(lines, autolim=layout.floor is None)


def _draw_density(axis: Any, graph: MemoryGraph, layout: Layout, style: Style) -> None:
    """Draw how many edges pass through each pixel, in tones that show one edge as well as a thousand."""
    at = layout.points
    low = at.min(0)
    size = np.maximum(at.max(0) - low, 1e-9)
    places = BORDER + (at - low) / size * (PIXELS - 2 * BORDER)
    counts = np.zeros((PIXELS, PIXELS))
    kernels.add_lines(counts, places[graph.tails], places[graph.heads])
    tones = np.log1p(counts)
    image = np.empty((PIXELS, PIXELS, 4))
    image[..., :3] = require("matplotlib.colors", "view").to_rgb(style.edge)
    image[..., 3] = 0.6 * np.clip(tones / max(float(np.quantile(tones[counts > 0], 0.995)), 1e-9), 0, 1)
    beyond = BORDER / (PIXELS - 2 * BORDER) * size
    corners = np.stack([low - beyond, at.max(0) + beyond], axis=1).ravel()
    axis.imshow(image, extent=corners, origin="lower", zorder=1, aspect=axis.get_aspect(), interpolation="antialiased")


def draw_walls(axis: Any, floor: Floor, style: Style) -> None:
    """Draw a maze's walls and set the axis to its floor."""
    rectangle = require("matplotlib.patches", "view").Rectangle
    for i, row in enumerate(floor.cells):
        for j, cell in enumerate(row):
            if cell == 1:
                axis.add_patch(rectangle(floor.corner(i, j), floor.scale, floor.scale, color=style.wall, lw=0))
    horizontal, vertical = floor.extent
    axis.set(xlim=horizontal, ylim=vertical)


def draw_episode(axis: Any, layout: Layout, episode: Watched, style: Style) -> None:
    """Draw the way an episode went, its start, its end and, on a floor, its goal and the path planned at the start."""
    planned = layout.points[list(episode.decisions[0].path)]
    axis.plot(
        planned[:, 0], planned[:, 1], color=style.ahead, lw=1, ls=":", zorder=3, label="path planned at the start"
    )
    way = layout.trail(episode.states, episode.vertices)
    axis.plot(way[:, 0], way[:, 1], color=style.paper, lw=3, alpha=0.7, zorder=3)
    axis.plot(way[:, 0], way[:, 1], color=style.trail, lw=1.6, zorder=4, label="where it went")
    edged = {"mec": style.paper, "ls": "none", "zorder": 6}
    axis.plot(*way[0], marker="s", color=style.trail, ms=7, label="start", **edged)
    failed = not episode.score.success
    axis.plot(*way[-1], marker="X" if failed else "o", color=style.trail, ms=10, label="end", **edged)
    if layout.floor and episode.goal is not None:
        axis.plot(*episode.goal, marker="*", color=style.goal, ms=15, label="goal", **edged)


def ending(episode: Watched) -> str:
    """Say how an episode ended, in a few words."""
    score = episode.score
    how = f"{'success' if score.success else score.ended} after {counted(score.steps, 'step')}"
    done = len(episode.done[-1]) if episode.done else 0
    return f"{how}, {done} subtask{'s' * (done != 1)} done" if done else how


def _add_note(figure: Any, layout: Layout, style: Style) -> None:
    if layout.note:
        figure.supxlabel(layout.note, fontsize=8, color=style.faint, wrap=True)
