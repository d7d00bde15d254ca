"""Evaluation: episodes in a real environment, each with its own fixed seed.

Every episode is run by one worker from its first step to its last and depends on its seed alone, so the executor and
the number of workers change nothing but the time.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from vmg.base.arguments import checked
from vmg.base.console import progress_bar
from vmg.base.errors import VMGError
from vmg.base.settings import Bounds, shown
from vmg.base.types import Float32s
from vmg.envs.disturbing import disturbed
from vmg.envs.task import Task
from vmg.evaluation.executors import EXECUTORS, beat
from vmg.evaluation.scores import EpisodeScore, Scores, last_fall
from vmg.goals.objectives import Objective

MOST_EPISODES = 10_000_000


class Actor(Protocol):
    """Anything that can be evaluated.

    One that has `likeness(states)` tells how like the recordings an episode was; one that has `progress(states)`, how
    it got on.
    """

    def begin(self, observation: Any, objective: Objective | None) -> None:
        """Start an episode: forget the last one. `objective` is the goal of this episode, where its task names one."""

    def act(self, state: Float32s) -> ArrayLike:
        """Return the action in this state."""


@checked
def evaluate(
    actor: Actor,
    task: Task,
    *,
    n_episodes: int = 100,
    first_seed: Annotated[int, Bounds(0)] = 0,
    executor: str = "processes",
    workers: Annotated[int, Bounds(1, 1024)] | None = None,
    disturb: Mapping[str, float] | None = None,
    known: Sequence[EpisodeScore] = (),
    on_episode: Callable[[EpisodeScore], None] | None = None,
    title: str = "",
    show_progress: bool | None = None,
) -> Scores:
    """Run episodes with the seeds first_seed, first_seed + 1, … and score them.

    `workers`: processes, all cores by default; 1 runs here, which any environment allows. `executor` names who runs
    them. `disturb`: how much of what disturbs each episode, {"start": 0.1, "push": 0.3}; `vmg.envs.disturbances_of`
    tells what a task has. `known` episodes are not run again; `on_episode` is called with each new one as it ends.
    `title` says on the progress bar who is evaluated.
    """
    if not all(callable(getattr(actor, name, None)) for name in ("begin", "act")):
        raise VMGError(f"What is evaluated has the methods begin and act, as a policy does; {shown(actor)} has not.")
    if n_episodes < 1:
        raise VMGError(f"An evaluation needs at least one episode, not {n_episodes}.")
    if n_episodes > MOST_EPISODES:
        raise VMGError(f"An evaluation has at most {MOST_EPISODES:,} episodes, not {n_episodes}.")
    task = disturbed(task, disturb) if disturb else task
    seeds = range(first_seed, first_seed + n_episodes)
    done = {e.seed: e for e in known if e.seed in seeds}
    missing = [seed for seed in seeds if seed not in done]
    execute = EXECUTORS.find(executor)
    with ExitStack() as stack:
        advance = stack.enter_context(progress_bar(f"Evaluating {title or task.name}", n_episodes, show=show_progress))
        advance(len(done))
        results = execute(EpisodeWork(actor, task), missing, workers)
        if isinstance(results, Generator):
            stack.enter_context(closing(results))  # its processes end here, whatever happens
        for result in results:
            done[result.seed] = result
            if on_episode:
                on_episode(result)
            so_far = Scores(task.name, task.protocol, task.score_range, tuple(done.values()))
            advance(len(done), f"score {so_far.score:.1f}")
    if lost := [seed for seed in seeds if seed not in done]:
        raise VMGError(f"The executor {executor!r} has not brought back the episodes with the seeds {lost}.")
    return Scores(task.name, task.protocol, task.score_range, tuple(done[seed] for seed in seeds))


@dataclass(frozen=True, eq=False)
class EpisodeWork:
    """The work of an evaluation: opened once per worker, it runs episodes by their seeds."""

    actor: Actor
    task: Task

    @contextmanager
    def open(self) -> Iterator[Callable[[int], EpisodeScore]]:
        """Make the environment, and yield what runs an episode in it."""
        with threadpool_limits(1):  # one core per worker; and sums do not depend on how many there are
            env = self.task.make()
            try:
                yield lambda seed: run_episode(self.actor, self.task, env, seed)
            finally:
                env.close()


def run_episode(actor: Actor, task: Task, env: Any, seed: int) -> EpisodeScore:
    """Run one episode from its seed."""
    observation, info = env.reset(seed=seed, options=dict(task.begin(seed)) if task.begin else None)
    actor.begin(observation, task.objective_of(observation))
    total, steps, terminated, truncated = 0.0, 0, False, False
    states: list[Float32s] = []
    while not (terminated or truncated):
        states.append(task.state_of(observation))
        action = np.asarray(actor.act(states[-1]))
        observation, reward, terminated, truncated, info = env.step(action)
        total, steps = total + float(reward), steps + 1
        beat()
        truncated = truncated or (task.horizon is not None and steps >= task.horizon)
    success = _success(info)
    ended = "success" if success else "terminated" if terminated else "time out"
    report = {key: _plain(info[key]) for key in task.report if key in info}
    return EpisodeScore(seed, steps, total, success, ended, report, **_told(actor, task, np.array(states)))


def _told(actor: Actor, task: Task, states: Float32s) -> dict[str, Any]:
    """What the states of an episode tell: how like the recordings it was and how it got on, where the actor can say."""
    told: dict[str, Any] = {"fell": last_fall(task.fallen(states)) if task.fallen else None}
    if hasattr(actor, "likeness"):
        told["likeness"] = asdict(actor.likeness(states))
    if hasattr(actor, "progress"):
        told |= asdict(actor.progress(states))
    return told


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
