"""The film at the top of the README: one agent, one goal after the other, nothing learned in between.

python examples/robots/obstacles.py logs.npz
python examples/own_logs.py logs.npz agent
python docs/film.py agent
"""

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.patches import Circle
from PIL import Image

import vmg
from vmg.base.types import Float64s
from vmg.view.style import STYLES, Style, new_figure, styled, value_colours

ROOT = Path(__file__).parents[1]
GOALS = ((2.0, -2.0), (-2.0, 2.1), (2.1, 2.1))
START = (-2.1, -2.1)
TOLERANCE = 0.2
PAUSE = 12
"""Frames that a new goal is shown before the robot moves."""


@dataclass(frozen=True, eq=False)
class Leg:
    """The way to one goal."""

    goal: tuple[float, float]
    values: Float64s
    milliseconds: float
    places: Float64s


def drive(agent: vmg.Agent) -> list[Leg]:
    """Drive from goal to goal, with a new plan for each."""
    robot, legs = vmg.find_task(f"{ROOT}/examples/robots/obstacles.py:task").make(), []
    state = robot.reset(seed=0, options={"place": START})[0]["observation"]
    objectives = [vmg.goals.near(goal, columns=(0, 1), tolerance=TOLERANCE) for goal in GOALS]
    for goal, objective in zip(GOALS, objectives, strict=True):
        plan = agent.plan(objective)
        policy, places = plan.policy(), [state[:2]]
        while not objective.reached(state[None])[0]:
            state = robot.step(policy.act(state))[0]["observation"]
            places.append(state[:2])
            assert len(places) < 300, f"It does not get to {goal}."
        legs.append(Leg(goal, plan.values, _milliseconds(agent, objective), np.array(places, dtype=np.float64)))
    return legs


def _milliseconds(agent: vmg.Agent, objective: vmg.Objective) -> float:
    """Return how long planning takes: the median of twenty times."""
    times = []
    for _ in range(20):
        begun = time.perf_counter()
        agent.plan(objective)
        times.append(time.perf_counter() - begun)
    return 1000 * float(np.median(times))


def frames(agent: vmg.Agent, legs: list[Leg], style: Style) -> Iterator[Image.Image]:
    """Draw every moment: the graph in the colours of its values, the goal, the robot and where it was."""
    rocks, states = sys.modules["obstacles"], agent.built.states
    for number, leg in enumerate(legs):
        figure, (axis,) = new_figure(4.6, 4.8, 1, 1)
        axis.set(xlim=(-rocks.WALL, rocks.WALL), ylim=(-rocks.WALL, rocks.WALL), aspect="equal", xticks=[], yticks=[])
        for place, radius in zip(rocks.ROCKS, rocks.RADII, strict=True):
            axis.add_patch(Circle(place, radius, color=style.wall))
        axis.scatter(*states[:, :2].T, c=np.argsort(np.argsort(leg.values)), cmap=value_colours(style), s=14, lw=0)
        axis.plot(*leg.goal, marker="*", color=style.goal, ms=19, mec=style.paper, mew=1.2)
        for before in legs[:number]:
            axis.plot(*before.places.T, color=style.trail, lw=1.5, alpha=0.35)
        (trail,) = axis.plot([], [], color=style.trail, lw=2.5)
        (robot,) = axis.plot([], [], marker="o", color=style.trail, mec=style.paper, mew=1.5, ms=12)
        words = "solved" if number == 0 else "solved again"
        axis.set_title(f"Goal {number + 1}: {words} in {leg.milliseconds:.0f} ms", fontsize=12)
        for moment in (*[1] * PAUSE, *range(1, len(leg.places) + 1, 2), len(leg.places)):
            trail.set_data(*leg.places[:moment].T)
            robot.set_data(*leg.places[moment - 1 : moment].T)
            yield _picture(figure)


def _picture(figure: Any) -> Image.Image:
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")


def main(folder: str) -> None:
    """Draw the film for light and for dark pages."""
    agent = vmg.Agent.load(folder)
    legs = drive(agent)
    for theme in STYLES:
        with styled(theme) as style:
            first, *others = frames(agent, legs, style)
        file = ROOT / "docs" / "images" / f"film-{theme}.webp"
        first.save(file, save_all=True, append_images=others, duration=60, loop=0, quality=50, minimize_size=True)


if __name__ == "__main__":
    main(sys.argv[1])
