"""The picture at the top of the README. `python docs/story.py RUN` draws it from a run of `vmg demo`."""

import sys
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import vmg
from vmg.base.types import Float64s
from vmg.goals import near
from vmg.runs.run import load_run
from vmg.view.episodes import Watched, watch
from vmg.view.graphs import draw_graph, draw_walls
from vmg.view.layout import Floor, Layout, floor_of, floor_plan
from vmg.view.style import STYLES, Style, new_figure, save_figure, styled

IMAGES = Path(__file__).parent / "images"
SHOWN = 150
"""Recorded episodes drawn."""
MOMENT = 155
"""The step of the episode whose decision is shown."""
ELSEWHERE = (2.2, 2.2)
"""Another goal."""


@dataclass(frozen=True, eq=False)
class Story:
    """What the picture shows."""

    agent: vmg.Agent
    floor: Floor
    layout: Layout
    walks: list[Float64s]
    """Where recorded episodes went on the floor."""
    flat: list[Float64s]
    """The same in the two directions of the metric space in which they spread most."""
    episode: Watched
    elsewhere: vmg.Plan
    """The plan for another goal, on the same graph."""


def draw_story(story: Story, style: Style) -> Any:
    """Draw six panels in the order data walks: log, metric space, graph, values, path and action, another goal."""
    agent, graph, episode = story.agent, story.agent.built, story.episode
    figure, axes = new_figure(10.6, 7.6, 2, 3)
    figure.get_layout_engine().set(h_pad=0.08, w_pad=0.08)
    titles = (
        ("1  Log", f"{agent.data.episodes:,} episodes, {agent.data.steps:,} steps"),
        ("2  Metric space", "learned once; flattened here from 10 dimensions"),
        ("3  Graph", f"built once: {graph.n_vertices:,} vertices, {graph.n_edges:,} edges"),
        ("4  Values", "solved for a goal, the star; yellow is worth most"),
        ("5  Path, subgoal, action", f"the goal is reached in {episode.score.steps} steps"),
        ("6  Another goal or reward", "solved again; nothing is learned again"),
    )
    for axis, (title, subtitle) in zip(axes, titles, strict=True):
        axis.set_title(f"{title}\n", fontsize=12, fontweight="bold")
        below = {"transform": axis.transAxes, "fontsize": 9.5, "color": style.faint, "va": "bottom"}
        axis.text(0, 1.02, subtitle, **below).set_in_layout(False)
        axis.set_aspect("equal", adjustable="datalim" if axis is axes[1] else "box")
        axis.axis("off")
    for axis in (axes[0], axes[2], axes[4]):
        draw_walls(axis, story.floor, style)
    _draw_walks(axes[0], story.walks, style)
    _draw_walks(axes[1], story.flat, style)
    axes[1].set_box_aspect(1)
    _draw_plain_graph(axes[2], story, style)
    draw_graph(axes[3], episode.plan, story.layout, style)
    _draw_goal(axes[3], episode.goal, style)
    _draw_decision(axes[4], story, style)
    draw_graph(axes[5], story.elsewhere, story.layout, style)
    _draw_way(axes[5], story.layout.points[story.elsewhere.routes.path(episode.decisions[0].vertex)], style)
    _draw_goal(axes[5], np.array(ELSEWHERE), style)
    return figure


def _draw_walks(axis: Any, walks: list[Float64s], style: Style) -> None:
    """Draw recordings faintly, three of them in colours."""
    for walk in walks:
        axis.plot(walk[:, 0], walk[:, 1], color=style.edge, lw=0.4, alpha=0.35)
    for walk, colour in zip(walks[:3], style.lines, strict=False):
        axis.plot(walk[:, 0], walk[:, 1], color=colour, lw=1.8)


def _draw_plain_graph(axis: Any, story: Story, style: Style) -> None:
    graph, at = story.agent.built, story.layout.points
    for tail, head in zip(graph.tails, graph.heads, strict=True):
        axis.plot(*at[[tail, head]].T, color=style.edge, lw=0.4, alpha=0.4)
    axis.scatter(at[:, 0], at[:, 1], s=5, color=style.ink, lw=0, zorder=2)


def _draw_decision(axis: Any, story: Story, style: Style) -> None:
    """Draw the whole episode, and of one moment the place, the subgoal ahead and the action."""
    episode, layout = story.episode, story.layout
    assert episode.score.success
    _draw_way(axis, layout.trail(episode.states, episode.vertices), style)
    _draw_goal(axis, episode.goal, style)
    decided = episode.decisions[MOMENT]
    here, subgoal = episode.states[MOMENT, list(layout.columns)], layout.points[decided.subgoal]
    planned = layout.points[decided.path]
    axis.plot(planned[:, 0], planned[:, 1], color=style.ink, lw=1.2, ls=":", zorder=5)
    axis.plot(*subgoal, marker="s", ms=9, mfc=style.paper, mec=style.ink, mew=1.8, zorder=6)
    axis.plot(*here, marker="o", ms=9, color=style.ink, mec=style.paper, zorder=6)
    push = decided.action / np.linalg.norm(decided.action)
    axis.annotate("", here + push, here, arrowprops={"arrowstyle": "-|>", "color": style.ink, "lw": 2.2}, zorder=6)
    axis.text(*(here + 1.12 * push), "action", fontsize=10, ha="center", va="center")
    axis.text(subgoal[0] + 0.25, subgoal[1] + 0.1, "subgoal", fontsize=10, ha="left", va="bottom")


def _draw_goal(axis: Any, goal: Float64s | None, style: Style) -> None:
    assert goal is not None
    axis.plot(*goal, marker="*", color=style.goal, ms=17, mec=style.paper, mew=1.2, zorder=6)


def _draw_way(axis: Any, way: Float64s, style: Style) -> None:
    axis.plot(way[:, 0], way[:, 1], color=style.paper, lw=4, alpha=0.8, zorder=3)
    axis.plot(way[:, 0], way[:, 1], color=style.trail, lw=2.2, zorder=4)
    axis.plot(*way[0], marker="o", color=style.trail, mec=style.paper, ms=9, zorder=6)


def _tell(folder: Path) -> Story:
    run = load_run(folder)
    agent, task = run.agent(0), run.find_task()
    graph, floor = agent.built, floor_of(task, agent.built)
    assert task.goal is not None
    assert floor is not None
    assert graph.places is not None
    features = vmg.embed(agent.weights, vmg.load(run.data).observations).astype(np.float64)
    features -= features.mean(0)
    flat = features @ np.linalg.svd(features[::10], full_matrices=False)[2][:2].T
    ends = np.cumsum(graph.lengths + 1)[:-1]
    return Story(
        agent=agent,
        floor=floor,
        layout=floor_plan(graph, floor),
        walks=[walk.astype(np.float64) for walk in np.split(graph.places, ends)[:SHOWN]],
        flat=np.split(flat, ends)[:SHOWN],
        episode=watch(agent, task, 0),
        elsewhere=agent.plan(near(ELSEWHERE, columns=task.goal.columns, tolerance=task.goal.tolerance)),
    )


def _compress(file: Path) -> None:
    """Keep 256 colours: half of the bytes, and the eye sees no difference."""
    with Image.open(file) as image:
        small = image.convert("RGB").quantize(
            256, method=Image.Quantize.MAXCOVERAGE, kmeans=4, dither=Image.Dither.NONE
        )
    beside = BytesIO()
    small.save(beside, format="PNG", optimize=True)
    file.write_bytes(beside.getvalue())


if __name__ == "__main__":
    told = _tell(Path(sys.argv[1]))
    for theme in STYLES:
        with styled(theme) as chosen:
            file = IMAGES / f"story-{theme}.png"
            save_figure(draw_story(told, chosen), file, dpi=110)
            _compress(file)
