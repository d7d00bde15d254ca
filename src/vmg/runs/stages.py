"""The stages of a run: train, build, solve, evaluate. Every stage can be killed and called again."""

import csv
import io
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from vmg.act.settings import ActConfig
from vmg.agent.agent import Agent
from vmg.agent.card import write_card
from vmg.base.console import say
from vmg.base.errors import VMGError
from vmg.base.files import reading, write_json, write_text
from vmg.base.versions import versions
from vmg.data.counting import counted
from vmg.data.episodes import Episodes
from vmg.data.facts import DataFacts
from vmg.data.fields import moved_fields
from vmg.envs import TASKS, Task
from vmg.envs.fitting import ignored_goal
from vmg.evaluation import Actor, Scores, Summary
from vmg.evaluation.baselines import CloningActor, cloning_actors, cloning_trainings
from vmg.evaluation.scores import METHODS
from vmg.graph import GraphConfig, SolveConfig, summarise
from vmg.graph.needs import check_build, memory_to_build
from vmg.learn.config import Training
from vmg.networks.encoder import embed
from vmg.runs.commands import evaluate_command
from vmg.runs.embedding import cores_here, embedding_on
from vmg.runs.learning import learn_on
from vmg.runs.notes import Measured, Trial, larger_trial
from vmg.runs.remarks import (
    idle_options,
    idle_workers,
    on_data,
    on_falls,
    on_graph,
    on_likeness,
    on_other_data,
    on_plan,
    reach_of_starts,
)
from vmg.runs.run import Run, alone, change_settings, load_run, save_run


@dataclass(frozen=True, kw_only=True)
class EvaluateTrial(Trial):
    """How a run's evaluation is done."""

    baselines: bool = False
    """Also train and score behaviour cloning, plain and goal-conditioned, on the same data and budget."""
    disturb: tuple[str, ...] = ()
    """Score it also where the world is not as recorded. NAME=AMOUNT,AMOUNT: each amount by itself; NAME: at amounts
    usual for it; NAME=AMOUNT+NAME=AMOUNT: both at once. Any environment has noise (on actions, of half their range),
    sensors (noise on what is seen) and delay (steps); one with joints has start (rad or m) and push (once in
    mid-episode); the kitchen has kettle (cm) and arm-noise, too. A name that a task does not have is answered with all
    it has, and their units."""


@alone
def train(*runs: Run, on: str = "processes", workers: int | None = None) -> None:
    """Learn the agents of all seeds and runs, side by side where they can be; a killed run goes on where it was.

    `on` names who does it: on this machine this process, on a cluster its workers, each as many models as fit.
    """
    for run in runs:
        if (run.folder / "run.json").exists():
            _refuse_another(run, load_run(run.folder))
    trainings = _trainings(runs, "training")
    for run, training in zip(runs, trainings, strict=True):
        if not (run.folder / "run.json").exists():
            if run.chosen() is None and (unchecked := run.check_task(DataFacts.of(training.episodes))):
                say(unchecked)
            save_run(run)
    pairs = zip(runs, trainings, strict=True)
    for run, episodes in {one.episodes.digest: (run, one.episodes) for run, one in pairs}.values():
        _say_all(on_data(episodes, run.config.learn.angles))
    learn_on(on, trainings, [run.config.learn for run in runs], workers=workers)
    learned = Agent.fit_together(trainings, [run.config for run in runs])
    for run, training, agents in zip(runs, trainings, learned, strict=True):
        for agent in agents:
            folder = run.agent_folder(agent.seed)
            if not (folder / "config.json").exists():
                _write_losses(agent.seed, run.folder / "training" / "metrics.csv", folder / "metrics.csv")
                agent.save(folder)
            else:
                write_card(folder)  # a kill can have come before it
        # the data may have another name here
        save_run(replace(load_run(run.folder), data=run.data, keys=run.keys, returns=_mean_and_best(training.episodes)))
        folders = ", ".join(str(run.agent_folder(seed)) for seed in run.seeds)
        say(f"Trained for {counted(run.config.learn.steps, 'step')}: {folders}.")


@alone
def train_baselines(*runs: Run, on: str = "processes", workers: int | None = None) -> None:
    """Learn behaviour cloning, plain and goal-conditioned, for all runs, side by side where they can be."""
    for alike in _alike(list(zip(runs, _trainings(runs, "baselines"), strict=True))):
        _cloning(alike[0][0], [training for _, training in alike], on, workers)


@alone
def build(run: Run, config: GraphConfig, *, on: str = "processes", workers: int | None = None) -> None:
    """Build the graph of every agent that has not got this one already.

    `on` names who embeds the observations; they are merged here, on all cores unless it is "here".
    """
    task, episodes = run.task_or_none(), None
    if task and task.goal and not config.goal_columns:
        config = replace(config, goal_columns=task.goal.columns)
    _say_all(idle_options(replace(run.config, graph=config), "graph"))
    for folder, agent in run.agents():
        if agent.graph and agent.config.graph == config:
            say(f"{folder} has this graph already: {counted(agent.graph.n_vertices, 'vertex', 'vertices')}.")
            write_card(folder)  # a kill can have come before it
            continue
        if episodes is None:
            episodes, held_out = run.episodes()
        _refuse_other_data(agent, episodes)
        _say_memory(folder, agent, episodes, config)
        built = replace(agent, config=replace(agent.config, graph=config)).build(
            episodes,
            fallen=task.fallen if task else None,
            embed=embedding_on(on, workers),
            workers=cores_here(on, workers),
        )
        built.save(folder)
        say(f"{folder}: {_in_words(built, held_out)}")
        _say_all(on_graph(built.built, run.folder, _why_chosen(run, built.built.radius)))
    change_settings(run, graph=config)


def _why_chosen(run: Run, radius: float) -> str:
    """Return why a radius was chosen from the data; empty where it was not."""
    chosen = run.chosen()
    if chosen is None or chosen.config.graph.radius != radius:
        return ""
    return next((choice.why for choice in chosen.choices if choice.setting == "graph.radius"), "")


@alone
def solve(run: Run, config: SolveConfig) -> None:
    """Solve the graph of every agent for the rewards recorded in the data."""
    _say_all(idle_options(replace(run.config, solve=config), "solve"))
    episodes, _ = run.episodes()
    for folder, agent in run.agents():
        _say_all(on_falls(agent.built, config))
        solved = replace(agent, config=replace(agent.config, solve=config), episodes=episodes).solve()
        solved.save(folder)
        values = solved.own_plan.values
        say(f"{folder}: values from {values.min():.3g} to {values.max():.3g}.")
        _say_all(on_plan(solved.own_plan))
    change_settings(run, solve=config)


@alone
def evaluate_run(run: Run, config: ActConfig, trial: EvaluateTrial) -> dict[str, list[Scores]]:
    """Evaluate every agent, and the baselines if asked, in the run's task: the scores of each, seed by seed."""
    task = run.find_task()
    _say_all([*idle_options(replace(run.config, act=config), "act"), *idle_workers(trial), *_unread_goal(run, task)])
    found: dict[str, list[Scores]] = {"VMG": []}
    larger, kept = larger_trial(run, task, trial, METHODS if trial.baselines else ["VMG"]), list[Scores]()
    for folder, agent in run.agents():
        acting = knowing_goals(run, task, replace(agent, config=replace(agent.config, act=config)))
        scores = agent_scores(run, task, "VMG", acting, acting.policy(), trial)
        acting.save(folder)
        whole = larger and Measured(run, task, "VMG", acting.seed, acting.config.to_dict()).known_scores(larger)
        kept += [whole] if whole else []
        write_json(folder / "scores.json", (whole or scores).to_dict())
        write_card(folder)
        _say_all(on_likeness(scores, acting.built))
        found["VMG"].append(scores)
    if trial.baselines:
        found |= baseline_scores(run, task, trial)
    run = change_settings(run, act=config, graph=acting.config.graph)
    if larger and len(kept) == len(run.seeds):
        say(
            f"The headline stays what was measured with {counted(larger.n_episodes, 'episode')}, these among them: "
            f"{Summary.of(kept).score:.1f}."
        )
    else:
        _write_scores(run, task, found, trial)
    return found


def knowing_goals(run: Run, task: Task, agent: Agent) -> Agent:
    """Return an agent that can look up the goals which the task names; the data are loaded if it does not keep them."""
    graph, columns = agent.built, task.goal.columns if task.goal else ()
    if graph.recordings or set(columns) <= set(graph.goal_columns):
        return agent
    places = run.episodes()[0].observations[:, list(columns)]
    config = replace(agent.config, graph=replace(agent.config.graph, goal_columns=columns))
    return replace(agent, config=config, graph=replace(graph, goal_columns=columns, places=places))


def agent_scores(run: Run, task: Task, method: str, agent: Agent, actor: Actor, trial: Trial) -> Scores:
    """Evaluate one agent, running only the episodes that were not noted before."""
    return Measured(run, task, method, agent.seed, agent.config.to_dict()).scores(actor, trial)


@alone
def baseline_scores(run: Run, task: Task, trial: Trial) -> dict[str, list[Scores]]:
    """Train behaviour cloning, plain and goal-conditioned, as far as it is not trained yet, and evaluate both."""
    actors = baseline_actors(run, on=trial.executor, workers=trial.workers)
    return actors_scores(run, task, actors, trial)


@alone
def baseline_actors(run: Run, *, on: str = "processes", workers: int | None = None) -> dict[str, list[CloningActor]]:
    """Train behaviour cloning, plain and goal-conditioned, as far as it is not trained yet: one actor per seed."""
    (actors,) = _cloning(run, _trainings([run], "baselines"), on, workers)
    return actors


@alone
def actors_scores(
    run: Run, task: Task, actors: Mapping[str, Sequence[CloningActor]], trial: Trial
) -> dict[str, list[Scores]]:
    """Evaluate baselines that were trained."""
    budget = {"learn": run.config.learn.to_dict()}
    return {
        method: [
            Measured(run, task, method, seed, budget).scores(actor, trial)
            for seed, actor in zip(run.seeds, models, strict=True)
        ]
        for method, models in actors.items()
    }


def _cloning(
    run: Run, trainings: Sequence[Training], on: str, workers: int | None
) -> list[dict[str, list[CloningActor]]]:
    task = run.task_or_none()
    goal, config = task.goal if task else None, run.config.learn
    for columns, each in cloning_trainings(trainings, goal):
        learn_on(on, each, [config] * len(each), cloned=columns, workers=workers)
    return cloning_actors(trainings, config, goal)


def _trainings(runs: Sequence[Run], folder: str) -> list[Training]:
    """Load each data set once, however many runs learn from it."""
    loaded: dict[Any, tuple[Episodes, Episodes | None]] = {}
    found = []
    for run in runs:
        data = (run.data, run.keys, run.validation)
        episodes, held_out = loaded[data] if data in loaded else loaded.setdefault(data, run.learned_from())
        found.append(Training(episodes, run.seeds, held_out if folder == "training" else None, run.folder / folder))
    return found


def _alike(pairs: Sequence[tuple[Run, Training]]) -> list[list[tuple[Run, Training]]]:
    """Group the baselines that can be learned side by side: the same settings, the same sizes."""
    groups: dict[Any, list[tuple[Run, Training]]] = {}
    for run, training in pairs:
        episodes, task = training.episodes, run.task_or_none()
        sizes = (episodes.observation_size, episodes.action_size)
        alike = (run.config.learn, task.goal if task else None, *sizes, training.validation is None)
        groups.setdefault(alike, []).append((run, training))
    return list(groups.values())


def _say_all(sentences: Sequence[str]) -> None:
    for sentence in sentences:
        say(sentence)


def _mean_and_best(episodes: Episodes) -> tuple[float, float]:
    return float(episodes.returns.mean()), float(episodes.returns.max())


def _refuse_other_data(agent: Agent, episodes: Episodes) -> None:
    """A graph can be built from other data than was learned from, but not from columns in another order."""
    if moved := moved_fields(agent.data.fields, episodes.fields):
        raise VMGError(
            f"{episodes.source} has its columns in another order than when the agent learned from it: {moved}. Restore "
            "the data, or train on it anew with another --out."
        )
    _say_all(on_other_data(agent.data, episodes))


def _say_memory(folder: Path, agent: Agent, episodes: Episodes, config: GraphConfig) -> None:
    """Say how much memory the graph will take, or refuse what there is not."""
    n_rows, size = episodes.observations.shape
    needed = memory_to_build(n_rows, agent.config.learn.metric_dimension, size, recordings=config.recordings)
    check_build(needed.largest, n_rows)
    say(f"{folder}: a graph of {n_rows:,} observations takes {needed.in_words}.")


def _unread_goal(run: Run, task: Task) -> list[str]:
    """Say of an environment that is not built in if it names a goal which nobody reads."""
    if run.named_task().name in TASKS:
        return []
    with closing(task.make()) as env:
        unread = ignored_goal(task, env.reset(seed=0)[0])
    return [unread] if unread else []


def _in_words(agent: Agent, held_out: Episodes | None) -> str:
    """Say how large the graph is and, where episodes were held out, how much of them it knows."""
    features = embed(agent.weights, held_out.observations) if held_out else None
    summary = summarise(agent.built, held_out=held_out, held_out_features=features)
    words = f"{summary.in_words}; from a recorded start {100 * reach_of_starts(agent.built):.0f} % can be reached"
    if summary.covered_observations is None or summary.covered_steps is None:
        return f"{words}."
    return (
        f"{words}; of the episodes held out it covers {100 * summary.covered_observations:.1f} % of the "
        f"observations and {100 * summary.covered_steps:.1f} % of the steps."
    )


def _write_scores(run: Run, task: Task, found: dict[str, list[Scores]], trial: EvaluateTrial) -> None:
    content: dict[str, Any] = {"task": task.name, "protocol": task.protocol, "data": run.all_data, "checkpoint": "last"}
    content |= {"first_seed": trial.first_seed, "command": evaluate_command(run, trial)}
    summary = {method: _overall(scores) for method, scores in found.items()}
    by_seed = {
        method: [{"seed": seed, **_of_model(each)} for seed, each in zip(run.seeds, scores, strict=True)]
        for method, scores in found.items()
    }
    write_json(run.folder / "scores.json", {**content, "summary": summary, "scores": by_seed, "versions": versions()})


def _overall(scores: list[Scores]) -> dict[str, Any]:
    total = Summary.of(scores)
    return {"score": total.score, "interval": list(total.interval)}


def _of_model(scores: Scores) -> dict[str, Any]:
    return {name: value for name, value in scores.to_dict().items() if name not in ("episodes", "task", "protocol")}


def _write_losses(seed: int, together: Path, own: Path) -> None:
    """Copy one model's rows out of the log of all models."""
    text = io.StringIO()
    with reading(together, "table of losses"), open(together, encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
        column = header.index("seed")
        csv.writer(text).writerows([header, *(row for row in rows if row[column] == str(seed))])
    write_text(own, text.getvalue())


def _refuse_another(run: Run, there: Run) -> None:
    """Training again is going on; anything that decides how it ends must be the same."""
    now, before = (
        {"validation": each.validation, "seeds": each.seeds} | each.config.learn.to_dict() for each in (run, there)
    )
    if changed := [name for name in now if now[name] != before[name]]:
        differences = ", ".join(f"{name} is {before[name]!r} there and {now[name]!r} now" for name in changed)
        raise VMGError(f"{run.folder} holds another run: {differences}. Choose another --out, or the same settings.")
