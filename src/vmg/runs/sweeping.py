"""A sweep: settings tried side by side, judged by what they did not learn from, the worse given up on the way.

OUT/sweep.json         what was asked, every candidate with its settings and values, the best and its command
OUT/candidates/000/    a run per candidate; one that learned to the end can be built, solved and evaluated

All candidates that are left learn up to a rung, and are compared there. About a third goes on to the next rung, which
is three times as high. So who goes on does not depend on who learns first, nor on how many machines there are.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from tyro.conf import arg

from vmg import learn
from vmg.agent.agent import Agent
from vmg.agent.settings import AgentConfig
from vmg.base.console import say
from vmg.base.errors import VMGError
from vmg.base.files import read_json, write_json
from vmg.base.versions import package_version, versions
from vmg.data.episodes import Episodes
from vmg.data.facts import DataFacts
from vmg.learn.config import Training
from vmg.networks import Weights
from vmg.networks.actions import recorded_actions
from vmg.networks.lowlevel import LowLevel, actor
from vmg.runs import stages
from vmg.runs.commands import run_commands
from vmg.runs.learning import learn_on
from vmg.runs.notes import On, Trial
from vmg.runs.run import Run
from vmg.runs.spaces import Draw, Search, changed, draws, given_up, read_choices

KEEP = 3
"""One of so many candidates goes on to the next rung, which is so many times as high."""
APART = 1_000_000
"""Seed of the first episode that candidates are scored with: none that an evaluation usually has."""
AHEAD = (1, 3, 5, 10)
"""Steps to the goals with which held-out actions are compared."""
SEEN_BY_ACTIONS = ("learn.low_level.", "learn.learning_rate", "learn.batch_size", "learn.hidden_units", "learn.actions")


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """What is tried, and what decides."""

    settings: tuple[str, ...] = ()
    """What to try: NAME=VALUE,VALUE or NAME=LOW..HIGH, with :log for a logarithmic range. Any setting of learn, graph,
    solve and act."""
    search: Search = "random"
    """Draw settings at random, or try the whole grid of their values."""
    candidates: int | None = None
    """How many to try; None: 20, of a grid all."""
    objective: Literal["actions", "score"] = "actions"
    """What decides: the error of actions in the episodes held out, or the score in the task, in episodes with seeds of
    their own."""
    rungs: int = 3
    """How often candidates are compared; after each but the last about the best third goes on. 1: all learn
    to the end."""
    n_episodes: Annotated[int, arg(name="episodes")] = 20
    """Episodes that decide, for each candidate and model, where the objective is the score."""
    seed: int = 0
    """Seed of the settings that are drawn."""
    executor: On = "processes"
    workers: int | None = None
    """Processes, or workers of a cluster; None: as many as there is room for."""

    @property
    def trial(self) -> Trial:
        """How a model is scored."""
        return Trial(n_episodes=self.n_episodes, first_seed=APART, executor=self.executor, workers=self.workers)


@dataclass
class _Candidate:
    """One candidate: its run, what it was given, and the objective after each number of updates."""

    run: Run
    settings: Draw
    values: dict[int, float]
    given_up: bool = False

    def to_dict(self) -> dict[str, Any]:
        values = {str(updates): value for updates, value in self.values.items()}
        return {"run": self.run.folder.name, "settings": self.settings, "values": values, "given_up": self.given_up}


def sweep(base: Run, asked: Sweep) -> dict[str, Any]:
    """Try settings, starting from those of a run whose folder is the sweep's; called again, it goes on where it was."""
    _check(base, asked)
    choices = read_choices(asked.settings, base.config)
    if lengths := [choice.name for choice in choices if choice.name in ("learn.steps", "learn.checkpoint_every")]:
        raise VMGError(f"{lengths[0]} cannot be tried: it says how long all candidates learn. Name it as an option.")
    if unseen := [c.name for c in choices if asked.objective == "actions" and not c.name.startswith(SEEN_BY_ACTIONS)]:
        raise VMGError(
            f"{unseen[0]} does not change what the low-level policy learns, so the error of its actions cannot judge "
            "it. Choose --objective score."
        )
    candidates = _candidates(base, asked, draws(choices, asked.search, asked.candidates, asked.seed))
    known = _known(base, asked)
    data = base.episodes()
    left = candidates
    for updates in rungs(base.config.learn.steps, asked.rungs):
        measured = [candidate for candidate in left if updates not in _values(known, candidate)]
        values = _measure(measured, updates, asked, data) if measured else []
        fresh = dict(zip((candidate.run.folder.name for candidate in measured), values, strict=True))
        for candidate in left:
            candidate.values[updates] = fresh.get(
                candidate.run.folder.name, _values(known, candidate).get(updates, np.nan)
            )
        if updates < base.config.learn.steps:
            losses = [_loss(candidate, asked) for candidate in left]
            for candidate, hopeless in zip(left, given_up(losses, 1 / KEEP), strict=True):
                candidate.given_up = hopeless
        content = _write(base, asked, candidates)
        left = [candidate for candidate in left if not candidate.given_up]
        say(f"After {updates:,} updates {len(left)} of {len(candidates)} candidates are left.")
    stages.train(*(candidate.run for candidate in left), on=asked.executor, workers=asked.workers)
    return content


def _loss(candidate: _Candidate, asked: Sweep) -> float:
    """What a candidate was worth last; less is better."""
    last = list(candidate.values.values())[-1]
    return -last if asked.objective == "score" else last


def rungs(steps: int, n: int) -> list[int]:
    """Return after how many updates candidates are compared: the last time at the end."""
    return sorted({max(steps // KEEP**i, 1) for i in range(n)})


def _check(base: Run, asked: Sweep) -> None:
    if (
        asked.rungs < 1
        or (asked.candidates is not None and asked.candidates < 1)
        or asked.n_episodes < 1
        or asked.seed < 0
    ):
        raise VMGError("A sweep has at least one rung, one candidate and one episode, and a seed of at least 0.")
    if asked.objective == "actions" and base.validation <= 0:
        raise VMGError("Held-out actions decide, so some episodes must be held out: --validation 0.1")


def _candidates(base: Run, asked: Sweep, drawn: Sequence[Draw]) -> list[_Candidate]:
    folders = (base.folder / "candidates" / f"{i:03d}" for i in range(len(drawn)))
    return [
        _Candidate(replace(base, config=changed(base.config, draw), folder=folder), draw, {})
        for draw, folder in zip(drawn, folders, strict=True)
    ]


def _measure(
    candidates: Sequence[_Candidate], updates: int, asked: Sweep, data: tuple[Episodes, Episodes | None]
) -> list[float]:
    """Let candidates learn up to so many updates, and return the objective of each."""
    configs = [_short(candidate.run, updates) for candidate in candidates]
    trainings = [Training(data[0], t.run.seeds, data[1], t.run.folder / "training") for t in candidates]
    learned_with = [config.learn for config in configs]
    learn_on(asked.executor, trainings, learned_with, workers=asked.workers)
    models = learn.fit_together(trainings, learned_with)
    if asked.objective == "score":
        return [_score(t.run, c, its, data[0], asked) for t, c, its in zip(candidates, configs, models, strict=True)]
    assert data[1] is not None
    pairs = zip(configs, models, strict=True)
    return [float(np.mean([action_error(c.learn.low_level, each, data[1]) for each in its])) for c, its in pairs]


def _short(run: Run, updates: int) -> AgentConfig:
    return replace(run.config, learn=replace(run.config.learn, steps=updates))


def _score(run: Run, config: AgentConfig, models: Sequence[Weights], episodes: Episodes, asked: Sweep) -> float:
    """Mean score of a candidate's models, as they are after the updates that these settings name."""
    task, scores = run.find_task(), []
    for seed, weights in zip(run.seeds, models, strict=True):
        agent = Agent(config, DataFacts.of(episodes), seed, weights).build(episodes, fallen=task.fallen).solve()
        acting = stages.knowing_goals(run, task, agent)
        method = f"VMG at {config.learn.steps}"
        scores.append(stages.agent_scores(run, task, method, acting, acting.policy(), asked.trial).score)
    return float(np.mean(scores))


def action_error(low_level: LowLevel, weights: Weights, episodes: Episodes) -> float:
    """Mean squared error of actions for goals 1 to 10 steps ahead, as a share of the variance of those recorded."""
    act, variance = actor(low_level, weights), float(episodes.actions.var(0, dtype=np.float64).sum())
    errors = []
    for ahead in AHEAD:
        steps = np.flatnonzero(episodes.steps_left >= ahead)
        if len(steps):
            rows = episodes.step_observation[steps]
            given = np.asarray(act(episodes.observations[rows], episodes.observations[rows + ahead]))
            actions = recorded_actions(weights, given)  # in their own units, in which all candidates can be compared
            led = steps + np.minimum(low_level.lead or 0, episodes.steps_left[steps] - 1)
            errors.append(np.mean(np.sum((actions - episodes.actions[led]) ** 2, axis=-1)))
    return float(np.mean(errors) / max(variance, 1e-12))


def _asked(base: Run, asked: Sweep) -> dict[str, Any]:
    """What must be the same for a sweep to go on; more candidates may be asked for, and done elsewhere."""
    kept = {name: value for name, value in asdict(asked).items() if name not in ("candidates", "executor", "workers")}
    about = {"data": base.data, "task": base.task, "seeds": base.seeds, "validation": base.validation}
    start = {"config": base.config.to_dict(), "version": package_version()}
    return {**about, **_plain(kept), **start}


def _known(base: Run, asked: Sweep) -> dict[str, dict[int, float]]:
    """Return what the folder's sweep has measured, or refuse one that asked for something else."""
    file = base.folder / "sweep.json"
    if not file.exists():
        return {}
    content = read_json(file)
    there, now = content.get("asked"), _plain(_asked(base, asked))
    if there != now:
        names = [name for name in now if not isinstance(there, dict) or there.get(name) != now[name]]
        raise VMGError(f"{file} is of another sweep: {', '.join(names)} differ. Choose another --out.")
    return {each["run"]: {int(k): v for k, v in each["values"].items()} for each in content["candidates"]}


def _values(known: dict[str, dict[int, float]], candidate: _Candidate) -> dict[int, float]:
    return known.get(candidate.run.folder.name, {})


def _write(base: Run, asked: Sweep, candidates: Sequence[_Candidate]) -> dict[str, Any]:
    best = min(
        (candidate for candidate in candidates if not candidate.given_up), key=lambda candidate: _loss(candidate, asked)
    )
    whole = replace(best.run, folder=Path("runs/best"), validation=0.0)
    content = {
        "asked": _asked(base, asked),
        "candidates": [candidate.to_dict() for candidate in candidates],
        "best": best.to_dict(),
        "command": run_commands(whole, None)[0],
        "versions": versions(),
    }
    write_json(base.folder / "sweep.json", content)
    return content


def _plain(value: Any) -> Any:
    """As it reads when it comes back from JSON."""
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value
