"""OGBench's reference methods on the files that VMG learned from: python -m benchmarks.ogbench_peers --repository DIR

--repository is a checkout of github.com/seohongpark/ogbench; it needs flax, distrax and ml_collections, and with
JAX 0.11 or later the nightly tensorflow-probability (tfp-nightly). Nothing of it is changed: networks, losses, the
sampler of batches, and the settings that impls/hyperparameters.sh has for each data set. Batches are drawn by that
sampler as row numbers, the rows are gathered on the device, and so many updates are one call; the models of all seeds
learn side by side. They act at temperature 0, in the environments, tasks and seeds of `vmg reproduce ogbench`, which
finds the rows in the file that --json names, FOLDER/ogbench-peers.json.
"""

import argparse
import importlib
import multiprocessing
import os
import shlex
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from vmg.base.console import progress_bar, say
from vmg.base.files import read_json, write_json
from vmg.base.versions import versions
from vmg.data import load
from vmg.envs import Task, task_of
from vmg.evaluation import EpisodeScore, Scores, Summary
from vmg.evaluation.together import Wanted, run_together

METHODS = ("hiql", "qrl", "crl", "gciql")
ALL_METHODS = (*METHODS, "gcivl", "gcbc")
UPDATES = 1_000_000
CHUNK = 200
"""Updates in one call."""
DRAWING, AHEAD = 4, 8
"""Processes that draw batches, and how many calls they may be ahead."""
ROWS = ("observations", "next_observations", "value_goals", "actor_goals", "low_actor_goals", "high_actor_goals",
        "high_actor_targets", "actions")  # fmt: skip
"""What a batch has that is gathered from rows of the data."""
NUMBERS = ("masks", "rewards")
ONE_CORE = {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}
"""For the processes that act: each has a core."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Train and evaluate what is asked for; rows that are there already are kept."""
    asked = _parser().parse_args(arguments)
    sys.path.insert(0, str(asked.repository / "impls"))
    for name in asked.tasks:
        for method in asked.methods:
            if not any(_is(row, name, method, asked) for row in _rows(asked.json)):
                row = _measure(name, method, asked)
                write_json(asked.json, [*(r for r in _rows(asked.json) if not _is(r, name, method)), row])
                say(f"{name}, {method}: {row['score']:.1f}, {row['gpu_seconds']:.0f} s per model.")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repository", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=Path(), help="folder of the files")
    parser.add_argument("--tasks", nargs="+", required=True, metavar="DATASET", help="antmaze-giant-stitch, ...")
    parser.add_argument("--methods", nargs="+", choices=ALL_METHODS, default=METHODS)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--updates", type=int, default=UPDATES, help="OGBench's are a million")
    parser.add_argument("--episodes", type=int, default=250)
    parser.add_argument("--workers", type=int, help="processes that evaluate; all cores without it")
    parser.add_argument("--json", type=Path, default=Path("ogbench-peers.json"))
    return parser


def _rows(file: Path) -> list[dict[str, Any]]:
    return list(read_json(file)) if file.exists() else []


def _is(row: Mapping[str, Any], name: str, method: str, asked: argparse.Namespace | None = None) -> bool:
    same = (row["task"], row["method"]) == (name, method.upper())
    if asked is None:
        return same
    measured = row["seeds"], row["updates"], row["episodes"]
    return same and measured == (asked.seeds, asked.updates, asked.episodes)


def _measure(name: str, method: str, asked: argparse.Namespace) -> dict[str, Any]:
    file = asked.data / f"{name}-v0.npz"
    source, config = f"ogbench:{file}", settings_of(asked.repository, name, method)
    say(f"{name}, {method}: {asked.updates:,} updates of {len(asked.seeds)} models.")
    learned = learn(file, config, asked.seeds, asked.updates)
    os.environ.update(ONE_CORE)  # this process has its device already
    episodes = load(source)
    actors = [PeerActor(str(asked.repository.absolute()), config, learned.sizes, each) for each in learned.models]
    scores = _scores(actors, task_of(source), asked)
    tasks = [each.by("task_id") for each in scores]
    return {
        "task": name,
        "method": method.upper(),
        **Summary.of(scores).to_dict(),
        "by_task": {task: float(np.mean([each[task] for each in tasks])) for task in tasks[0]},
        "seeds": asked.seeds,
        "updates": asked.updates,
        "gpu_seconds": learned.seconds / len(asked.seeds),
        "seconds": learned.seconds,
        "device": learned.device,
        "settings": config,
        "data": {"id": source, "digest": episodes.digest, "steps": episodes.n_steps},
        "command": _command(name, method, asked),
        "versions": versions(),
    }


def _scores(actors: Sequence["PeerActor"], task: Task, asked: argparse.Namespace) -> list[Scores]:
    """Evaluate all models with one set of workers."""
    wanted = [Wanted(partial(_itself, actor), task, range(asked.episodes)) for actor in actors]
    found: list[dict[int, EpisodeScore]] = [{} for _ in actors]
    for model, score in run_together(wanted, workers=asked.workers):
        found[model][score.seed] = score
    in_order = (tuple(each[seed] for seed in range(asked.episodes)) for each in found)
    return [Scores(task.name, task.protocol, task.score_range, each) for each in in_order]


def _itself(actor: "PeerActor") -> "PeerActor":
    return actor


def _command(name: str, method: str, asked: argparse.Namespace) -> str:
    words = ["python", "-m", "benchmarks.ogbench_peers", "--repository", "ogbench", "--tasks", name]
    words += ["--methods", method, "--seeds", *map(str, asked.seeds)]
    words += ["--updates", str(asked.updates)] if asked.updates != UPDATES else []
    return shlex.join(words)


# --- OGBench's settings, sampler and agents ---------------------------------------------------------------------------


def settings_of(repository: Path, name: str, method: str) -> dict[str, Any]:
    """Return a method's settings, with those that OGBench's commands change for this data set."""
    config = importlib.import_module(f"agents.{method}").get_config()
    start, agent = f"python main.py --env_name={name}-v0 ", f"--agent=agents/{method}.py"
    lines = (repository / "impls" / "hyperparameters.sh").read_text(encoding="utf-8").splitlines()
    found = [line.split() for line in lines if line.startswith(start) and agent in line.split()]
    if len(found) != 1:
        sys.exit(f"OGBench has {len(found)} commands for {method} on {name}.")
    for word in found[0]:
        if word.startswith("--agent."):
            key, value = word.removeprefix("--agent.").split("=")
            config[key] = _like(config[key], value)
    return dict(config)


def _like(value: Any, text: str) -> Any:
    return text == "True" if isinstance(value, bool) else text if isinstance(value, str) else type(value)(text)


@dataclass(frozen=True)
class Learned:
    """The weights of each model, and what they took."""

    models: list[Any]
    sizes: tuple[int, int]
    seconds: float
    device: str


def learn(file: Path, config: dict[str, Any], seeds: Sequence[int], updates: int) -> Learned:
    """Learn one model per seed, side by side."""
    import jax

    with np.load(file) as data:
        states, actions, terminals = (data[name] for name in ("observations", "actions", "terminals"))
    states, actions = (jax.device_put(each.astype(np.float32)) for each in (states, actions))
    agents = [_agent(config, states[:1], actions[:1], seed) for seed in seeds]
    leaves = zip(*map(jax.tree.leaves, agents), strict=True)  # not by a map: each has an optimiser object of its own
    stacked = jax.tree.unflatten(jax.tree.structure(agents[0]), [jax.numpy.stack(each) for each in leaves])
    advance = jax.jit(_advance, donate_argnums=0)
    began = time.perf_counter()
    done = 0
    with progress_bar(f"Learning {config['agent_name']}", updates) as show:
        for batch in _batches(config, terminals, seeds, updates):
            stacked = advance(stacked, states, actions, batch)
            done += len(batch["rewards"])
            show(done)
    stacked = jax.block_until_ready(stacked)
    seconds = time.perf_counter() - began
    weights = jax.device_get(stacked.network.params)
    models = [jax.tree.map(lambda leaf, i=i: leaf[i], weights) for i in range(len(seeds))]
    return Learned(models, (states.shape[1], actions.shape[1]), seconds, jax.devices()[0].device_kind)


def _agent(config: dict[str, Any], states: Any, actions: Any, seed: int) -> Any:
    agents = importlib.import_module("agents").agents
    return agents[config["agent_name"]].create(seed, states, actions, config)


def _advance(agents: Any, states: Any, actions: Any, batches: dict[str, Any]) -> Any:
    """Update all models by several batches, each given by rows."""
    import jax

    def update(agent: Any, rows: dict[str, Any]) -> Any:
        batch = {
            name: (actions if name == "actions" else states)[each] if name in ROWS else each
            for name, each in rows.items()
        }
        return agent.update(batch)[0]

    def step(agents: Any, rows: dict[str, Any]) -> tuple[Any, None]:
        return jax.vmap(update)(agents, rows), None

    return jax.lax.scan(step, agents, batches)[0]


class _Sampler:
    """OGBench's own sampler on a data set whose observations and actions are their row numbers."""

    def __init__(self, config: dict[str, Any], terminals: np.ndarray) -> None:
        datasets, rows = importlib.import_module("utils.datasets"), np.arange(len(terminals), dtype=np.int32)
        ends = terminals.astype(np.float32)
        # OGBench's compact layout: the last row of an episode is only where it ended, the one before it ends it, too
        last = np.minimum(ends + np.append(ends[1:], 1.0), 1.0)
        data = datasets.Dataset.create(observations=rows, actions=rows.copy(), terminals=last, valids=1.0 - ends)
        self._of = getattr(datasets, config["dataset_class"])(data, config)
        self._size = config["batch_size"]

    def draw(self, seed: int, first: int, n: int) -> dict[str, np.ndarray]:
        """Return `n` batches from update `first` on; they depend on this and the seed alone."""
        np.random.seed([seed, first])  # noqa: NPY002
        drawn = self._of.sample(n * self._size)
        kinds = {**dict.fromkeys(ROWS, np.int32), **dict.fromkeys(NUMBERS, np.float32)}
        return {name: drawn[name].reshape(n, -1).astype(kind) for name, kind in kinds.items() if name in drawn}


def _batches(
    config: dict[str, Any], terminals: np.ndarray, seeds: Sequence[int], updates: int
) -> Iterator[dict[str, np.ndarray]]:
    """Yield batches of all models for the updates of each call: (updates, models, batch).

    Processes draw ahead: OGBench's sampler alone takes longer than the updates.
    """
    calls = [(first, min(CHUNK, updates - first)) for first in range(0, updates, CHUNK)]
    of = [path for path in sys.path if path.endswith("impls")], config, terminals
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(DRAWING, spawn, initializer=_start_drawing, initargs=of) as pool:
        coming: deque[list[Future[dict[str, np.ndarray]]]] = deque()
        for first, n in calls:
            coming.append([pool.submit(_draw, seed, first, n) for seed in seeds])
            if len(coming) > AHEAD:
                yield _stacked(coming.popleft())
        yield from map(_stacked, coming)


def _stacked(drawn: Sequence[Future[dict[str, np.ndarray]]]) -> dict[str, np.ndarray]:
    each = [one.result() for one in drawn]
    return {name: np.stack([one[name] for one in each], axis=1) for name in each[0]}


_sampler: _Sampler | None = None
"""That of a process that draws."""


def _start_drawing(paths: Sequence[str], config: dict[str, Any], terminals: np.ndarray) -> None:
    global _sampler
    os.environ.update(ONE_CORE)
    sys.path[:0] = paths
    _sampler = _Sampler(config, terminals)


def _draw(seed: int, first: int, n: int) -> dict[str, np.ndarray]:
    assert _sampler is not None
    return _sampler.draw(seed, first, n)


@dataclass(eq=False)
class PeerActor:
    """A model that acts; sent to another process, it makes its agent there."""

    repository: str
    config: dict[str, Any]
    sizes: tuple[int, int]
    weights: Any = field(repr=False)
    _act: Any = field(default=None, repr=False)
    _goal: Any = field(default=None, repr=False)

    def begin(self, observation: Any, objective: Any) -> None:
        """Head for the observation that the environment wants."""
        if self._act is None:
            self._act = self._acting()
        self._goal = np.asarray(observation["wanted_observation"], np.float32)

    def act(self, state: np.ndarray) -> np.ndarray:
        """Return the action; the mean of what the method would draw."""
        return np.clip(np.asarray(self._act(state, self._goal)), -1, 1)

    def _acting(self) -> Any:
        import jax

        if (impls := os.path.join(self.repository, "impls")) not in sys.path:
            sys.path.insert(0, impls)
        states, actions = self.sizes
        agent = _agent(self.config, np.zeros((1, states), np.float32), np.zeros((1, actions), np.float32), 0)
        agent = agent.replace(network=agent.network.replace(params=self.weights))
        key = jax.random.PRNGKey(0)
        return jax.jit(lambda state, goal: agent.sample_actions(state, goal, seed=key, temperature=0.0))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_act": None}


if __name__ == "__main__":
    main()
