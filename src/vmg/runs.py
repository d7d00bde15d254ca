"""Runs: what the commands make, a folder with one agent a seed. Every stage can be killed and called again.

run.json                 data, task, seeds and settings        training/      losses, checkpoints, state to resume from
seed_0/, seed_1/, ...    an agent each                         evaluations/   every episode, as it ended
scores.json              what was measured last                baselines/     behaviour cloning, where asked for
"""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from vmg.act.baselines import cloning_actors
from vmg.act.evaluation import Actor, EpisodeScore, Scores, evaluate
from vmg.act.policy import Policy
from vmg.act.tasks import Task, find_task, task_of
from vmg.agent import Agent, versions
from vmg.card import write_card
from vmg.config import ActConfig, AgentConfig, GraphConfig, SolveConfig, from_dict
from vmg.console import say
from vmg.data import load
from vmg.data.episodes import Episodes
from vmg.errors import PACKAGE, VMGError
from vmg.files import read_json, write_json, write_text
from vmg.graph import summarise
from vmg.learn.config import Training
from vmg.networks import embed
from vmg.statistics import bootstrap_interval

FORMAT = 1


@dataclass(frozen=True)
class Run:
    """What a run is: all that later commands need to know about the first."""

    data: str
    config: AgentConfig
    seeds: tuple[int, ...] = (0,)
    task: str | None = None
    """None: the task the data belongs to."""
    keys: tuple[str, ...] | None = None
    validation: float = 0.0
    """Share of the episodes held out: their losses are logged, and the graph does not see them."""
    folder: Path = field(default=Path(), compare=False)

    def agent_folder(self, seed: int) -> Path:
        return self.folder / f"seed_{seed}"

    def agents(self) -> Iterator[tuple[Path, Agent]]:
        """Yield each seed's folder and agent."""
        for seed in self.seeds:
            folder = self.agent_folder(seed)
            if not (folder / "config.json").exists():
                raise VMGError(f"{folder} holds no agent yet: call `vmg train` again, it goes on where it was.")
            yield folder, Agent.load(folder)

    def episodes(self) -> tuple[Episodes, Episodes | None]:
        """Load the data: (what is learned from, what is held out)."""
        episodes = load(self.data, keys=self.keys)
        return episodes.split(self.validation, seed=0) if self.validation > 0 else (episodes, None)

    def find_task(self) -> Task:
        """Return the task to evaluate in, with this run's keys."""
        task = find_task(self.task) if self.task else task_of(self.data)
        return replace(task, keys=self.keys or task.keys)


def save_run(run: Run) -> None:
    """Write run.json."""
    content = {name: value for name, value in asdict(run).items() if name != "folder"}
    write_json(run.folder / "run.json", {"format": FORMAT, **content})


def load_run(folder: Path) -> Run:
    """Read run.json, or say that this is no run."""
    path = folder / "run.json"
    if not path.is_file():
        raise VMGError(f"{folder} is not a run: there is no run.json in it. `vmg train DATA --out {folder}` makes one.")
    content = read_json(path)
    if not isinstance(content, dict) or content.pop("format", None) != FORMAT:
        raise VMGError(f"{path} is not of format {FORMAT}: another program or version wrote it.")
    return replace(from_dict(Run, content, place=str(path)), folder=folder)


def train(*runs: Run) -> None:
    """Learn the agents of all seeds and runs, side by side where they can be; a killed run goes on where it was."""
    for run in runs:
        if (run.folder / "run.json").exists():
            _refuse_another(run, load_run(run.folder))
        else:
            save_run(run)
    trainings = _trainings(runs, "training")
    for run, agents in zip(runs, Agent.fit_together(trainings, [run.config for run in runs]), strict=True):
        for agent in agents:
            folder = run.agent_folder(agent.seed)
            if not (folder / "config.json").exists():
                _write_losses(agent.seed, run.folder / "training" / "metrics.csv", folder / "metrics.csv")
                agent.save(folder)
        save_run(
            replace(load_run(run.folder), data=run.data, keys=run.keys)
        )  # the same data may have another name here
        folders = ", ".join(str(run.agent_folder(seed)) for seed in run.seeds)
        say(f"Trained for {run.config.learn.steps:,} steps: {folders}.")


def train_baselines(*runs: Run) -> None:
    """Learn behaviour cloning, plain and goal-conditioned, for all runs, side by side where they can be."""
    for alike in _alike(list(zip(runs, _trainings(runs, "baselines"), strict=True))):
        cloning_actors([training for _, training in alike], alike[0][0].config)


def training(run: Run, folder: str) -> Training:
    """Put together what is learned: the run's own networks, or the baselines', in that folder of the run."""
    return _trainings([run], folder)[0]


def _trainings(runs: Sequence[Run], folder: str) -> list[Training]:
    """Load each data set once, however many runs learn from it."""
    loaded: dict[Any, tuple[Episodes, Episodes | None]] = {}
    found = []
    for run in runs:
        data = (run.data, run.keys, run.validation)
        episodes, held_out = loaded[data] if data in loaded else loaded.setdefault(data, run.episodes())
        found.append(Training(episodes, run.seeds, held_out if folder == "training" else None, run.folder / folder))
    return found


def _alike(pairs: Sequence[tuple[Run, Training]]) -> list[list[tuple[Run, Training]]]:
    """Group the baselines that can be learned side by side: the same settings, the same sizes."""
    groups: dict[Any, list[tuple[Run, Training]]] = {}
    for run, training in pairs:
        episodes, goal = training.episodes, run.config.goal
        alike = (run.config.learn, goal, episodes.observation_size, episodes.action_size, training.validation is None)
        groups.setdefault(alike, []).append((run, training))
    return list(groups.values())


def build(run: Run, config: GraphConfig) -> None:
    """Build the graph of every agent that has not got this one already."""
    episodes: Episodes | None = None
    for folder, agent in run.agents():
        if agent.graph and agent.config.graph == config:
            say(f"{folder} has this graph already: {agent.graph.n_vertices:,} vertices.")
            continue
        if episodes is None:
            episodes, held_out = run.episodes()
        built = replace(agent, config=replace(agent.config, graph=config)).build(episodes)
        built.save(folder)
        say(f"{folder}: {_in_words(built, held_out)}")
    save_run(replace(run, config=replace(run.config, graph=config)))


def solve(run: Run, config: SolveConfig) -> None:
    """Solve the graph of every agent for the rewards recorded in the data."""
    episodes, _ = run.episodes()
    for folder, agent in run.agents():
        solved = replace(agent, config=replace(agent.config, solve=config)).solve(episodes)
        solved.save(folder)
        values = solved.solved.values
        say(f"{folder}: values from {values.min():.3g} to {values.max():.3g}.")
    save_run(replace(run, config=replace(run.config, solve=config)))


@dataclass(frozen=True, kw_only=True)
class Trial:
    """How an evaluation is done."""

    episodes: int = 100
    """Episodes for each agent, with the seeds first_seed, first_seed + 1, ..."""
    first_seed: int = 0
    """Seed of the first episode."""
    workers: int | None = None
    """Processes; None: one a core. It changes the time, not the scores."""
    baselines: bool = False
    """Also train and score behaviour cloning, plain and goal-conditioned, on the same data and budget."""


def evaluate_run(run: Run, config: ActConfig, trial: Trial) -> dict[str, list[Scores]]:
    """Evaluate every agent, and the baselines if asked, in the run's task: the scores of each, seed by seed."""
    task = run.find_task()
    found: dict[str, list[Scores]] = {"VMG": []}
    for folder, agent in run.agents():
        acting = replace(agent, config=replace(agent.config, act=config))
        scores = evaluated(run, task, "VMG", acting, Policy(acting), trial)
        acting.save(folder)
        write_json(folder / "scores.json", scores.to_dict())
        write_card(folder)
        found["VMG"].append(scores)
    if trial.baselines:
        (actors,) = cloning_actors([training(run, "baselines")], run.config)
        budget = asdict(run.config.learn)
        for name, models in actors.items():
            found[name] = [
                evaluated_as(run, task, name, seed, budget, actor, trial)
                for seed, actor in zip(run.seeds, models, strict=True)
            ]
    save_run(replace(run, config=replace(run.config, act=config)))
    _write_scores(run, task, found)
    return found


def _in_words(agent: Agent, held_out: Episodes | None) -> str:
    """Say how large the graph is and, where episodes were held out, how much of them it knows."""
    features = embed(agent.weights, held_out.observations) if held_out else None
    summary = summarise(agent.built, held_out=held_out, held_out_features=features)
    words = (
        f"{summary.vertices:,} vertices, {summary.edges:,} edges, {summary.components:,} components, "
        f"{summary.dead_ends:,} dead ends, {summary.steps_per_edge:.1f} steps an edge"
    )
    if summary.covered_observations is None or summary.covered_steps is None:
        return f"{words}."
    return (
        f"{words}; of the episodes held out it covers {100 * summary.covered_observations:.1f} % of the observations "
        f"and {100 * summary.covered_steps:.1f} % of the steps."
    )


def evaluated(run: Run, task: Task, method: str, agent: Agent, actor: Actor, trial: Trial) -> Scores:
    """Evaluate an agent; see `evaluated_as`."""
    return evaluated_as(run, task, method, agent.seed, agent.config.to_dict(), actor, trial)


def evaluated_as(
    run: Run, task: Task, method: str, seed: int, settings: dict[str, Any], actor: Actor, trial: Trial
) -> Scores:
    """Evaluate one model, noting every episode as it ends, so that a killed evaluation goes on where it was."""
    path, identity = _notes(run, task, method, seed, settings)
    known = _read_notes(path, identity)
    write_text(path, "".join(json.dumps(entry) + "\n" for entry in [identity, *map(asdict, known)]))
    with open(path, "a", encoding="utf-8") as file:

        def note(episode: EpisodeScore) -> None:
            file.write(json.dumps(asdict(episode)) + "\n")
            file.flush()

        return evaluate(
            actor, task, episodes=trial.episodes, first_seed=trial.first_seed, workers=trial.workers,
            known=known, on_episode=note, title=f"{method}, seed {seed}",
        )  # fmt: skip


def noted(run: Run, task: Task, method: str, seed: int, settings: dict[str, Any], trial: Trial) -> Scores | None:
    """Return what `evaluated_as` would without running an episode; None if episodes are missing."""
    known = {episode.seed: episode for episode in _read_notes(*_notes(run, task, method, seed, settings))}
    seeds = range(trial.first_seed, trial.first_seed + trial.episodes)
    if not all(each in known for each in seeds):
        return None
    return Scores(task.name, task.protocol, task.score_range, tuple(known[each] for each in seeds))


def remembered(path: Path, of: dict[str, Any], make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return what was made of this before with this version, as the file remembers it, or make it and note it there."""
    identity = json.loads(json.dumps(of | {"version": version(PACKAGE)}))
    known: list[dict[str, Any]] = read_json(path) if path.exists() else []
    for entry in known:
        if entry["of"] == identity:
            made: dict[str, Any] = entry["made"]
            return made
    made = make()
    write_json(path, [*known, {"of": identity, "made": made}])
    return made


def _notes(run: Run, task: Task, method: str, seed: int, settings: dict[str, Any]) -> tuple[Path, dict[str, Any]]:
    """Where a model's episodes are noted, and what must be the same for them to count."""
    name = re.sub(r"[^\w.-]", "", f"{task.name}_{method}_seed_{seed}".replace(": ", "_").replace(" ", "-"))
    measured = {"data": run.data, "settings": settings, "protocol": task.protocol, "version": version(PACKAGE)}
    return run.folder / "evaluations" / f"{name}.jsonl", json.loads(json.dumps(measured))


def _read_notes(path: Path, identity: dict[str, Any]) -> list[EpisodeScore]:
    """Return the episodes noted for just these settings."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    entries = [entry for entry in map(_parsed, lines) if entry is not None]  # a kill may have cut the last line
    same = bool(entries) and entries[0] == identity
    return [EpisodeScore(**entry) for entry in entries[1:]] if same else []


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


def _write_scores(run: Run, task: Task, found: dict[str, list[Scores]]) -> None:
    content = {"task": task.name, "protocol": task.protocol, "data": run.data, "checkpoint": "last"}
    summary = {method: _overall(scores) for method, scores in found.items()}
    by_seed = {
        method: [{"seed": seed, **_summary(each)} for seed, each in zip(run.seeds, scores, strict=True)]
        for method, scores in found.items()
    }
    write_json(run.folder / "scores.json", {**content, "summary": summary, "scores": by_seed, "versions": versions()})


def _overall(scores: list[Scores]) -> dict[str, Any]:
    """The mean over models, and an interval over models and episodes."""
    interval = bootstrap_interval([each.normalised for each in scores])
    return {"score": sum(each.score for each in scores) / len(scores), "interval": list(interval)}


def _summary(scores: Scores) -> dict[str, Any]:
    return {name: value for name, value in scores.to_dict().items() if name not in ("episodes", "task", "protocol")}


def _write_losses(seed: int, together: Path, own: Path) -> None:
    """Copy one model's rows out of the log of all models."""
    with open(together, encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    text = io.StringIO()
    column = header.index("seed")
    csv.writer(text).writerows([header, *(row for row in rows if row[column] == str(seed))])
    write_text(own, text.getvalue())


def _refuse_another(run: Run, there: Run) -> None:
    """Training again is going on; anything that decides how it ends must be the same."""
    now, before = (
        {
            "validation": each.validation,
            "seeds": each.seeds,
            "goal": each.config.goal,
        }
        | asdict(each.config.learn)
        for each in (run, there)
    )
    if changed := [name for name in now if now[name] != before[name]]:
        differences = ", ".join(f"{name} is {before[name]!r} there and {now[name]!r} now" for name in changed)
        raise VMGError(f"{run.folder} holds another run: {differences}. Choose another --out, or the same settings.")
