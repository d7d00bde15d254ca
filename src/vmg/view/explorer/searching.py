"""Finding vertices: by number, by episode, by a place in a field, by a comparison."""

import operator
import re
from typing import Any

import numpy as np

from vmg.base.errors import VMGError
from vmg.base.types import Float64s, Int64s
from vmg.data.counting import counted
from vmg.envs.words import read_goal
from vmg.graph.routes.base import without_repeats
from vmg.view.explorer.graphs import Explored

MOST = 1000
"""Vertices that are found."""
NEAREST = 20
"""Vertices that are found for a place."""
HOW = 'Write a vertex ("12"), "episode 3", a place ("position=1,1") or a comparison ("velocity[0]>0.5").'
_COMPARE = {"<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge}
_COMPARISON = re.compile(r"(.+?)\s*(<=|>=|<|>)\s*([-+.\deE]+)")


def search(shown: Explored, text: str) -> dict[str, Any]:
    """Return the vertices that a text means, and say what they are."""
    text = text.strip()
    if text.isascii() and text.isdecimal():
        return _found([shown.checked(int(text[:18]))], f"Vertex {int(text[:18])}.")
    if match := re.fullmatch(r"(?:episode|ep)\s*(\d{1,9})", text):
        return _episode(shown, int(match[1]))
    if match := _COMPARISON.fullmatch(text):
        return _compared(shown, match[1], match[2], match[3])
    if "=" in text:
        return _nearest(shown, text)
    raise VMGError(HOW)


def _episode(shown: Explored, episode: int) -> dict[str, Any]:
    first = int(shown.firsts[shown.checked_episode(episode)])
    labels = shown.graph.labels[first : first + int(shown.graph.lengths[episode]) + 1]
    return _found(without_repeats(labels.tolist()), f"The way of recorded episode {episode}.")


def _compared(shown: Explored, name: str, sign: str, number: str) -> dict[str, Any]:
    numbers = _column(shown, name)
    try:
        limit = float(number)
    except ValueError as error:
        raise VMGError(HOW) from error
    vertices = np.flatnonzero(_COMPARE[sign](numbers, limit))
    return _found(vertices.tolist(), f"{counted(len(vertices), 'vertex', 'vertices')} with {name} {sign} {limit:g}.")


def _column(shown: Explored, name: str) -> Float64s:
    if name in ("visits", "episodes", "reward"):
        return shown.array(name)
    columns = shown.fields.get(name, ())
    if len(columns) == 1:
        return shown.array(f"column:{columns[0]}")
    if name not in shown.columns:
        raise VMGError(f"There is no column {name!r}. There are: {', '.join(shown.columns)}, visits, episodes, reward.")
    return shown.array(f"column:{shown.columns.index(name)}")


def _nearest(shown: Explored, text: str) -> dict[str, Any]:
    states = shown.graph.states
    goal = read_goal(text, shown.fields, states.shape[1], whose=str(shown.run.folder))
    distances = goal.objective(0.0).distances(states)
    vertices: Int64s = np.argsort(distances, kind="stable")[:NEAREST]
    inside = np.flatnonzero(distances <= 0)
    if len(inside) > NEAREST:
        return _found(inside.tolist(), f"{counted(len(inside), 'vertex', 'vertices')} in {text}.")
    return _found(vertices.tolist(), f"The {len(vertices)} vertices nearest to {text}, the nearest first.")


def _found(vertices: list[int], said: str) -> dict[str, Any]:
    more = f" The first {MOST:,} are shown." if len(vertices) > MOST else ""
    return {"vertices": vertices[:MOST], "count": len(vertices), "said": said + more}
