"""Where vertices lie on paper: on the floor of a maze, or in two dimensions found by UMAP."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vmg.base.console import progress_bar
from vmg.base.errors import require
from vmg.base.types import Float32s, Float64s, Int32s
from vmg.envs import Floor, Task
from vmg.graph import MemoryGraph

LAID_OUT = 8_000
"""Vertices that UMAP places itself, in seconds; more would take minutes and look the same."""
NEIGHBOURS = 15
EPOCHS = 200
FEWEST = 20
"""Fewer vertices than this are placed by their principal components."""


@dataclass(frozen=True, eq=False)
class Layout:
    """A place on paper for every vertex, and how it was found."""

    points: Float64s
    title: str
    note: str
    """What a reader of the picture has to know."""
    floor: Floor | None = None
    columns: tuple[int, ...] = ()
    """The columns of a state that say where it is on the floor."""

    def trail(self, states: Float32s, vertices: Int32s) -> Float64s:
        """Return where an episode went: itself on a floor, its vertices elsewhere."""
        return states[:, list(self.columns)].astype(np.float64) if self.floor else self.points[vertices]


def lay_out(features: Float32s, *, seed: int = 0) -> Layout:
    """Lay vertices out in two dimensions by UMAP of where they are in the metric space; the same for the same seed."""
    n = len(features)
    if n < FEWEST:
        return by_components(features, "Principal components: there are too few vertices for UMAP.")
    chosen = np.arange(n)
    note = f"UMAP of all {n:,} vertices: near is near, but gaps and areas mean little."
    if n > LAID_OUT:
        chosen = np.sort(np.random.default_rng(seed).choice(n, LAID_OUT, replace=False))
        note = (
            f"UMAP of {LAID_OUT:,} of the {n:,} vertices, the others put between those most like them: near is near, "
            "but gaps and areas mean little."
        )
    with progress_bar("Laying out the graph", 1):
        placed = _umap(features[chosen], seed)
        points = placed if len(chosen) == n else _between(features, features[chosen], placed)
    return Layout(points, "The graph in two dimensions", note)


def by_components(features: Float32s, note: str = "") -> Layout:
    """Lay vertices out by the two directions of the metric space in which they differ most."""
    return Layout(_principal(features), "The graph in two dimensions", note)


def by_columns(graph: MemoryGraph, columns: tuple[int, int], names: Sequence[str]) -> Layout:
    """Lay vertices out by two columns of their states, of which these are the names."""
    x, y = (names[column] for column in columns)
    return Layout(graph.states[:, list(columns)].astype(np.float64), f"The graph by {x} and {y}", "", columns=columns)


def floor_plan(graph: MemoryGraph, floor: Floor) -> Layout:
    """Put every vertex where its state is on the maze's floor."""
    points = graph.states[:, list(floor.columns)].astype(np.float64)
    return Layout(points, "The graph on the floor plan", "", floor, floor.columns)


def floor_of(task: Task, graph: MemoryGraph) -> Floor | None:
    """Return the maze a task takes place in, as the task or its environment has it; None where the state has no place.

    The columns that say where a state is are the floor's own, or those in which goals are named.
    """
    columns = task.floor.columns if task.floor else ()
    columns = columns or graph.goal_columns or (task.goal.columns if task.goal else ())
    if len(columns) != 2:
        return None
    if task.floor:
        return replace(task.floor, columns=columns)
    env = task.make()
    maze: Any = getattr(getattr(env, "unwrapped", env), "maze", None)
    env.close()
    return Floor(maze.maze_map, maze.maze_size_scaling, columns=columns) if hasattr(maze, "maze_map") else None


def _umap(features: Float32s, seed: int) -> Float64s:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of TensorFlow that is not there, and of the neighbours found here
        umap = require("umap", "view")
        neighbours = min(NEIGHBOURS, len(features))
        distances, indices = _tree(features).query(features, neighbours)
        placing = umap.UMAP(
            n_neighbors=neighbours,
            precomputed_knn=(indices.astype(np.int32), distances.astype(np.float32)),
            force_approximation_algorithm=True,
            init=_spread(_principal(features)),
            n_epochs=EPOCHS,
            random_state=seed,
            n_jobs=1,
        )
        return np.asarray(placing.fit_transform(features), dtype=np.float64)


def _between(features: Float32s, known: Float32s, placed: Float64s) -> Float64s:
    """Place each vertex between the three known ones most like it, much nearer to the more alike."""
    distances, indices = _tree(known).query(features, 3)
    weights = 1 / np.maximum(distances, 1e-9) ** 3
    weights /= weights.sum(1, keepdims=True)
    points: Float64s = (placed[indices] * weights[..., None]).sum(1)
    return points


def _principal(features: Float32s) -> Float64s:
    """Return the first two principal components, their signs fixed."""
    centred = features.astype(np.float64) - features.mean(0, dtype=np.float64)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    directions = directions[:2] * np.sign(directions[:2].sum(1, keepdims=True) + 1e-12)
    points = np.zeros((len(features), 2))
    points[:, : len(directions)] = centred @ directions.T
    return points


def _spread(points: Float64s) -> Float32s:
    """Scale to the size UMAP starts from."""
    return (10 * points / max(float(np.abs(points).max()), 1e-12)).astype(np.float32)


def _tree(features: Float32s) -> Any:
    from scipy.spatial import cKDTree

    return cKDTree(features)
