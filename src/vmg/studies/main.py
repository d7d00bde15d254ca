"""The tables of tasks: main and locomotion, with all presets and baselines; and new tasks for the kitchen's graph."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from vmg.agent.agent import Agent
from vmg.base.console import say
from vmg.data.episodes import Episodes
from vmg.envs import Task, find_task
from vmg.evaluation import Scores, Summary
from vmg.goals import step_rewards
from vmg.graph import summarise
from vmg.runs import Run, auto
from vmg.runs.auto import AUTO
from vmg.runs.stages import agent_scores, baseline_scores, train, train_baselines
from vmg.studies import paper
from vmg.studies.checkpoints import best_checkpoints
from vmg.studies.options import check_options, with_option
from vmg.studies.study import (
    Results,
    Study,
    described,
    missing_data,
    row_command,
    run_of,
    settings_of,
    tasks_of,
    with_choices,
)

LOCOMOTION = tuple(name for name in paper.SCORES if name.split("-")[0] in ("halfcheetah", "hopper", "walker2d"))
MAIN = tuple(name for name in paper.SCORES if name not in LOCOMOTION)
KITCHEN = ("kitchen-partial",)
MAZES = tuple(
    f"{family}-{maze}"
    for family, mazes in {
        "pointmaze": ("umaze", "medium", "large"),
        "ogbench-pointmaze": ("medium", "large", "giant"),
        "ogbench-antmaze": ("medium", "large", "giant"),
    }.items()
    for maze in mazes
)
DISTURBED = (
    "kitchen-partial",
    "kitchen-complete",
    "antmaze-medium-play",
    "pointmaze-medium",
    "pen-human",
    "door-human",
)
TABLES: dict[str, tuple[str, ...]] = {
    "main": MAIN, "auto": (*MAIN, *MAZES), "locomotion": LOCOMOTION, "skills": KITCHEN, "other-tasks": KITCHEN,
    "robustness": DISTURBED,
}  # fmt: skip
COMPARED = ("main", "auto", "locomotion")
"""Tables that compare presets."""
PRESETS = ("paper", "program", AUTO)
"""Their settings where none are named."""
SCORED = (*COMPARED, "robustness")
"""Tables in which a task is scored as it is."""
SEEDS = (0, 1, 2, 3, 4)
LEAST_LOGS = 10  # logs that must hold a set of four subtasks for it to be asked


@dataclass(frozen=True)
class Line:
    """One task with one preset."""

    table: str
    task: Task
    preset: str
    run: Run
    missing: str = ""
    """Why it cannot be done, and how it can."""


def presets_of(name: str) -> tuple[str, ...]:
    """Return the settings of a table where none are named."""
    return PRESETS if name in COMPARED else (AUTO,)


def train_table(name: str, study: Study) -> list[Line]:
    """Learn what a table needs, unless the study only evaluates, and return its lines."""
    if name == "robustness":
        check_options(study.variants)
    tasks = tasks_of(name, study, TABLES[name], any_task=name == "robustness")
    lines = [line for task in tasks for line in _lines(name, study, task)]
    ready, on, workers = [line for line in lines if not line.missing], study.executor, study.workers
    if study.only != "evaluate" and ready:
        say(f"Training {sum(len(line.run.seeds) for line in ready)} models for {len(ready)} rows.")
        train(*(line.run for line in ready if line.preset != AUTO), on=on, workers=workers)
        for line in ready:
            if line.preset == AUTO:
                auto.train(line.run, on=on, workers=workers)
    lines = [replace(line, run=with_choices(line.run, line.preset)) for line in lines]
    if study.only != "evaluate" and name == "robustness":
        _train_options(study, [line.run for line in lines if not line.missing])
    if study.only != "evaluate":
        beside = (line.run for line in lines if not line.missing and has_baselines(line, study))
        train_baselines(*beside, on=on, workers=workers)
    return lines


def _train_options(study: Study, runs: Sequence[Run]) -> None:
    """Learn what options need beside these runs."""
    wanted = [with_option(run, name) for run in runs for name in study.variants]
    own = {each.folder: each for each in wanted if each.folder not in {run.folder for run in runs}}
    if own:
        say(f"Training {sum(len(run.seeds) for run in own.values())} models for options.")
        train(*own.values(), on=study.executor, workers=study.workers)


def measure_table(name: str, study: Study, table: list[Line], write: Callable[[Results], None]) -> None:
    """Measure every line; `write` is given all there are after each."""
    measure = {"skills": _measure_skills, "other-tasks": _measure_other_tasks}.get(name, _measure)
    results: Results = []
    for i, line in enumerate(table):
        say(f"Row {i + 1} of {len(table)}: {line.task.name}, preset {line.preset}.")
        results.append(missing_line(line) if line.missing else measure(line, study))
        write(results)


def _lines(name: str, study: Study, task: Task) -> list[Line]:
    seeds = study.seeds or SEEDS
    runs = {each: run_of(study, task, settings_of(task, each), seeds, each) for each in study.presets}
    missing = missing_data(name, task, next(iter(runs.values())))
    if missing:
        say(f"{task.name}: {missing}")
    return [Line(name, task, preset, run, missing) for preset, run in runs.items()]


def has_baselines(line: Line, study: Study) -> bool:
    """Say whether baselines stand beside a line: beside the last preset alone, since they know nothing of the graph."""
    return study.baselines and line.table in SCORED and line.preset == study.presets[-1]


def _measure(line: Line, study: Study) -> dict[str, Any]:
    episodes, _ = line.run.episodes()
    task = line.run.find_task()
    found: dict[str, list[Scores]] = {"VMG": []}
    graphs = []
    for agent in solved_agents(line.run, episodes):
        found["VMG"].append(agent_scores(line.run, task, "VMG", agent, agent.policy(), study.trial))
        graphs.append(summarise(agent.built).to_dict())
    if has_baselines(line, study):
        found |= baseline_scores(line.run, task, study.trial)
    result = described_line(line, study, episodes, task) | {"graphs": graphs}
    result["scores"] = {method: Summary.of(scores).to_dict() for method, scores in found.items()}
    if line.task.name in study.choose:
        result["chosen"] = best_checkpoints(line.run, line.run.config, episodes, task, study.trial)
    return result


def solved_agents(run: Run, episodes: Episodes) -> Iterator[Agent]:
    """Yield every seed's agent, its graph built and solved."""
    for _, agent in run.agents():
        yield replace(agent, config=run.config).build(episodes, fallen=run.find_task().fallen).solve()


def _measure_skills(line: Line, study: Study) -> dict[str, Any]:
    """Each skill before and after the graph is solved for it, with the same networks."""
    episodes, _ = line.run.episodes()
    task = line.run.find_task()
    found: dict[str, dict[str, list[Scores]]] = {skill: {"before": [], "after": []} for skill in paper.SKILLS}
    for agent in solved_agents(line.run, episodes):
        for skill, scores in found.items():
            objective, asked = task.asked_for((skill,))
            actors = {"before": agent.policy(), "after": agent.plan(objective.staying()).policy()}
            for when, actor in actors.items():
                scores[when].append(agent_scores(line.run, asked, f"{when} the change", agent, actor, study.trial))
    skills = {
        skill: {when: Summary.of(each).to_dict() for when, each in scores.items()} | {"paper": paper.SKILLS[skill]}
        for skill, scores in found.items()
    }
    return described_line(line, study, episodes, task) | {"skills": skills}


def _measure_other_tasks(line: Line, study: Study) -> dict[str, Any]:
    """Every other set of four subtasks that enough logs do, and kitchen-mixed's, which none does: nothing is trained.

    The graph is solved for the number of these four that hold at each recorded step, and scored by the environment
    asked for them.
    """
    episodes, _ = line.run.episodes()
    task = line.run.find_task()
    done = _subtasks_done(task, episodes)
    found: dict[tuple[str, ...], list[Scores]] = {names: [] for names in _sets_of_four(episodes, done)}
    for agent in solved_agents(line.run, episodes):
        for names, scores in found.items():
            _, asked = task.asked_for(names)
            holding = np.sum([done[name][episodes.step_observation + 1] for name in names], axis=0)
            actor = agent.plan(step_rewards(holding.astype(np.float64))).policy()
            scores.append(agent_scores(line.run, asked, "four others", agent, actor, study.trial))
    others = [
        {"subtasks": list(names), "recorded": _logs_with(names, episodes, done), **Summary.of(scores).to_dict()}
        for names, scores in found.items()
    ]
    return described_line(line, study, episodes, task) | {"others": others}


def _subtasks_done(task: Task, episodes: Episodes) -> dict[str, np.ndarray]:
    """Whether each subtask holds in each recorded observation."""
    names = [name for name in task.fields if name != "robot"]
    return {name: task.asked_for((name,))[0].reached(episodes.observations) for name in names}


def _sets_of_four(episodes: Episodes, done: dict[str, np.ndarray]) -> list[tuple[str, ...]]:
    own, mixed = (set(find_task(f"kitchen-{kind}").options["tasks_to_complete"]) for kind in ("partial", "mixed"))
    others = [names for names in combinations(done, 4) if set(names) != own]
    return [each for each in others if set(each) == mixed or _logs_with(each, episodes, done) >= LEAST_LOGS]


def _logs_with(names: tuple[str, ...], episodes: Episodes, done: dict[str, np.ndarray]) -> int:
    """How many recorded episodes do each of these subtasks at some time, not necessarily all at once."""
    begins = episodes.first_observation[:-1]
    return int(np.logical_and.reduce([np.logical_or.reduceat(done[name], begins) for name in names]).sum())


def described_line(line: Line, study: Study, episodes: Episodes, task: Task) -> dict[str, Any]:
    """Return what a row says of itself besides its scores."""
    beside = has_baselines(line, study) if line.table in SCORED else True
    made_by = row_command(line.table, study, line.task.name, presets=(line.preset,), baselines=beside)
    mean, deviation, cloning = paper.SCORES.get(line.task.name, (None, None, None))
    return described(line.run, episodes, task, made_by) | {
        "task": line.task.name,
        "preset": line.preset,
        "paper": (mean, deviation),
        "paper_bc": cloning,
        "checkpoint": "last",
        "settings": line.run.config.to_dict(),
    }


def missing_line(line: Line) -> dict[str, Any]:
    """Return the row of a line that cannot be done, which says why."""
    reported = paper.SCORES.get(line.task.name, (None, None))[:2]
    return {"task": line.task.name, "preset": line.preset, "paper": reported, "missing": line.missing}
