"""Everything there is to see of a run, gathered once and drawn in any theme: what `vmg draw` and `vmg report` share."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from vmg.act.evaluation import EpisodeScore
from vmg.act.retask import want
from vmg.act.tasks import Task
from vmg.agent import Agent
from vmg.console import progress_bar
from vmg.data.episodes import Episodes
from vmg.errors import VMGError
from vmg.files import read_json
from vmg.graph import Solution, goal, reward
from vmg.runs import Run
from vmg.types import Float64s
from vmg.view.charts import RadiusRow, histograms_figure, radius_figure, read_losses, scores_figure, training_figure
from vmg.view.episodes import Watched, watch
from vmg.view.graphs import endings_figure, graph_figure, value_change_figure
from vmg.view.layout import Layout, floor_of, floor_plan, lay_out
from vmg.view.radii import known_radii, size_by_radius
from vmg.view.style import Theme

GOALS_TRIED = 20


@dataclass(frozen=True, eq=False)
class Change:
    """A graph's values before and after what is wanted has changed."""

    before: Solution
    after: Solution
    names: tuple[str, str]
    goals: tuple[Float64s | None, Float64s | None] = (None, None)


@dataclass(frozen=True, eq=False)
class Gallery:
    """What there is to see. Whatever a run has not come to yet is missing, and `missing` says in sentences why."""

    run: Run
    agent: Agent
    """The agent of the first seed: the one whose graph and episodes are drawn."""
    task: Task | None = None
    episodes: Episodes | None = None
    losses: dict[int, dict[str, Float64s]] = field(default_factory=dict)
    scores: dict[str, Any] | None = None
    """The run's scores.json."""
    outcomes: dict[str, dict[int, list[EpisodeScore]]] = field(default_factory=dict)
    """Every episode of every method and model."""
    layouts: dict[str, Layout] = field(default_factory=dict)
    """"graph" in two dimensions and, for a maze, "floor"."""
    episode: Watched | None = None
    """One episode, run again: a success if there was one."""
    failed: tuple[Watched, ...] = ()
    change: Change | None = None
    radii: tuple[RadiusRow, ...] = ()
    missing: dict[str, str] = field(default_factory=dict)

    @property
    def layout(self) -> Layout:
        """The layout that shows most: the floor plan, where there is one."""
        return self.layouts.get("floor", self.layouts["graph"])


def gather(run: Run, *, replays: int = 8, seed: int = 0) -> Gallery:
    """Load a run and compute what its pictures need; at most `replays` failed episodes are run again."""
    missing: dict[str, str] = {}
    agent = next(run.agents())[1]
    task = _or_missing(missing, "task", run.find_task)
    episodes = _or_missing(missing, "data", lambda: run.episodes()[0])
    losses = _or_missing(missing, "training", lambda: _losses(run)) or {}
    scores = read_json(run.folder / "scores.json") if (run.folder / "scores.json").exists() else None
    outcomes = _outcomes(run, scores)
    facts = {"run": run, "agent": agent, "task": task, "episodes": episodes, "losses": losses}
    facts |= {"scores": scores, "outcomes": outcomes, "missing": missing}
    if agent.graph is None:
        missing["graph"] = f"The graph is not built yet: vmg build {run.folder}"
        return Gallery(**facts)
    if agent.solution is None:
        missing["graph"] = f"The graph is not solved yet: vmg solve {run.folder}"
        return Gallery(**facts)
    layouts = {"graph": lay_out(agent.graph.features, seed=seed)}
    if task and (floor := _or_missing(missing, "floor", lambda: floor_of(task, agent))):
        layouts["floor"] = floor_plan(agent, floor)
    shown, failed = _watched(agent, task, outcomes.get("VMG", {}).get(agent.seed, []), replays, missing)
    change = _change(agent, task, episodes, shown)
    radii = _radii(run, agent, episodes)
    return Gallery(**facts, layouts=layouts, episode=shown, failed=failed, change=change, radii=radii)


def draw(gallery: Gallery, theme: Theme) -> dict[str, Any]:
    """Draw every figure there is material for, by name."""
    figures: dict[str, Any] = {}
    if gallery.losses:
        figures["training"] = training_figure(gallery.losses, theme=theme)
    if gallery.scores:
        figures["scores"] = scores_figure(gallery.scores, theme=theme)
    if gallery.layouts:
        figures |= _graph_figures(gallery, theme)
    return figures


def _graph_figures(gallery: Gallery, theme: Theme) -> dict[str, Any]:
    graph, solved, figures = gallery.agent.built, gallery.agent.solved, {}
    followed = gallery.episode.solution if gallery.episode else solved
    for name, layout in gallery.layouts.items():
        figures[name] = graph_figure(graph, followed, layout, theme=theme)
        if gallery.episode:
            figures[f"episode_{name}"] = graph_figure(graph, followed, layout, episode=gallery.episode, theme=theme)
        if gallery.failed:
            failed = list(gallery.failed)
            figures[f"failures_{name}"] = endings_figure(graph, failed[0].solution, layout, failed, theme=theme)
        if gallery.change:
            change = gallery.change
            figures[f"change_{name}"] = value_change_figure(
                graph, change.before, change.after, layout, change.names, goals=change.goals, theme=theme
            )
    rewards = None
    if gallery.episodes is not None:
        rewards = reward(graph, gallery.episodes, variant=gallery.agent.config.solve.variant)
    figures["histograms"] = histograms_figure(graph, solved, rewards, theme=theme)
    if gallery.radii:
        figures["radius"] = radius_figure(gallery.radii, graph.radius, theme=theme)
    return figures


def is_failure(episode: EpisodeScore) -> bool:
    """Say whether an episode failed, as far as the environment tells."""
    return episode.success is False


def _or_missing(missing: dict[str, str], name: str, find: Any) -> Any:
    try:
        return find()
    except VMGError as error:
        missing[name] = str(error)
        return None


def _losses(run: Run) -> dict[int, dict[str, Float64s]]:
    return {seed: read_losses(run.agent_folder(seed) / "metrics.csv") for seed in run.seeds}


def _outcomes(run: Run, scores: dict[str, Any] | None) -> dict[str, dict[int, list[EpisodeScore]]]:
    """Read every episode that the run's scores speak of."""
    if scores is None:
        return {}
    found: dict[str, dict[int, list[EpisodeScore]]] = {}
    for method, rows in scores["scores"].items():
        for row in rows:
            path = run.folder / "evaluations" / f"{scores['task']}_{method}_seed_{row['seed']}.jsonl"
            found.setdefault(method, {})[row["seed"]] = _noted(path)
    return found


def _noted(path: Path) -> list[EpisodeScore]:
    lines = path.read_text(encoding="utf-8").splitlines()[1:] if path.exists() else []
    return sorted((EpisodeScore(**json.loads(line)) for line in lines), key=lambda episode: episode.seed)


def _watched(
    agent: Agent, task: Task | None, noted: Sequence[EpisodeScore], replays: int, missing: dict[str, str]
) -> tuple[Watched | None, tuple[Watched, ...]]:
    """Run again one good episode and some failed ones, spread over all of them."""
    if task is None or not noted:
        return None, ()
    best = max(noted, key=lambda episode: (bool(episode.success), episode.reward, -episode.steps))
    failures = [episode for episode in noted if is_failure(episode) and episode != best]
    chosen = (
        [failures[i] for i in np.unique(np.linspace(0, len(failures) - 1, replays).astype(int))] if failures else []
    )
    watched: list[Watched] = []
    with progress_bar("Running episodes again", 1 + len(chosen)) as advance:
        for episode in [best, *chosen]:
            watched.append(watch(agent, task, episode.seed))
            advance(len(watched))
    different = [w.score.seed for w, e in zip(watched, [best, *chosen], strict=True) if asdict(w.score) != asdict(e)]
    if different:
        missing["replay"] = (
            f"Run again, the episodes with the seeds {', '.join(map(str, different))} went another way than when they "
            "were scored: other library versions or another machine."
        )
    return watched[0], tuple(watched[1:])


def _change(agent: Agent, task: Task | None, episodes: Episodes | None, shown: Watched | None) -> Change:
    """Choose something else to want: another goal, a skill nobody asked for, or else some recorded state."""
    if agent.places is not None and shown is not None and shown.goal is not None:
        place, solution = _another_goal(agent, shown.goal)
        places = [f"({', '.join(f'{x:.1f}' for x in each)})" for each in (shown.goal, place)]
        names = (f"Before: the goal {places[0]}", f"After: the goal {places[1]}")
        return Change(shown.solution, solution, names, (shown.goal, place))
    if task and task.skill and episodes is not None and shown is not None:
        asked = {name for name, _ in shown.subtasks} | set(shown.to_do)
        for name in task.fields:
            if name not in asked and (after := _skill(agent, task, episodes, name)) is not None:
                return Change(agent.solved, after, ("Before: the recorded rewards", f"After: {name} alone"))
    return _another_state(agent)


def _another_goal(agent: Agent, known: Float64s) -> tuple[Float64s, Solution]:
    """Return a far place that most vertices can reach, of a few tried, and the solution for it."""
    assert agent.places is not None
    places = agent.places[agent.built.rows].astype(np.float64)
    by_distance = np.argsort(-np.linalg.norm(places - known, axis=1), kind="stable")
    tried = []
    for place in places[by_distance[:: max(1, len(places) // GOALS_TRIED)]]:
        solution, _ = agent.goal(place)
        tried.append((float((solution.values > 0).mean()), place, solution))
        if tried[-1][0] > 0.8:
            break
    _, place, solution = max(tried, key=lambda each: each[0])
    return place, solution


def _skill(agent: Agent, task: Task, episodes: Episodes, name: str) -> Solution | None:
    """Solve for a skill; None where a part of the state is not one."""
    assert task.skill is not None
    try:
        return want(agent, episodes, task.skill((name,)).wish).solution
    except VMGError:
        return None


def _another_state(agent: Agent) -> Change:
    """Want the state in which the longest recorded episode ended."""
    graph = agent.built
    longest = int(np.argmax(graph.lengths))
    vertex = graph.labels[(np.cumsum(graph.lengths + 1) - 1)[longest]]
    gaps = np.linalg.norm(graph.features - graph.features[vertex], axis=1)[graph.labels]
    wanted = goal(graph, gaps, graph.radius / 2, variant=agent.config.solve.variant)
    names = ("Before: the recorded rewards", f"After: to vertex {vertex:,}, where episode {longest} ended")
    return Change(agent.solved, agent.solve_edges(wanted.rewards), names)


def _radii(run: Run, agent: Agent, episodes: Episodes | None) -> tuple[RadiusRow, ...]:
    """The sizes around the run's radius and the scores measured before; the run's own score too."""
    scored = known_radii(run, agent)
    own = agent.config.graph.radius
    scores = run.agent_folder(agent.seed) / "scores.json"
    if scores.exists() and own not in [row.radius for row in scored]:
        found, graph = read_json(scores), agent.built
        low, high = found["interval"]
        scored.append(RadiusRow(own, graph.n_vertices, graph.n_edges, found["score"], (low, high), found["n_episodes"]))
    sizes = size_by_radius(agent, episodes) if episodes is not None else []
    return (*(row for row in sizes if row.radius not in [each.radius for each in scored]), *scored)
