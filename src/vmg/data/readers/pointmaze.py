"""The embedded data set: a point that finds its way through gymnasium-robotics' mazes, made on the spot.

A waypoint controller with noise pushes the point from a random cell to a random other cell, again and again, so that
the data covers the whole maze in both directions and at several speeds. The same seed gives the same data, bit for bit.

    observation   x, y, vx, vy        action   force in x and y, -1 to 1
    reward        1 on the step that arrives within 0.45 of the episode's own goal, which ends it; else 0
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from vmg.base.arguments import checked
from vmg.base.console import progress_bar
from vmg.base.errors import VMGError, require
from vmg.base.types import Float32s, Float64s
from vmg.data.episodes import Episodes
from vmg.data.mazes import MazeMap, cell_xy, corridor_distances, free_cells, import_robotics, maze_spec
from vmg.data.readers.base import READERS, Reader

GOAL_RADIUS = 0.45  # the environment's own
SPEEDS = (0.8, 3.0)  # metres per second, drawn for each episode
GAIN = 0.6  # force for each metre per second that is missing
NOISE = 0.4  # standard deviation of the force added
NOISE_MEMORY = 0.9  # how much of the noise lasts to the next step
WAYPOINT_SPREAD = 0.25  # how far from a cell's centre an episode's waypoint may lie

MOST_STEPS = 1_000_000_000  # more do not fit into memory

FIELDS = {"position": (0, 1), "velocity": (2, 3)}

Recorded = tuple[Float32s, Float32s, Float32s, bool, bool]


@checked
def collect(maze: str = "medium", *, steps: int = 100_000, seed: int = 0) -> Episodes:
    """Record exactly `steps` steps in the "umaze", "medium" or "large" maze; about 40 microseconds per step."""
    if not 1 <= steps <= MOST_STEPS:
        raise VMGError(f"pointmaze:{maze}: steps must be at least 1, and at most {MOST_STEPS:,}, not {steps}.")
    if seed < 0:
        raise VMGError(f"pointmaze:{maze}: the seed must not be negative, but is {seed}.")
    spec = maze_spec(maze)
    parts: list[Recorded] = []
    with progress_bar(f"Recording PointMaze {maze}", steps) as advance:
        left = steps
        for part in _record(spec.kwargs["maze_map"], seed, horizon=spec.max_episode_steps):
            parts.append(_shortened(part, left))
            left -= len(parts[-1][1])
            advance(steps - left)
            if left == 0:
                break
    return Episodes.from_list(parts, source=f"pointmaze:{maze}?steps={steps}&seed={seed}", fields=FIELDS)


READERS.add(
    "pointmaze",
    Reader(collect, example="pointmaze:medium?steps=20000&seed=1", options={"steps": int, "seed": int}, makes=True),
)


def _record(cells: MazeMap, seed: int, *, horizon: int) -> Iterator[Recorded]:
    """Yield episodes without end."""
    env = _make(cells)
    rng = np.random.default_rng(seed)
    free, distances = free_cells(cells), corridor_distances(cells)
    env.reset(seed=seed)
    try:
        for start, goal in _starts_and_goals(len(free), rng):
            env.reset(options={"reset_cell": free[start], "goal_cell": free[goal]})
            waypoints = _waypoints(cells, distances[goal], env.goal, rng)
            yield _episode(env, waypoints, rng, horizon)
    finally:
        env.close()


def _starts_and_goals(n_cells: int, rng: np.random.Generator) -> Iterator[tuple[int, int]]:
    """Yield pairs of different cells; every cell is a start once in each round, so that small data misses none."""
    while True:
        for start in rng.permutation(n_cells).tolist():
            yield start, (start + int(rng.integers(1, n_cells))) % n_cells


def _make(cells: MazeMap) -> Any:
    import_robotics()
    point_maze = require("gymnasium_robotics.envs.maze.point_maze", "envs")
    env = point_maze.PointMazeEnv(maze_map=cells, continuing_task=False)
    Path(env.tmp_xml_file_path).unlink(missing_ok=True)  # the environment has read it and would leave it behind
    return env


def _waypoints(
    cells: MazeMap, distances: np.ndarray, goal: Float64s, rng: np.random.Generator
) -> dict[tuple[int, int], tuple[float, float]]:
    """Where to head for from each free cell: a point in the next cell towards the goal, in the goal's cell the goal."""
    free = free_cells(cells)
    points = cell_xy(cells, free) + rng.uniform(-WAYPOINT_SPREAD, WAYPOINT_SPREAD, (len(free), 2))
    points[np.argmin(distances)] = goal
    towards = {}
    for k, (i, j) in enumerate(free.tolist()):
        near = np.flatnonzero(np.abs(free - (i, j)).sum(1) == 1)
        closer = near[distances[near] < distances[k]]
        x, y = points[closer[0] if len(closer) else k]
        towards[i, j] = (float(x), float(y))
    return towards


def _episode(
    env: Any, waypoints: dict[tuple[int, int], tuple[float, float]], rng: np.random.Generator, horizon: int
) -> Recorded:
    """Follow the waypoints until the goal or the horizon. Plain floats: small numpy arrays would double the time."""
    point, (goal_x, goal_y) = env.point_env, env.goal.tolist()
    half_height, half_width = len(env.maze.maze_map) / 2, len(env.maze.maze_map[0]) / 2
    speed, noise = rng.uniform(*SPEEDS), _noise(rng, horizon).tolist()
    x, y, vx, vy = state = point._get_obs()[0].tolist()
    states, arrived = [state], False
    actions: list[Float32s] = []
    while not arrived and len(actions) < horizon:
        waypoint = waypoints.get((int(half_height - y), int(x + half_width)), (x, y))
        action = _force(x, y, vx, vy, waypoint, speed, noise[len(actions)])
        x, y, vx, vy = state = point.step(action)[0].tolist()
        states.append(state)
        actions.append(action)
        arrived = (x - goal_x) ** 2 + (y - goal_y) ** 2 <= GOAL_RADIUS**2
    rewards = np.zeros(len(actions), np.float32)
    rewards[-1] = arrived
    return np.array(states, np.float32), np.array(actions, np.float32), rewards, arrived, not arrived


def _force(
    x: float, y: float, vx: float, vy: float, waypoint: tuple[float, float], speed: float, noise: list[float]
) -> Float32s:
    """Steer the velocity towards the waypoint."""
    dx, dy = waypoint[0] - x, waypoint[1] - y
    scale = speed / max((dx * dx + dy * dy) ** 0.5, 0.25)  # slower when nearly there
    return np.array(
        [
            min(max(GAIN * (dx * scale - vx) + noise[0], -1.0), 1.0),
            min(max(GAIN * (dy * scale - vy) + noise[1], -1.0), 1.0),
        ],
        np.float32,  # rounded first, so that the action recorded is the action carried out
    )


def _noise(rng: np.random.Generator, horizon: int) -> Float64s:
    """Noise that drifts (Ornstein-Uhlenbeck), so that it moves the point and does not average out."""
    fresh = rng.normal(0, NOISE, (horizon, 2))
    for t in range(1, horizon):
        fresh[t] = NOISE_MEMORY * fresh[t - 1] + (1 - NOISE_MEMORY**2) ** 0.5 * fresh[t]
    return fresh


def _shortened(part: Recorded, steps: int) -> Recorded:
    observations, actions, rewards, *_ = part
    if len(actions) <= steps:
        return part
    return observations[: steps + 1], actions[:steps], rewards[:steps], False, True
