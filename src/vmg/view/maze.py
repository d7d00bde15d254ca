"""The story of a maze in one picture: what was recorded, what the graph knows, and what the policy does with it."""

from pathlib import Path
from typing import Any

import numpy as np

from vmg.agent.agent import Agent
from vmg.base.errors import VMGError
from vmg.base.types import Float32s
from vmg.data.counting import counted
from vmg.envs import Task
from vmg.graph import MemoryGraph
from vmg.view.episodes import watch
from vmg.view.graphs import draw_episode, draw_graph, draw_walls, ending
from vmg.view.layout import floor_of, floor_plan
from vmg.view.style import Style, Theme, new_figure, save_figure, styled

SHOWN = 150
"""Recorded episodes drawn."""


def draw_maze_story(agent: Agent, task: Task, file: Path, *, seed: int = 0, theme: Theme = "light") -> None:
    """Draw three floor plans side by side: recorded episodes, the graph by value, and one episode of the policy."""
    graph = agent.built
    floor = floor_of(task, graph)
    if floor is None:
        raise VMGError(f"{task.name} does not take place in a maze, so there is no floor to draw it on.")
    layout, episode = floor_plan(graph, floor), watch(agent, task, seed)
    with styled(theme) as style:
        figure, axes = new_figure(13.5, 5.0, 1, 3)
        for axis in (axes[0], axes[2]):
            draw_walls(axis, floor, style)
            axis.set_aspect("equal")
            axis.axis("off")
        _draw_recordings(axes[0], graph, floor.columns, style)
        shades = draw_graph(axes[1], episode.plan, layout, style)
        if episode.goal is not None:
            axes[1].plot(*episode.goal, marker="*", color=style.goal, ms=15, mec=style.paper, zorder=6)
        draw_episode(axes[2], layout, episode, style)
        axes[2].legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=3, frameon=False)
        axes[0].set_title(
            f"1  What was logged\n{counted(agent.data.episodes, 'episode')}, {counted(agent.data.steps, 'step')}"
        )
        axes[1].set_title(
            f"2  What the graph knows\n{counted(graph.n_vertices, 'vertex', 'vertices')}, solved for a new goal"
        )
        axes[2].set_title(f"3  What the policy does\n{ending(episode)}")
        figure.colorbar(shades, ax=axes, label="value of a vertex", shrink=0.8, pad=0.01)
    save_figure(figure, file, dpi=110)


def _draw_recordings(axis: Any, graph: MemoryGraph, columns: tuple[int, ...], style: Style) -> None:
    ends = np.cumsum(graph.lengths + 1)[:-1]
    for walk in np.split(_walked(graph, columns), ends)[:SHOWN]:
        axis.plot(walk[:, 0], walk[:, 1], color=style.edge, lw=0.4, alpha=0.35)


def _walked(graph: MemoryGraph, columns: tuple[int, ...]) -> Float32s:
    """Where every recorded observation was; where the graph does not keep that, where its vertex is."""
    if graph.places is not None and graph.goal_columns == columns:
        return graph.places
    observations = graph.recordings.observations if graph.recordings else graph.states[graph.labels]
    return observations[:, list(columns)]
