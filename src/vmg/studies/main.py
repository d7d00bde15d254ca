"""The tables of tasks: main and locomotion, with both presets and baselines; and skills, new rewards in the kitchen."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from vmg import runs
from vmg.act.baselines import cloning_actors
from vmg.act.evaluation import Actor, Scores
from vmg.act.policy import Policy
from vmg.act.retask import want
from vmg.act.tasks import TASKS, Task
from vmg.agent import Agent, DataFacts
from vmg.console import say
from vmg.data.episodes import Episodes
from vmg.errors import VMGError
from vmg.graph import summarise
from vmg.runs import Run
from vmg.studies.study import Rows, Study, described, missing_data, run_of, summary, tasks_of

LOCOMOTION = tuple(name for name in TASKS if name.split("-")[0] in ("halfcheetah", "hopper", "walker2d"))
MAIN = tuple(name for name, task in TASKS.items() if task.paper and name not in LOCOMOTION)
SKILLS = ("bottom burner", "top burner", "hinge cabinet")
PAPER_SKILLS = {"bottom burner": (0.7, 69.7), "top burner": (3.7, 88.3), "hinge cabinet": (0.0, 7.3)}
TABLES: dict[str, tuple[str, ...]] = {"main": MAIN, "locomotion": LOCOMOTION, "skills": ("kitchen-partial",)}
SEEDS = (0, 1, 2, 3, 4)
CHOSEN = (500_000, 800_000)  # the paper reports the best checkpoint from the one to the other, found in the environment


@dataclass(frozen=True)
class Row:
    """One task with one preset."""

    task: Task
    preset: str
    run: Run
    missing: str = ""
    """Why it cannot be done, and how it can."""


def train_table(name: str, study: Study) -> list[Row]:
    """Learn what a table needs, unless the study only evaluates, and return its rows."""
    if not study.presets:
        raise VMGError("A table needs at least one preset: give them, or leave --presets out.")
    rows = [row for task in tasks_of(name, study, TABLES[name]) for row in _rows(name, study, task)]
    ready = [row for row in rows if not row.missing]
    if study.only != "evaluate" and ready:
        say(f"Training {sum(len(row.run.seeds) for row in ready)} models for {len(ready)} rows.")
        runs.train(*(row.run for row in ready))
        if study.baselines and name != "skills":
            runs.train_baselines(*(row.run for row in ready if _has_baselines(row, study)))
    return rows


def measure_table(name: str, study: Study, table: list[Row], write: Callable[[Rows], None]) -> None:
    """Measure every row; `write` is given all there are after each."""
    measure = _measure_skills if name == "skills" else _measure
    results: Rows = []
    for i, row in enumerate(table):
        say(f"Row {i + 1} of {len(table)}: {row.task.name}, preset {row.preset}.")
        results.append(_missing(row) if row.missing else measure(row, study))
        write(results)


def _rows(name: str, study: Study, task: Task) -> list[Row]:
    rows = [_row(study, task, preset) for preset in study.presets]
    missing = missing_data(name, task, rows[0].run)
    if missing:
        say(f"{task.name}: {missing}")
    return [replace(row, missing=missing) for row in rows]


def _row(study: Study, task: Task, preset: str) -> Row:
    return Row(task, preset, run_of(study, task, task.preset(preset), study.seeds or SEEDS, preset))


def _has_baselines(row: Row, study: Study) -> bool:
    """Baselines stand beside the last preset alone: they know nothing of the graph's settings."""
    return study.baselines and row.preset == study.presets[-1]


def _measure(row: Row, study: Study) -> dict[str, Any]:
    episodes, _ = row.run.episodes()
    task = row.run.find_task()
    found: dict[str, list[Scores]] = {"VMG": []}
    graphs = []
    for agent in _agents(row.run, episodes):
        found["VMG"].append(runs.evaluated(row.run, task, "VMG", agent, Policy(agent), study.trial))
        graphs.append(summarise(agent.built).to_dict())
    if _has_baselines(row, study):
        (actors,) = cloning_actors([runs.training(row.run, "baselines")], row.run.config)
        for method, models in actors.items():
            found[method] = [_scored(row.run, task, method, i, model, study) for i, model in enumerate(models)]
    result = _described(row, episodes, task) | {"graphs": graphs}
    result["scores"] = {method: summary(scores) for method, scores in found.items()}
    if row.task.name in study.choose:
        result["chosen"] = _choose(row, episodes, task, study)
    return result


def _agents(run: Run, episodes: Episodes) -> Iterator[Agent]:
    """Yield every seed's agent, its graph built and solved."""
    for _, agent in run.agents():
        yield replace(agent, config=run.config).build(episodes).solve(episodes)


def _scored(run: Run, task: Task, method: str, model: int, actor: Actor, study: Study) -> Scores:
    learned = {"learn": asdict(run.config.learn)}
    return runs.evaluated_as(run, task, method, run.seeds[model], learned, actor, study.trial)


def _choose(row: Row, episodes: Episodes, task: Task, study: Study) -> dict[str, Any] | None:
    """Score the checkpoints as the paper does, and report each model's best: chosen in the environment."""
    from vmg.learn import load_checkpoint

    folder, (first, last) = row.run.folder / "training" / "checkpoints", CHOSEN
    steps = [int(path.stem.removeprefix("step_")) for path in sorted(folder.glob("step_*.safetensors"))]
    best: dict[int, tuple[Scores, int]] = {}
    for step in (step for step in steps if first <= step <= last):
        models = load_checkpoint(folder / f"step_{step:010d}.safetensors")
        for seed in row.run.seeds:
            agent = Agent(row.run.config, DataFacts.of(episodes), seed, models[seed]).build(episodes).solve(episodes)
            scores = runs.evaluated(row.run, task, f"VMG at {step}", agent, Policy(agent), study.trial)
            if seed not in best or scores.score > best[seed][0].score:
                best[seed] = (scores, step)
    if not best:
        return None
    return summary([scores for scores, _ in best.values()]) | {"steps": [step for _, step in best.values()]}


def _measure_skills(row: Row, study: Study) -> dict[str, Any]:
    """Each skill before and after the reward changes, with the same networks."""
    episodes, _ = row.run.episodes()
    task = row.run.find_task()
    found: dict[str, dict[str, list[Scores]]] = {skill: {"before": [], "after": []} for skill in SKILLS}
    for agent in _agents(row.run, episodes):
        for skill, scores in found.items():
            wish, asked = task.asked_for((skill,))
            changed = replace(agent, solution=want(agent, episodes, wish, kind="stay").solution)
            for when, who in (("before", agent), ("after", changed)):
                scores[when].append(runs.evaluated(row.run, asked, f"{when} the change", who, Policy(who), study.trial))
    return _described(row, episodes, task) | {
        "skills": {
            skill: {when: summary(each) for when, each in scores.items()} | {"paper": PAPER_SKILLS[skill]}
            for skill, scores in found.items()
        }
    }


def _described(row: Row, episodes: Episodes, task: Task) -> dict[str, Any]:
    return described(row.run, episodes, task) | {
        "task": row.task.name,
        "preset": row.preset,
        "paper": row.task.paper,
        "paper_bc": row.task.paper_bc,
        "checkpoint": "last",
        "settings": row.run.config.to_dict(),
    }


def _missing(row: Row) -> dict[str, Any]:
    return {"task": row.task.name, "preset": row.preset, "paper": row.task.paper, "missing": row.missing}
