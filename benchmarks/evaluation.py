"""Evaluation beside the bare environment loop, which takes the very same actions in the same episodes."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import chain
from operator import itemgetter

import numpy as np

from benchmarks.actors import OnTheGraph, Recorder
from benchmarks.agents import untrained_agent
from benchmarks.generators import sparse_rewards
from benchmarks.rows import Bar, Level, Row, check
from benchmarks.settings import settings_of
from benchmarks.timing import processor_seconds
from vmg.base.errors import require
from vmg.data.episodes import Episodes
from vmg.envs import Task, find_task
from vmg.evaluation import Scores, evaluate


@dataclass(frozen=True)
class Case:
    """A task, the size of its usual data set and graph, and the episodes that are timed."""

    task: str
    driven: int
    """Steps driven with random actions; the rest of the data is made of them with a little noise."""
    steps: int
    vertices: int
    episodes: int
    bar: Bar | None = None


BAR = Bar("times the peer", 0.8)
"""At most 1.25 times the bare loop's time."""

CASES: dict[Level, tuple[Case, ...]] = {
    "full": (
        Case("kitchen-partial", 2_000, 124_000, 34_000, 20, BAR),
        Case("antmaze-umaze", 20_000, 500_000, 4_000, 50, BAR),
        Case("pen-human", 5_000, 5_000, 1_500, 100, BAR),
        Case("pointmaze-medium", 20_000, 100_000, 2_000, 50),
    ),
    "quick": (Case("pen-human", 5_000, 5_000, 1_500, 20), Case("pointmaze-medium", 2_000, 10_000, 1_000, 10)),
    "tiny": (Case("pointmaze-umaze", 600, 600, 100, 2),),
}
WORKERS = (1, 2)
ROUNDS: dict[Level, int] = {"full": 3, "quick": 1, "tiny": 1}
"""How often both sides run, in turn. The least of each is reported: others who share the cores can only add to it."""
EPISODE = 200
"""Steps of a driven episode."""


def measure(level: Level) -> Iterator[Row]:
    """On one process and on two; environments and processes are started anew on both sides."""
    require("gymnasium_robotics", "bench")
    for case in CASES[level]:
        yield from _rows(case, ROUNDS[level])


def driven(task: Task, n_driven: int, n_steps: int) -> Episodes:
    """Drive the environment at random for a while; repeat that, forwards and backwards, with a little noise.

    Backwards too, so that a route leads from everywhere to everywhere, as it does in the recordings of a maze.
    """
    rng, n_episodes = np.random.default_rng(0), n_driven // EPISODE
    env = task.make()
    observations, actions = [], rng.normal(0, 0.3, (n_episodes, EPISODE, *env.action_space.shape))
    for seed, episode in enumerate(actions):
        seen, _ = env.reset(seed=seed, options=dict(task.begin(seed)) if task.begin else None)
        steps = (env.step(np.clip(action, -1, 1).astype(np.float32))[0] for action in episode)
        observations.append([task.state_of(each) for each in chain([seen], steps)])
    env.close()
    both = np.concatenate([np.array(observations), np.array(observations)[:, ::-1]])
    copies = -(-n_steps // (2 * n_episodes * EPISODE))
    seen = np.tile(both, (copies, 1, 1)).reshape(-1, both.shape[-1])
    return Episodes(
        observations=(seen + rng.normal(0, 0.05 * seen.std(0), seen.shape)).astype(np.float32),
        actions=np.tile(actions, (2 * copies, 1, 1)).reshape(-1, actions.shape[-1]).clip(-1, 1).astype(np.float32),
        rewards=sparse_rewards(copies * len(both) * EPISODE, seed=0),
        lengths=np.full(copies * len(both), EPISODE),
        terminated=np.zeros(copies * len(both), bool),
        truncated=np.ones(copies * len(both), bool),
        source=f"{task.name}, driven at random",
    )


def _rows(case: Case, rounds: int) -> Iterator[Row]:
    """One row per number of processes; the actions are recorded before, which warms everything up."""
    bare = import_module("benchmarks.bare")
    task = find_task(case.task)
    data = driven(task, case.driven, case.steps)
    agent = untrained_agent(data, settings_of(task), case.vertices)
    actor = OnTheGraph(agent.policy(), data.observations[: 1 + (task.horizon or EPISODE)])
    recorder = Recorder(actor)
    known = evaluate(recorder, task, n_episodes=case.episodes, workers=1)
    begins = (dict(task.begin(e.seed)) if task.begin else None for e in known.episodes)
    episodes = [
        bare.Episode(e.seed, begin, actions)
        for e, begin, actions in zip(known.episodes, begins, recorder.actions, strict=True)
    ]
    n_steps = sum(e.steps for e in known.episodes)
    environment = bare.Environment(task.environment, {"max_episode_steps": task.horizon, **task.options})
    for workers in WORKERS:
        theirs = partial(bare.run_bare, environment, episodes, workers)
        ours = partial(evaluate, actor, task, n_episodes=case.episodes, workers=workers)
        sides = zip(*((processor_seconds(theirs), processor_seconds(ours)) for _ in range(rounds)), strict=True)
        (returns, bare_seconds), (scores, seconds) = (min(runs, key=itemgetter(1)) for runs in sides)
        yield Row(
            family="evaluation",
            name=f"evaluation, {workers} process{'es' if workers > 1 else ''}",
            size=f"{case.task}, {case.episodes} episodes, {n_steps:,} steps",
            ours=seconds,
            peer_name="bare loop",
            peer=bare_seconds,
            bar=case.bar,
            checked=_check_returns(known, scores, returns),
            note=f"seconds of all processors together, least of {rounds}; {agent.built.n_vertices:,} vertices, "
            f"{case.steps:,} steps of data, untrained",
        )


def _check_returns(known: Scores, ours: Scores, bare: list[float]) -> str:
    returns = [[e.reward for e in scores.episodes] for scores in (known, ours)]
    return check(bool(np.allclose(returns, bare, rtol=1e-6)), "all returns are the same")
