"""`python -m benchmarks.workers`: an evaluation and a training with ever more workers, in one run.

Every time is of the whole call; how much of it has passed when the first episode has ended is noted beside it, since
workers take seconds to begin. The scores must be those of one process. The first evaluation with each executor is not
timed: it compiles, and starts a cluster where there is none.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import tyro

from benchmarks.agents import untrained_agent
from benchmarks.evaluation import driven
from benchmarks.machine import describe_machine
from benchmarks.settings import settings_of
from vmg.agent.agent import Agent
from vmg.base.console import say, show
from vmg.base.files import write_json
from vmg.data.episodes import Episodes
from vmg.envs import Task, find_task
from vmg.evaluation import Scores, evaluate
from vmg.learn import LearnConfig, Training, fit_together
from vmg.runs.learning import learn_on

DRIVEN, VERTICES = 5_000, 1_500
"""Steps of the data, and vertices of the graph."""


@dataclass(frozen=True)
class Options:
    """Measure how much faster an evaluation and a training are with more workers."""

    workers: tuple[int, ...] = (1, 2)
    """Numbers of workers, in this order."""
    on: tuple[str, ...] = ("processes", "ray")
    """Who does the work."""
    task: str = "kitchen-partial"
    """The task to act in; its agent is untrained."""
    episodes: int = 40
    """Episodes of an evaluation."""
    rounds: int = 3
    """How often everything is timed, in turn; the least of each is kept: others on the machine can only add to it."""
    models: int = 0
    """Models of a training on a cluster; 0: it is left out."""
    updates: int = 5_000
    """Updates of each model."""
    json: Path | None = None
    """Write the rows and the machine to this file too."""


def main(options: Options) -> None:
    """Measure, show, write."""
    task = find_task(options.task)
    data = driven(task, DRIVEN, DRIVEN)
    rows = list(evaluation_rows(options, task, untrained_agent(data, settings_of(task), VERTICES)))
    if options.models:
        rows += training_rows(options, data, settings_of(task).learn)
    for row in rows:
        show(
            f"{row['what']}, {row['on']}, {row['workers']} workers: {row['seconds']:.1f} s, {row['faster']:.2f} times 1"
        )
    if options.json:
        write_json(options.json, {"rows": rows, "machine": describe_machine(), "command": _command(options)})


def evaluation_rows(options: Options, task: Task, agent: Agent) -> Iterator[dict[str, Any]]:
    """One row per executor and number of workers."""
    whole: Callable[..., tuple[Scores, float]] = partial(_evaluate, agent, task, options.episodes)
    alone, _ = whole("here", 1)
    for on in options.on:
        _evaluate(agent, task, max(options.workers), on, max(options.workers))
    cases = [(on, workers) for on in options.on for workers in options.workers]
    timed = _least({case: partial(whole, *case) for case in cases}, options.rounds)
    for (on, workers), (seconds, (scores, first)) in timed.items():
        assert scores == alone, f"{on} with {workers} workers has other scores"
        steps = sum(episode.steps for episode in scores.episodes)
        yield {
            "what": f"evaluation, {options.task}, {options.episodes} episodes",
            "on": on,
            "workers": workers,
            "seconds": seconds,
            "first": first,
            "steps": steps,
            "faster": timed[on, options.workers[0]][0] / seconds,
        }


def _evaluate(agent: Agent, task: Task, episodes: int, on: str, workers: int) -> tuple[Scores, float]:
    """Evaluate; return the scores, and after how many seconds the first episode had ended."""
    began, ended = time.perf_counter(), list[float]()
    note = lambda episode: ended.append(time.perf_counter() - began)  # noqa: E731
    scores = evaluate(agent.policy(), task, n_episodes=episodes, executor=on, workers=workers, on_episode=note)
    return scores, ended[0]


def training_rows(options: Options, data: Episodes, config: LearnConfig) -> Iterator[dict[str, Any]]:
    """One row for this process, where all models learn side by side, and one per number of workers of a cluster."""
    how = {"steps": options.updates, "checkpoint_every": options.updates}
    config = LearnConfig(**{**vars(config), **how})
    cases = [("here", 1)] + [("ray", workers) for workers in options.workers if "ray" in options.on]
    timed = _least({case: partial(_train, *case, options.models, data, config) for case in cases}, 1)
    for (on, workers), (seconds, _) in timed.items():
        yield {
            "what": f"training, {options.models} models, {options.updates:,} updates",
            "on": on,
            "workers": workers,
            "seconds": seconds,
            "steps": options.models * options.updates,
            "faster": timed[on, cases[0][1] if on == "here" else options.workers[0]][0] / seconds,
        }


def _train(on: str, workers: int, models: int, data: Episodes, config: LearnConfig) -> None:
    with TemporaryDirectory() as folder:
        training = Training(data, range(models), folder=folder)
        learn_on(on, [training], [config], workers=workers)
        fit_together([training], config)


def _least(cases: dict[Any, Callable[[], Any]], rounds: int) -> dict[Any, tuple[float, Any]]:
    """Time every case, in turn; keep the least time of each, and what it returned."""
    found: dict[Any, tuple[float, Any]] = {}
    for i in range(rounds):
        for case, do in cases.items():
            say(f"Round {i + 1} of {rounds}: {case}")
            began = time.perf_counter()
            result = do()
            seconds = time.perf_counter() - began
            found[case] = min(found.get(case, (seconds, result)), (seconds, result), key=lambda pair: pair[0])
    return found


def _command(options: Options) -> str:
    words = ["python -m benchmarks.workers"]
    usual = Options()
    for name, value in vars(options).items():
        if value != getattr(usual, name):
            listed = " ".join(map(str, value)) if isinstance(value, tuple) else str(value)
            words.append(f"--{name} {listed}")
    return " ".join(words)


if __name__ == "__main__":
    main(tyro.cli(Options, prog="python -m benchmarks.workers", description=Options.__doc__))
