"""Facts about gymnasium-robotics' mazes: their maps, the free cells, where cells lie, and how far they are apart.

A map is a list of rows, 1 for a wall. Cell (row, column) is a square of `scale` metres; the maze's centre is the
origin, x runs with the columns and y against the rows.
"""

import contextlib
import io
import sys
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vmg.base.errors import VMGError, require
from vmg.base.types import Float64s, Int64s

MazeMap = Sequence[Sequence[int | str]]

ENVIRONMENTS = {"umaze": "PointMaze_UMaze-v3", "medium": "PointMaze_Medium-v3", "large": "PointMaze_Large-v3"}


def maze_spec(maze: str) -> Any:
    """The registered specification of a PointMaze; `kwargs["maze_map"]` is its map, `max_episode_steps` its horizon."""
    if maze not in ENVIRONMENTS:
        raise VMGError(f"{maze!r} is not a maze. There are: {', '.join(ENVIRONMENTS)}.")
    import_robotics()
    return require("gymnasium", "envs").spec(ENVIRONMENTS[maze])


def maze_map(maze: str) -> MazeMap:
    """The map of the maze called "umaze", "medium" or "large"."""
    cells: MazeMap = maze_spec(maze).kwargs["maze_map"]
    return cells


def free_cells(cells: MazeMap) -> Int64s:
    """Every (row, column) that is not a wall, in reading order."""
    return np.array([(i, j) for i, row in enumerate(cells) for j, cell in enumerate(row) if cell != 1])


def cell_xy(cells: MazeMap, cell: ArrayLike, *, scale: float = 1.0) -> Float64s:
    """The centre (x, y) of a cell, or of each of several cells."""
    rows, columns = np.moveaxis(np.asarray(cell), -1, 0)
    return np.stack([columns + 0.5 - len(cells[0]) / 2, len(cells) / 2 - rows - 0.5], axis=-1) * scale


def cell_at(cells: MazeMap, xy: ArrayLike, *, scale: float = 1.0) -> Int64s:
    """The (row, column) of the cell a point lies in, or each of several points."""
    x, y = np.moveaxis(np.asarray(xy, dtype=np.float64) / scale, -1, 0)
    return np.stack([np.floor(len(cells) / 2 - y), np.floor(x + len(cells[0]) / 2)], axis=-1).astype(np.int64)


def corridor_distances(cells: MazeMap) -> Int64s:
    """Cells to walk from each free cell to each other, in the order of `free_cells`; -1 where no way leads."""
    free = [tuple(cell) for cell in free_cells(cells).tolist()]
    index = {cell: k for k, cell in enumerate(free)}
    return np.array([_distances_from(cell, index) for cell in free])


def import_robotics() -> Any:
    """Import gymnasium-robotics without the notice about Adroit rewards that it prints on standard error."""
    if "gymnasium_robotics" in sys.modules:
        return sys.modules["gymnasium_robotics"]
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            return require("gymnasium_robotics", "envs")
    finally:
        rest = [line for line in said.getvalue().splitlines(keepends=True) if not line.startswith("AdroitHand")]
        sys.stderr.writelines(rest)


def _distances_from(start: tuple[int, ...], index: dict[tuple[int, ...], int]) -> list[int]:
    distances = [-1] * len(index)
    distances[index[start]] = 0
    queue = deque([start])
    while queue:
        i, j = queue.popleft()
        for beside in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)):
            if beside in index and distances[index[beside]] < 0:
                distances[index[beside]] = distances[index[i, j]] + 1
                queue.append(beside)
    return distances
