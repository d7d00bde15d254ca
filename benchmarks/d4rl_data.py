"""Make the data of the tasks in D4RL's form: python -m benchmarks.d4rl_data NAME ... [--out FOLDER]

kitchen-{complete,partial,mixed}-{d4rl,positions,d4rl-noise}
    The positions of a kitchen set with velocities, named by --from (minari:D4RL/kitchen/partial-v2), with D4RL's
    constant goal behind them, alone, or with the goal and the noise of D4RL's sensors on joints and objects.

antmaze-{umaze,umaze-diverse,medium-play,medium-diverse,large-play,large-diverse}-d4rl
    By D4RL's script: D4RL's goal-reaching ant, named by --ant, walks from cell to cell to a goal, its actions noisy.
    Episodes of 1,000 steps go on when the goal is reached. Starts, goals and the cells in between are drawn as there.
    A step is paid where it arrives within 0.5 m of the evaluation's goal. About 800 steps a second and worker.

    --ant is an .npz with the weights of D4RL's published policy: w and b of the layers 0, 1, mean and log_std.

Each is one .npz, which `vmg train npz:FOLDER/NAME.npz` knows the task of. Nothing is rounded, unless --rounded asks for
observations that went through 16 bits. AntMaze's data depend on --seed, --steps and --workers.
"""

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from vmg.base.console import say
from vmg.data import load, save, takes_keys
from vmg.data.episodes import Episodes
from vmg.envs import find_task
from vmg.envs.families import d4rl
from vmg.envs.families.kitchen import KITCHEN_POSITIONS

ACTION_NOISE, DIRECTION, STEPS = 0.2, 10.0, 1000
JOINTS, JOINT_NOISE, OBJECT_NOISE = 9, 0.1, 0.005
"""The robot's own specification: noise on the positions of its joints and of objects."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Make what is asked for."""
    asked = _parser().parse_args(arguments)
    asked.out.mkdir(parents=True, exist_ok=True)
    for name in asked.names:
        episodes = _kitchen(name, asked) if name.startswith("kitchen") else _ant_maze(name, asked)
        if asked.rounded:
            episodes = replace(episodes, observations=episodes.observations.astype(np.float16))
        save(episodes, asked.out / f"{name}.npz")
        paid = np.mean(
            [np.sum(rewards) > 0 for rewards in np.split(episodes.rewards, np.cumsum(episodes.lengths)[:-1])]
        )
        say(f"{name}: {len(episodes)} episodes, {episodes.n_steps:,} steps; paid in {100 * paid:.0f} %.")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", metavar="NAME")
    parser.add_argument("--from", dest="source", help="a kitchen set with velocities")
    parser.add_argument("--ant", type=Path, help="weights of D4RL's ant")
    parser.add_argument("--steps", type=int, default=1_000_000, help="of AntMaze")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rounded", action="store_true")
    parser.add_argument("--out", type=Path, default=Path())
    return parser


# --- kitchen ----------------------------------------------------------------------------------------------------------


def _kitchen(name: str, asked: argparse.Namespace) -> Episodes:
    task = find_task(name)
    if not asked.source:
        sys.exit(f"{name} is made from a kitchen set with velocities: name it with --from minari:ID.")
    episodes = load(asked.source, keys=("observation",) if takes_keys(asked.source) else None)
    states = episodes.observations[:, list(KITCHEN_POSITIONS)]
    if name.endswith("noise"):
        amplitude = d4rl.SENSOR_NOISE * np.where(np.arange(states.shape[1]) < JOINTS, JOINT_NOISE, OBJECT_NOISE)
        noise = np.random.default_rng(asked.seed).uniform(-1, 1, states.shape)
        states = (states + amplitude * noise).astype(np.float32)
    if not name.endswith("positions"):
        goal = d4rl.kitchen_goal(tuple(task.options["tasks_to_complete"]))
        states = np.hstack([states, np.tile(goal, (len(states), 1))])
    return replace(
        episodes, observations=states, fields=dict(task.fields), left_out={}, source=f"{name} of {episodes.source}"
    )


# --- AntMaze ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Job:
    name: str
    ant: Path
    episodes: int
    seed: int


def _ant_maze(name: str, asked: argparse.Namespace) -> Episodes:
    if not asked.ant:
        sys.exit(f"{name} is walked by D4RL's ant: name the file of its weights with --ant.")
    n = -(-asked.steps // STEPS // asked.workers)
    jobs = [_Job(name, asked.ant, n, 1000 * asked.seed + worker) for worker in range(asked.workers)]
    with ProcessPoolExecutor(asked.workers) as pool:
        walked = [episode for each in pool.map(_walked, jobs) for episode in each]
    goal = d4rl.evaluation_goal(_maze_of(name))
    paid = [np.linalg.norm(states[1:, :2] - goal, axis=1) <= d4rl.NEAR for states, _ in walked]
    parts = [(*walk, rewards.astype(np.float64), False, True) for walk, rewards in zip(walked, paid, strict=True)]
    return replace(Episodes.from_list(parts), source=name, fields=dict(find_task(name).fields))


def _maze_of(name: str) -> str:
    return name.split("-")[1]


def _walked(job: _Job) -> list[tuple[np.ndarray, np.ndarray]]:
    """States and actions of each episode."""
    task, rng, ant = find_task(job.name), np.random.default_rng(job.seed), _Ant(job.ant)
    maze, env = _maze_of(job.name), replace(task, horizon=STEPS + 1).make()
    walks = []
    for _ in range(job.episodes):
        start, goal = _ends(job.name, rng)
        state = task.state_of(env.reset(seed=int(rng.integers(2**31)), options={"start": start})[0])
        states, actions = [state], []
        for _ in range(STEPS):
            way = _way_on(maze, states[-1][:2], goal, rng) - states[-1][:2]
            action = np.clip(ant(states[-1][2:], way, rng) + ACTION_NOISE * rng.standard_normal(8), -1, 1)
            actions.append(action)
            states.append(task.state_of(env.step(action)[0]))
        walks.append((np.array(states, np.float32), np.array(actions, np.float32)))
    env.close()
    return walks


def _ends(name: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Where an episode begins and where it heads.

    Without `diverse`, goals lie in the marked cells (in the U-maze the one, from the one start) and starts in the
    others; with it, both lie anywhere. Both are drawn off their cells, never towards lower x or y.
    """
    maze, diverse = _maze_of(name), "diverse" in name
    goals = d4rl.cells_of(maze, "r.gG" if diverse else "gG" if maze == "large" else "g" if maze == "medium" else "G")
    starts = d4rl.cells_of(maze, "r.gG" if diverse else "r.G" if maze == "medium" else "r.")
    start = d4rl.cell_place(starts[rng.integers(len(starts))]) + rng.uniform(0, 1, 2)
    goal = d4rl.cell_place(goals[rng.integers(len(goals))]) + rng.uniform(0, 1, 2) + rng.uniform(0, 0.5, 2)
    return (np.zeros(2) if name.startswith("antmaze-umaze-d4rl") else start), goal


def _way_on(maze: str, here: np.ndarray, goal: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The next place to head for: the goal in its own cell and the one before it, else off the middle of a cell."""
    here_cell, goal_cell = (
        tuple((1 + np.maximum(xy, 1e-4) // d4rl.CELL).astype(int)[::-1].tolist()) for xy in (here, goal)
    )
    cell = _next_cell(maze, here_cell, goal_cell)
    return goal if cell == goal_cell else d4rl.cell_place(cell) + rng.uniform(0, 1, 2)


@cache
def _next_cell(maze: str, here: tuple[int, int], goal: tuple[int, int]) -> tuple[int, int]:
    """The free cell beside this one that is fewest cells from the goal; an ant in a corner may count as in a wall."""
    free = set(d4rl.cells_of(maze, "r.gG"))
    found, seen = [goal], {goal, here}
    if here == goal:
        return goal
    for row, column in found:
        for beside in ((row, column - 1), (row, column + 1), (row + 1, column), (row - 1, column)):
            if beside == here:
                return row, column
            if beside in free and beside not in seen:
                seen.add(beside)
                found.append(beside)
    return goal


class _Ant:
    """D4RL's ant: 27 readings and a direction in, 8 torques drawn from a squashed normal out."""

    def __init__(self, path: Path) -> None:
        with np.load(path) as weights:
            self._hidden, self._heads = (
                [(weights[f"{layer}/w"], weights[f"{layer}/b"]) for layer in layers]
                for layers in (("0", "1"), ("mean", "log_std"))
            )

    def __call__(self, readings: np.ndarray, way: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        x = np.concatenate([readings, DIRECTION * way / (np.linalg.norm(way) + 1e-6)]).astype(np.float32)
        for w, b in self._hidden:
            x = np.maximum(x @ w + b, 0)
        mean, log_spread = (x @ w + b for w, b in self._heads)
        drawn: np.ndarray = np.tanh(mean + np.exp(np.clip(log_spread, -20, 2)) * rng.standard_normal(8))
        return drawn


if __name__ == "__main__":
    main()
