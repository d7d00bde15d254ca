"""Evaluation: episodes in a real environment, each with its own fixed seed, on all cores.

Every episode is run by one process from its first step to its last and depends on its seed alone, so the number of
workers changes nothing but the time.
"""

import os
import pickle
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from multiprocessing import get_context
from pathlib import Path
from pickle import PicklingError
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from vmg.act.tasks import Task
from vmg.console import progress_bar
from vmg.errors import VMGError
from vmg.statistics import bootstrap_interval
from vmg.types import Float32s


class Actor(Protocol):
    """Anything that can be evaluated."""

    def begin(self, observation: Any) -> None:
        """Start an episode: forget the last one, note the goal if the environment's observation names one."""

    def act(self, state: Float32s) -> ArrayLike:
        """Return the action in this state."""


@dataclass(frozen=True)
class EpisodeScore:
    """How one episode went."""

    seed: int
    steps: int
    reward: float
    """Its return."""
    success: bool | None
    """What the environment says; None where it says nothing."""
    ended: str
    """"success", "terminated" or "time out"."""
    report: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Scores:
    """What an evaluation measured; intervals are 95 % bootstrap intervals over episodes."""

    task: str
    protocol: str
    score_range: tuple[float, float]
    episodes: tuple[EpisodeScore, ...]

    @cached_property
    def mean_return(self) -> float:
        return float(np.mean([e.reward for e in self.episodes]))

    @cached_property
    def normalised(self) -> tuple[float, ...]:
        """Each episode's return, as a score from 0 to 100."""
        low, high = self.score_range
        return tuple(100 * (e.reward - low) / (high - low) for e in self.episodes)

    @cached_property
    def score(self) -> float:
        return float(np.mean(self.normalised))

    @cached_property
    def interval(self) -> tuple[float, float]:
        return bootstrap_interval([self.normalised])

    @cached_property
    def success_rate(self) -> float | None:
        """Share of episodes the environment called a success, in percent; None where it says nothing."""
        known = [e.success for e in self.episodes if e.success is not None]
        return 100 * float(np.mean(known)) if known else None

    @cached_property
    def endings(self) -> dict[str, int]:
        return dict(Counter(e.ended for e in self.episodes).most_common())

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON; the summary first, then every episode."""
        return {
            "task": self.task,
            "protocol": self.protocol,
            "n_episodes": len(self.episodes),
            "score": self.score,
            "interval": list(self.interval),
            "success_rate": self.success_rate,
            "mean_return": self.mean_return,
            "endings": self.endings,
            "score_range": list(self.score_range),
            "episodes": [asdict(e) for e in self.episodes],
        }


def evaluate(
    actor: Actor,
    task: Task,
    *,
    episodes: int = 100,
    first_seed: int = 0,
    workers: int | None = None,
    known: Sequence[EpisodeScore] = (),
    on_episode: Callable[[EpisodeScore], None] | None = None,
    title: str = "",
    show_progress: bool | None = None,
) -> Scores:
    """Run `episodes` episodes with the seeds first_seed, first_seed + 1, … and score them.

    `workers`: processes, all cores by default; 1 runs here, which any environment allows. `known` episodes are not run
    again; `on_episode` is called with each new one as it ends. `title` says on the progress bar who is evaluated.
    """
    if episodes < 1:
        raise VMGError(f"An evaluation needs at least one episode, not {episodes}.")
    seeds = range(first_seed, first_seed + episodes)
    done = {e.seed: e for e in known if e.seed in seeds}
    missing = [seed for seed in seeds if seed not in done]
    workers = min(workers or os.cpu_count() or 1, max(len(missing), 1))
    with progress_bar(f"Evaluating {title or task.name}", episodes, show=show_progress) as advance:
        advance(len(done))
        for result in _results(actor, task, missing, workers):
            done[result.seed] = result
            if on_episode:
                on_episode(result)
            advance(len(done), _note(task, list(done.values())))
    return Scores(task.name, task.protocol, task.score_range, tuple(done[seed] for seed in seeds))


def run_episode(actor: Actor, task: Task, env: Any, seed: int) -> EpisodeScore:
    """Run one episode from its seed."""
    observation, info = env.reset(seed=seed, options=dict(task.begin(seed)) if task.begin else None)
    actor.begin(observation)
    total, steps, terminated, truncated = 0.0, 0, False, False
    while not (terminated or truncated):
        action = np.asarray(actor.act(task.state_of(observation)))
        observation, reward, terminated, truncated, info = env.step(action)
        total, steps = total + float(reward), steps + 1
        truncated = truncated or (task.horizon is not None and steps >= task.horizon)
    success = _success(info)
    ended = "success" if success else "terminated" if terminated else "time out"
    return EpisodeScore(
        seed, steps, total, success, ended, {key: _plain(info[key]) for key in task.report if key in info}
    )


def _results(actor: Actor, task: Task, seeds: Sequence[int], workers: int) -> Iterator[EpisodeScore]:
    if workers == 1:
        with threadpool_limits(1), _environment(task) as env:
            for seed in seeds:
                yield run_episode(actor, task, env, seed)
        return
    try:
        with _handed_over(actor, task) as file, _pool(workers, file) as pool:
            futures = [pool.submit(_run_in_worker, seed) for seed in seeds]
            try:
                for future in as_completed(futures):
                    yield future.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    except BrokenProcessPool as error:
        raise VMGError(
            "The processes that run the episodes could not start or died. In a script, evaluate under "
            '`if __name__ == "__main__":`, or use workers=1, which also shows what went wrong.'
        ) from error
    except (PicklingError, AttributeError, TypeError) as error:
        if "pickle" not in str(error):
            raise
        raise VMGError(
            f"The task or the policy cannot be sent to other processes ({error}). Use functions defined at the top of "
            "a module, or workers=1."
        ) from error


@contextmanager
def _handed_over(actor: Actor, task: Task) -> Iterator[Path]:
    """What the workers need, in a file: a pipe to one that dies at its start would take no more and be waited for."""
    with TemporaryDirectory(prefix="vmg-") as folder:
        file = Path(folder) / "work.pickle"
        with open(file, "wb") as out:
            pickle.dump((actor, task), out, pickle.HIGHEST_PROTOCOL)
        yield file


def _pool(workers: int, file: Path) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, get_context("spawn"), _prepare_worker, (file,))


_worker: dict[str, Any] = {}


def _prepare_worker(file: Path) -> None:
    threadpool_limits(1)  # one core a worker; and sums do not depend on how many there are
    with open(file, "rb") as work:
        actor, task = pickle.load(work)  # written a moment ago by the process that started this one
    _worker.update(actor=actor, task=task, env=task.make())


def _run_in_worker(seed: int) -> EpisodeScore:
    return run_episode(_worker["actor"], _worker["task"], _worker["env"], seed)


@contextmanager
def _environment(task: Task) -> Iterator[Any]:
    env = task.make()
    try:
        yield env
    finally:
        env.close()


def _success(info: dict[str, Any]) -> bool | None:
    for key in ("success", "is_success"):
        if key in info:
            return bool(info[key])
    if "tasks_to_complete" in info:  # the kitchen: what is still to be done
        return len(info["tasks_to_complete"]) == 0
    return None


def _plain(value: Any) -> Any:
    """Reduce an entry of `info` to what JSON can hold."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(each) for each in value]
    return value


def _note(task: Task, done: list[EpisodeScore]) -> str:
    so_far = Scores(task.name, task.protocol, task.score_range, tuple(done))
    return f"score {so_far.score:.1f}"
