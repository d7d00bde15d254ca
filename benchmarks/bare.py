"""The bare environment loop: seeds and actions in, returns out, and no policy. Its processes import nothing of ours."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr
from dataclasses import dataclass
from io import StringIO
from multiprocessing import get_context
from typing import Any

import gymnasium
import numpy as np

with redirect_stderr(StringIO()):  # it prints advice on rewards that are not used here
    import gymnasium_robotics


@dataclass(frozen=True)
class Episode:
    """What an episode begins with, and the actions to be taken in it."""

    seed: int
    options: Mapping[str, Any] | None
    actions: Sequence[np.ndarray]


@dataclass(frozen=True)
class Environment:
    """What makes an environment."""

    name: str
    options: Mapping[str, Any]

    def make(self) -> Any:
        """Make it as the evaluation does: without gymnasium's checks of every step."""
        gymnasium.register_envs(gymnasium_robotics)
        return gymnasium.make(self.name, disable_env_checker=True, **self.options)


def run_bare(environment: Environment, episodes: Sequence[Episode], workers: int) -> list[float]:
    """Run the episodes and return their returns, in order."""
    if workers == 1:
        _prepare(environment)
        return [_run(episode) for episode in episodes]
    with ProcessPoolExecutor(workers, get_context("spawn"), _prepare, (environment,)) as pool:
        return list(pool.map(_run, episodes))


_worker: dict[str, Any] = {}


def _prepare(environment: Environment) -> None:
    _worker["env"] = environment.make()


def _run(episode: Episode) -> float:
    env, total = _worker["env"], 0.0
    env.reset(seed=episode.seed, options=episode.options)
    for action in episode.actions:
        total += float(env.step(action)[1])
    return total
