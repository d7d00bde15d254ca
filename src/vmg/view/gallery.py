"""Everything there is to see of a run, gathered once: what figures are drawn from and the report is written from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from vmg.act.plan import Plan
from vmg.agent.agent import Agent
from vmg.agent.card import scores_of
from vmg.base.console import progress_bar
from vmg.base.errors import VMGError
from vmg.base.types import Float64s
from vmg.data.episodes import Episodes
from vmg.envs import Task
from vmg.evaluation import EpisodeScore
from vmg.graph import EdgeRewards, reward
from vmg.runs.notes import episodes_of
from vmg.runs.run import Run
from vmg.view.change import Change, change_of
from vmg.view.charts import RadiusRow, read_losses
from vmg.view.episodes import Watched, watch
from vmg.view.layout import Layout, floor_of, floor_plan, lay_out
from vmg.view.radii import known_radii, size_by_radius

Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class Gallery:
    """What there is to see. Whatever a run has not come to yet is missing, and `missing` says in sentences why."""

    run: Run
    agent: Agent
    """The agent of the first seed: the one whose graph and episodes are drawn."""
    task: Task | None = None
    episodes: Episodes | None = None
    losses: dict[int, dict[str, Float64s]] = field(default_factory=dict)
    """The losses of each seed's model, by name."""
    scores: dict[str, Any] | None = None
    """The run's scores.json."""
    outcomes: dict[str, dict[int, list[EpisodeScore]]] = field(default_factory=dict)
    """Every episode of every method and model."""
    layouts: dict[str, Layout] = field(default_factory=dict)
    """"graph" in two dimensions and, for a maze, "floor"; none before the graph is solved."""
    episode: Watched | None = None
    """One episode, run again: a success if there was one."""
    failed: tuple[Watched, ...] = ()
    """Some of the failed episodes, run again."""
    change: Change | None = None
    radii: tuple[RadiusRow, ...] = ()
    missing: dict[str, str] = field(default_factory=dict)

    @property
    def layout(self) -> Layout:
        """The layout that shows most: the floor plan, where there is one."""
        return self.layouts.get("floor", self.layouts["graph"])

    @property
    def plan(self) -> Plan:
        """The plan whose values are drawn: that of the episode shown, or the agent's own."""
        return self.episode.plan if self.episode else self.agent.own_plan

    @cached_property
    def rewards(self) -> EdgeRewards | None:
        """The rewards of the edges, from the recorded rewards; None where the data is not at hand."""
        if self.episodes is None:
            return None
        return reward(self.agent.built, self.episodes, variant=self.agent.config.solve.variant)


def gather(run: Run, *, replays: int = 8, seed: int = 0) -> Gallery:
    """Load a run and compute what its pictures need; at most `replays` failed episodes are run again."""
    missing: dict[str, str] = {}
    agent, task = run.agent(run.seeds[0]), run.task_or_none()
    episodes = _or_missing(missing, "data", lambda: run.episodes()[0])
    losses = _or_missing(missing, "training", lambda: _losses(run)) or {}
    scores = run.scores()
    found = Gallery(run, agent, task, episodes, losses, scores, _outcomes(run, scores), missing=missing)
    if agent.graph is None or agent.routes is None:
        word, command = ("solved", "solve") if agent.graph else ("built", "build")
        missing["graph"] = f"The graph is not {word} yet: vmg {command} {run.folder}"
        return found
    shown, failed = _watched(agent, task, found.outcomes.get("VMG", {}).get(agent.seed, []), replays, missing)
    return replace(
        found,
        layouts=_layouts(agent, task, seed, missing),
        episode=shown,
        failed=failed,
        change=change_of(agent, task, episodes, shown),
        radii=_radii(run, agent, episodes),
    )


def _or_missing(missing: dict[str, str], name: str, find: Callable[[], Found]) -> Found | None:
    try:
        return find()
    except VMGError as error:
        missing[name] = str(error)
        return None


def _losses(run: Run) -> dict[int, dict[str, Float64s]]:
    found = {seed: read_losses(run.agent_folder(seed) / "metrics.csv") for seed in run.seeds}
    if len(kinds := {tuple(columns) for columns in found.values()}) > 1:
        raise VMGError(f"The tables metrics.csv of the agents in {run.folder} have {len(kinds)} kinds of columns.")
    return found


def _outcomes(run: Run, scores: dict[str, Any] | None) -> dict[str, dict[int, list[EpisodeScore]]]:
    """Read every episode that the run's scores speak of."""
    if scores is None:
        return {}
    return {
        method: {row["seed"]: episodes_of(run, scores["task"], method, row["seed"]) for row in rows}
        for method, rows in scores["scores"].items()
    }


def _layouts(agent: Agent, task: Task | None, seed: int, missing: dict[str, str]) -> dict[str, Layout]:
    graph = agent.built
    layouts = {"graph": lay_out(graph.features, seed=seed)}
    if task and (floor := _or_missing(missing, "floor", lambda: floor_of(task, graph))):
        layouts["floor"] = floor_plan(graph, floor)
    return layouts


def _watched(
    agent: Agent, task: Task | None, noted: Sequence[EpisodeScore], replays: int, missing: dict[str, str]
) -> tuple[Watched | None, tuple[Watched, ...]]:
    """Run again one good episode and some failed ones: the first of each kind, then others, spread over all of them."""
    if task is None or not noted:
        return None, ()
    best = max(noted, key=lambda episode: (bool(episode.success), episode.reward, -episode.steps))
    failures = [episode for episode in noted if episode.failed and episode != best]
    chosen = some_failures(failures, replays)
    watched: list[Watched] = []
    with progress_bar("Running episodes again", 1 + len(chosen)) as advance:
        for episode in [best, *chosen]:
            watched.append(watch(agent, task, episode.seed))
            advance(len(watched))
    different = [w.score.seed for w, e in zip(watched, [best, *chosen], strict=True) if not _same(w.score, e)]
    if different:
        missing["replay"] = (
            f"Run again, the episodes with the seeds {', '.join(map(str, different))} went another way than when they "
            "were scored: other library versions or another machine."
        )
    return watched[0], tuple(watched[1:])


def some_failures(failures: Sequence[EpisodeScore], n: int) -> list[EpisodeScore]:
    """Choose at most `n` of the failed episodes: the first of each kind, then others, spread over all of them."""
    first_of = {episode.failure: episode for episode in reversed(failures)}
    firsts = sorted(first_of.values(), key=failures.index)
    spread = [failures[i] for i in np.unique(np.linspace(0, len(failures) - 1, n).astype(int))] if failures else []
    return [*firsts, *(episode for episode in spread if episode not in firsts)][:n]


def _same(again: EpisodeScore, noted: EpisodeScore) -> bool:
    """Whether an episode went as it was noted; a note of an older version does not tell everything."""
    return (again.steps, again.reward, again.ended) == (noted.steps, noted.reward, noted.ended)


def _radii(run: Run, agent: Agent, episodes: Episodes | None) -> tuple[RadiusRow, ...]:
    """The sizes around the run's radius and the scores measured before; the run's own score too."""
    scored = known_radii(run, agent)
    own = agent.config.graph.radius
    found, graph = scores_of(run.agent_folder(agent.seed)), agent.built
    if found and own not in [row.radius for row in scored]:
        low, high = found["interval"]
        scored.append(RadiusRow(own, graph.n_vertices, graph.n_edges, found["score"], (low, high), found["n_episodes"]))
    sizes = size_by_radius(agent, episodes) if episodes is not None else []
    return (*(row for row in sizes if row.radius not in [each.radius for each in scored]), *scored)
