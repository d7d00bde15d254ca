"""The story of a maze in one picture: what was recorded, what the graph knows, and what the policy does with it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vmg.act.evaluation import run_episode
from vmg.act.policy import Policy
from vmg.act.tasks import Task
from vmg.agent import Agent
from vmg.data.mazes import MazeMap, cell_xy
from vmg.errors import require
from vmg.files import replacing
from vmg.graph import Solution
from vmg.types import Float32s, Float64s

WALL, INK, PATH, GOAL = "#d9d9d9", "#4d4d4d", "#e66101", "#d7191c"
COLOURS = "viridis"  # reads the same for colour-blind eyes and in grey


@dataclass
class _Watched:
    """A policy that remembers where it was and what it planned first."""

    policy: Policy
    states: list[Float32s]
    solution: Solution | None = None
    plan: list[int] | None = None

    def begin(self, observation: Any) -> None:
        self.policy.begin(observation)
        self.solution, _ = self.policy.agent.goal(observation["desired_goal"])

    def act(self, state: Float32s) -> Float32s:
        self.states.append(state)
        if self.plan is None:
            self.plan = self.policy.decide(state)[0].path
        return self.policy.act(state)


def draw_maze_story(agent: Agent, task: Task, file: Path, *, seed: int = 0) -> None:
    """Draw three floor plans side by side: recorded episodes, the graph by value, and one episode of the policy."""
    require("matplotlib", "view").use("Agg")  # files, not windows
    pyplot = require("matplotlib.pyplot", "view")
    env = task.make()
    watched = _Watched(Policy(agent), [])
    score = run_episode(watched, task, env, seed)
    cells, scale, goal = env.unwrapped.maze.maze_map, env.unwrapped.maze.maze_size_scaling, env.unwrapped.goal
    env.close()
    figure, axes = pyplot.subplots(1, 3, figsize=(13.5, 5.0), layout="constrained")
    for axis in axes:
        _draw_walls(axis, cells, scale)
    assert watched.solution is not None
    _draw_recordings(axes[0], agent)
    shades = _draw_graph(axes[1], agent, watched.solution, goal)
    _draw_episode(axes[2], agent, watched, goal)
    axes[0].set_title(f"1  What was logged\n{agent.data.episodes:,} episodes, {agent.data.steps:,} steps")
    axes[1].set_title(f"2  What the graph knows\n{agent.built.n_vertices:,} vertices, solved for a new goal")
    ended = f"the goal in {score.steps} steps" if score.success else f"{score.ended} after {score.steps} steps"
    axes[2].set_title(f"3  What the policy does\n{ended}")
    figure.colorbar(shades, ax=axes, label="value of a vertex", shrink=0.8, pad=0.01)
    with replacing(file) as beside:
        figure.savefig(beside, format=file.suffix[1:], dpi=110, bbox_inches="tight", metadata={"Software": None})
    pyplot.close(figure)


def _draw_walls(axis: Any, cells: MazeMap, scale: float) -> None:
    for i, row in enumerate(cells):
        for j, cell in enumerate(row):
            if cell == 1:
                x, y = cell_xy(cells, (i, j), scale=scale) - scale / 2
                axis.add_patch(require("matplotlib.patches", "view").Rectangle((x, y), scale, scale, color=WALL, lw=0))
    axis.set(xlim=np.array([-1, 1]) * scale * len(cells[0]) / 2, ylim=np.array([-1, 1]) * scale * len(cells) / 2)
    axis.set_aspect("equal")
    axis.axis("off")


def _places(agent: Agent) -> Float32s:
    assert agent.places is not None
    return agent.places


def _draw_recordings(axis: Any, agent: Agent) -> None:
    ends = np.cumsum(agent.built.lengths + 1)[:-1]
    for walk in np.split(_places(agent), ends)[:150]:
        axis.plot(walk[:, 0], walk[:, 1], color=INK, lw=0.4, alpha=0.35)


def _draw_graph(axis: Any, agent: Agent, solution: Solution, goal: Float64s) -> Any:
    graph, at = agent.built, _places(agent)[agent.built.rows]
    segments = np.stack([at[graph.tails], at[graph.heads]], axis=1)
    lines = require("matplotlib.collections", "view").LineCollection(segments, colors=INK, linewidths=0.3, alpha=0.4)
    axis.add_collection(lines)
    order = np.argsort(solution.values)
    shades = axis.scatter(at[order, 0], at[order, 1], c=solution.values[order], cmap=COLOURS, s=9, lw=0, zorder=2)
    axis.plot(*goal, marker="*", color=GOAL, ms=14, mec="white", zorder=3)
    return shades


def _draw_episode(axis: Any, agent: Agent, watched: _Watched, goal: Float64s) -> None:
    at = _places(agent)[agent.built.rows[watched.plan or []]]
    walk = np.array(watched.states)[:, :2]
    axis.plot(at[:, 0], at[:, 1], color=INK, lw=1, marker="o", ms=3, label="path planned at the start")
    axis.plot(walk[:, 0], walk[:, 1], color=PATH, lw=2, label="where the policy went")
    axis.plot(*walk[0], marker="o", color=PATH, ms=8, mec="white")
    axis.plot(*goal, marker="*", color=GOAL, ms=14, mec="white")
    axis.legend(loc="lower left", fontsize=8, framealpha=0.9)
