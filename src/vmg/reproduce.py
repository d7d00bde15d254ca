"""Studies: a table of the paper with one command, from data to Markdown, going on where it was when it is called again.

runs/study/TASK/PRESET/      a run: networks, losses, checkpoints, every episode (graphs are built when needed)
runs/study/main.json         every row: scores by model, endings, settings, data, versions, command
runs/study/main.md           the table

Training needs the data and no simulator, evaluation needs both; `only` splits a study over two machines: copy the
folder from the one to the other and call the same command there. What decides is the data's content, not its name.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from vmg import runs
from vmg.act.baselines import cloning_actors
from vmg.act.evaluation import Actor, Scores
from vmg.act.policy import Policy
from vmg.act.retask import want
from vmg.act.tasks import TASKS, Task, find_task
from vmg.agent import Agent, DataFacts, versions
from vmg.console import say
from vmg.data import load
from vmg.data.episodes import Episodes
from vmg.errors import VMGError
from vmg.files import write_json, write_text
from vmg.graph import summarise
from vmg.runs import Run, Trial
from vmg.statistics import bootstrap_interval

StudyName = Literal["main", "locomotion", "skills"]

LOCOMOTION = tuple(name for name in TASKS if name.split("-")[0] in ("halfcheetah", "hopper", "walker2d"))
MAIN = tuple(name for name, task in TASKS.items() if task.paper and name not in LOCOMOTION)
SKILLS = ("bottom burner", "top burner", "hinge cabinet")
PAPER_SKILLS = {"bottom burner": (0.7, 69.7), "top burner": (3.7, 88.3), "hinge cabinet": (0.0, 7.3)}
STUDIES: dict[str, tuple[str, ...]] = {"main": MAIN, "locomotion": LOCOMOTION, "skills": ("kitchen-partial",)}
CHOSEN = (500_000, 800_000)  # the paper reports the best checkpoint from the one to the other, found in the environment


@dataclass(frozen=True, kw_only=True)
class Study:
    """What is measured."""

    tasks: tuple[str, ...] = ()
    """Tasks; none: all of the table."""
    presets: tuple[str, ...] = ("paper", "ours")
    """Settings: the paper's own, and ours."""
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    """One model for each, none dropped."""
    episodes: int = 100
    """Episodes for each model, with the seeds 0, 1, 2, ..."""
    steps: int | None = None
    """Updates of every model; None: the preset's."""
    data: tuple[str, ...] = ()
    """Where a task's data are, TASK=SOURCE:NAME (kitchen-partial=npz:kitchen.npz); others as the task names them."""
    choose: tuple[str, ...] = ("kitchen-partial",)
    """Tasks for which the best checkpoint of 500,000 to 800,000 updates is reported too, as the paper does for all."""
    baselines: bool = True
    """Train and score behaviour cloning, plain and goal-conditioned, beside it."""
    only: Literal["train", "evaluate"] | None = None
    """Do one half: train where a GPU is, evaluate where the simulator is."""
    device: Literal["auto", "cpu", "gpu"] = "auto"
    """Where to train."""
    workers: int | None = None
    """Processes that evaluate; None: one a core."""
    out: Path = Path("runs/study")
    """Folder of the study."""


@dataclass(frozen=True)
class Row:
    """One task with one preset."""

    task: Task
    preset: str
    run: Run
    missing: str = ""
    """Why it cannot be done, and how it can."""


def reproduce(name: StudyName, study: Study) -> Path:
    """Do a study, or go on with it; return the path of its table."""
    if not study.presets or not study.seeds:
        raise VMGError("A study needs at least one preset and one seed: give them, or leave --presets and --seeds out.")
    _use_device(study.device)
    rows = [_row(name, study, task, preset) for task in _tasks(name, study) for preset in study.presets]
    ready = [row for row in rows if not row.missing]
    for row in rows:
        if row.missing and row.preset == study.presets[0]:
            say(f"{row.task.name}: {row.missing}")
    if study.only != "evaluate" and ready:
        say(f"Training {sum(len(row.run.seeds) for row in ready)} models for {len(ready)} rows.")
        runs.train(*(row.run for row in ready))
        if study.baselines and name != "skills":
            runs.train_baselines(*(row.run for row in ready if _has_baselines(row, study)))
    if study.only == "train":
        return study.out
    measure = _measure_skills if name == "skills" else _measure
    results = []
    for i, row in enumerate(rows):
        say(f"Row {i + 1} of {len(rows)}: {row.task.name}, preset {row.preset}.")
        results.append(_missing(row) if row.missing else measure(row, study))
        _write(name, study, results)
    return study.out / f"{name}.md"


def _tasks(name: StudyName, study: Study) -> list[Task]:
    known = STUDIES[name]
    if unknown := [task for task in study.tasks if task not in known]:
        raise VMGError(f"The study {name} has no task {unknown[0]!r}. It has: {', '.join(known)}.")
    return [find_task(task) for task in study.tasks or known]


def _row(name: StudyName, study: Study, task: Task, preset: str) -> Row:
    sources = dict(_source(each) for each in study.data)
    config = task.preset(preset)
    if study.steps:
        learn = replace(
            config.learn, steps=study.steps, checkpoint_every=min(config.learn.checkpoint_every, study.steps)
        )
        config = replace(config, learn=learn)
    data = sources.get(task.name, task.data)
    keys = task.keys if data.startswith("minari:") else None
    run = Run(data, config, study.seeds, task.name, keys, folder=study.out / task.name / preset)
    if data.startswith("minari:") and data != task.data:
        run = replace(run, task=None)  # a Minari set brings its own environment
    try:
        load(data, keys=keys)
    except VMGError as error:
        cure = f"Get it ({task.get}), then: vmg reproduce {name} --tasks {task.name}"
        return Row(task, preset, run, f"no data ({str(error).splitlines()[0].rstrip('.')}). {cure}")
    return Row(task, preset, run)


def _source(given: str) -> tuple[str, str]:
    task, equals, data = given.partition("=")
    if not equals or task not in TASKS:
        raise VMGError(
            f"{given!r} does not say whose data it is: write TASK=SOURCE:NAME, with one of the tasks' names."
        )
    return task, data


def _use_device(device: str) -> None:
    if device == "auto":
        return
    import jax

    jax.config.update("jax_platforms", {"cpu": "cpu", "gpu": "cuda"}[device])  # type: ignore[no-untyped-call]
    try:
        jax.devices()
    except RuntimeError as error:
        raise VMGError(f"There is no {device} that JAX can use: {error}. Choose --device auto.") from error


def _has_baselines(row: Row, study: Study) -> bool:
    """Baselines stand beside the last preset alone: they know nothing of the graph's settings."""
    return study.baselines and row.preset == study.presets[-1]


# --- measuring --------------------------------------------------------------------------------------------------------


def _measure(row: Row, study: Study) -> dict[str, Any]:
    episodes, _ = row.run.episodes()
    task, trial = row.run.find_task(), Trial(episodes=study.episodes, workers=study.workers)
    found: dict[str, list[Scores]] = {"VMG": []}
    graphs = []
    for agent in _agents(row.run, episodes):
        found["VMG"].append(runs.evaluated(row.run, task, "VMG", agent, Policy(agent), trial))
        graphs.append(summarise(agent.built).to_dict())
    if _has_baselines(row, study):
        (actors,) = cloning_actors([runs.training(row.run, "baselines")], row.run.config)
        for method, models in actors.items():
            found[method] = [_scored(row.run, task, method, i, model, trial) for i, model in enumerate(models)]
    result = _described(row, study, episodes, task) | {"graphs": graphs}
    result["scores"] = {method: _summary(scores) for method, scores in found.items()}
    if row.task.name in study.choose:
        result["chosen"] = _choose(row, episodes, task, trial)
    return result


def _agents(run: Run, episodes: Episodes) -> Iterator[Agent]:
    """Yield every seed's agent, its graph built and solved."""
    for _, agent in run.agents():
        yield replace(agent, config=run.config).build(episodes).solve(episodes)


def _scored(run: Run, task: Task, method: str, model: int, actor: Actor, trial: Trial) -> Scores:
    learned = {"learn": asdict(run.config.learn)}
    return runs.evaluated_as(run, task, method, run.seeds[model], learned, actor, trial)


def _choose(row: Row, episodes: Episodes, task: Task, trial: Trial) -> dict[str, Any] | None:
    """Score the checkpoints as the paper does, and report each model's best: chosen in the environment."""
    from vmg.learn import load_checkpoint

    folder, (first, last) = row.run.folder / "training" / "checkpoints", CHOSEN
    steps = [int(path.stem.removeprefix("step_")) for path in sorted(folder.glob("step_*.safetensors"))]
    best: dict[int, tuple[Scores, int]] = {}
    for step in (step for step in steps if first <= step <= last):
        models = load_checkpoint(folder / f"step_{step:010d}.safetensors")
        for seed in row.run.seeds:
            agent = Agent(row.run.config, DataFacts.of(episodes), seed, models[seed]).build(episodes).solve(episodes)
            scores = runs.evaluated(row.run, task, f"VMG at {step}", agent, Policy(agent), trial)
            if seed not in best or scores.score > best[seed][0].score:
                best[seed] = (scores, step)
    if not best:
        return None
    return _summary([scores for scores, _ in best.values()]) | {"steps": [step for _, step in best.values()]}


def _measure_skills(row: Row, study: Study) -> dict[str, Any]:
    """Each skill before and after the reward changes, with the same networks."""
    episodes, _ = row.run.episodes()
    task, trial = row.run.find_task(), Trial(episodes=study.episodes, workers=study.workers)
    found: dict[str, dict[str, list[Scores]]] = {skill: {"before": [], "after": []} for skill in SKILLS}
    for agent in _agents(row.run, episodes):
        for skill, scores in found.items():
            wish, asked = task.asked_for((skill,))
            changed = replace(agent, solution=want(agent, episodes, wish, kind="stay").solution)
            for when, who in (("before", agent), ("after", changed)):
                scores[when].append(runs.evaluated(row.run, asked, f"{when} the change", who, Policy(who), trial))
    return _described(row, study, episodes, task) | {
        "skills": {
            skill: {when: _summary(each) for when, each in scores.items()} | {"paper": PAPER_SKILLS[skill]}
            for skill, scores in found.items()
        }
    }


def _described(row: Row, study: Study, episodes: Episodes, task: Task) -> dict[str, Any]:
    return {
        "task": row.task.name,
        "preset": row.preset,
        "protocol": task.protocol,
        "paper": row.task.paper,
        "paper_bc": row.task.paper_bc,
        "data": {
            "id": row.run.data,
            "digest": episodes.digest,
            "source": episodes.source,
            "episodes": len(episodes),
            "steps": episodes.n_steps,
        },
        "seeds": list(row.run.seeds),
        "checkpoint": "last",
        "settings": row.run.config.to_dict(),
        "command": " ".join(["vmg", *sys.argv[1:]]) if Path(sys.argv[0]).name == "vmg" else "vmg.reproduce",
        "versions": versions(),
    }


def _missing(row: Row) -> dict[str, Any]:
    return {"task": row.task.name, "preset": row.preset, "paper": row.task.paper, "missing": row.missing}


def _summary(scores: Sequence[Scores]) -> dict[str, Any]:
    """The mean over models, an interval over models and episodes, and each model."""
    endings: dict[str, int] = {}
    for each in scores:
        for how, count in each.endings.items():
            endings[how] = endings.get(how, 0) + count
    return {
        "score": float(np.mean([each.score for each in scores])),
        "interval": list(bootstrap_interval([each.normalised for each in scores])),
        "models": [each.score for each in scores],
        "episodes": len(scores[0].episodes),
        "mean_steps": float(np.mean([e.steps for each in scores for e in each.episodes])),
        "endings": endings,
    }


# --- tables -----------------------------------------------------------------------------------------------------------


def _write(name: StudyName, study: Study, results: Sequence[Mapping[str, Any]]) -> None:
    write_json(study.out / f"{name}.json", list(results))
    write_text(study.out / f"{name}.md", study_table(results))


def study_table(results: Sequence[Mapping[str, Any]]) -> str:
    """The Markdown table of a study's rows."""
    if any("skills" in row for row in results):
        return _table(("skill", "preset", "paper: before, after", "before", "after, 95 % interval", "each model"),
                      _skill_lines(results))  # fmt: skip
    header = ("task", "preset", "paper", "VMG", "95 % interval", "each model", "BC", "GCBC", "how VMG's episodes ended")
    return _table(header, map(_line, results))


def _table(header: Sequence[str], lines: Any) -> str:
    rows = [header, ["---"] * len(header), *lines]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


def _line(row: Mapping[str, Any]) -> list[str]:
    front = [row["task"], row["preset"], _paper(row["paper"])]
    if "missing" in row:
        return [*front, row["missing"], *[""] * 5]
    scores = row["scores"]
    vmg = scores["VMG"]
    chosen = f" (checkpoint chosen there: {row['chosen']['score']:.1f})" if row.get("chosen") else ""
    cells = [f"**{vmg['score']:.1f}**{chosen}", _interval(vmg), ", ".join(f"{each:.1f}" for each in vmg["models"])]
    others = [_with_interval(scores[name]) if name in scores else "" for name in ("BC", "GCBC")]
    return [*front, *cells, *others, ", ".join(f"{count} {how}" for how, count in vmg["endings"].items())]


def _skill_lines(results: Sequence[Mapping[str, Any]]) -> Iterator[list[str]]:
    for row in results:
        if "missing" in row:
            yield ["", row["preset"], "", "", row["missing"], ""]
            continue
        for skill, scores in row["skills"].items():
            before, after = scores["before"], scores["after"]
            models = ", ".join(f"{each:.0f}" for each in after["models"])
            paper = ", ".join(f"{each:g}" for each in scores["paper"])
            yield [
                skill,
                row["preset"],
                paper,
                f"{before['score']:.1f}",
                f"**{after['score']:.1f}**, {_interval(after)}",
                models,
            ]


def _interval(summary: Mapping[str, Any]) -> str:
    low, high = summary["interval"]
    return f"{low:.1f} – {high:.1f}"


def _with_interval(summary: Mapping[str, Any]) -> str:
    return f"{summary['score']:.1f} ({_interval(summary)})"


def _paper(reported: Sequence[float | None] | None) -> str:
    if reported is None:
        return ""
    mean, deviation = reported
    return f"{mean:g}" if deviation is None else f"{mean:g} ± {deviation:g}"
