"""Tables and plain values for runs, agents and scores: what `vmg info`, `evaluate` and `demo` print."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.table import Table

from vmg.agent.agent import Agent
from vmg.agent.settings import AgentConfig
from vmg.base.errors import VMGError
from vmg.data.counting import counted
from vmg.evaluation.scores import Scores, Summary, in_words
from vmg.graph import summarise
from vmg.runs.run import load_run


def scores_table(found: Mapping[str, Sequence[Scores]]) -> Table:
    """One row per method: the mean over its models, an interval over models and episodes, how episodes ended."""
    models = next(iter(found.values()))
    first, n = models[0], len(models)
    table = Table(
        title=f"{first.task}: {counted(n, 'model')}, {counted(len(first.episodes), 'episode')} each, last checkpoint",
        caption=first.protocol,
        title_justify="left",
        caption_justify="left",
    )
    numbers = ("score", "95 % interval", "success %", "mean steps", "steps / planned", "off graph %")
    for name in ("method", *numbers, "how episodes ended"):
        table.add_column(name, justify="left" if name in ("method", "how episodes ended") else "right")
    for method, scores in found.items():
        table.add_row(method, *_score_cells(Summary.of(scores)))
    return table


def run_table(folder: Path) -> tuple[dict[str, Any], Table]:
    """Describe a run: its data, settings, agents and last scores."""
    run = load_run(folder)
    agents = {seed: _agent(run.agent(seed)) for seed in run.seeds if (run.agent_folder(seed) / "config.json").exists()}
    scores = run.scores()
    measured = scores or {"scores": {}}
    table = _table(f"Run {folder}")
    table.add_row("data", run.data)
    for each in run.added:
        table.add_row("added", f"{each.source}: {counted(each.episodes, 'episode')}, {counted(each.steps, 'step')}")
    table.add_row("seeds", ", ".join(map(str, run.seeds)))
    table.add_row(
        "training", f"{counted(run.config.learn.steps, 'step')}; {len(agents)} of {len(run.seeds)} agents saved"
    )
    for seed, (_, words) in agents.items():
        table.add_row(f"agent {seed}", words)
    for method, models in measured["scores"].items():
        score, n_episodes = measured["summary"][method]["score"], models[0]["n_episodes"]
        table.add_row(f"score, {method}", f"{score:.1f} ({counted(n_episodes, 'episode')} per model)")
    content = {"data": run.data, "task": run.task, "seeds": list(run.seeds), "config": run.config.to_dict()}
    added = [asdict(each) for each in run.added]
    return {**content, "added": added, "agents": [facts for facts, _ in agents.values()], "scores": scores}, table


def agent_table(folder: Path) -> tuple[dict[str, Any], Table]:
    """Describe one agent: its data, settings and graph."""
    if not os.path.exists(folder):  # not a name that is too long either
        raise VMGError(f"{folder} does not exist. Give the folder of a run or of an agent.")
    agent = Agent.load(folder)
    facts, words = _agent(agent)
    table = _table(f"Agent {folder}")
    table.add_row(
        "data", f"{agent.data.source}: {counted(agent.data.episodes, 'episode')}, {counted(agent.data.steps, 'step')}"
    )
    table.add_row("state, action", f"{agent.data.observation_size} and {counted(agent.data.action_size, 'number')}")
    table.add_row("graph", words)
    for stage in agent.config.to_dict():
        settings = [f"{name} {value}" for of, name, value in settings_rows(agent.config) if of == stage]
        table.add_row(stage, ", ".join(settings))
    return {"seed": agent.seed, **facts, "config": agent.config.to_dict()}, table


def settings_rows(config: AgentConfig) -> list[tuple[str, str, str]]:
    """Return every setting as (stage, name, value); names of settings within settings have a dot."""
    return [(stage, *each) for stage, values in config.to_dict().items() for each in _named(values)]


def _named(values: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for name, value in values.items():
        inner = isinstance(value, Mapping)
        found += _named(value, f"{prefix}{name}.") if inner else [(f"{prefix}{name}", _in_words(value))]
    return found


def _in_words(value: Any) -> str:
    return " ".join(map(str, value)) or "none" if isinstance(value, tuple) else str(value)


def _score_cells(summary: Summary) -> list[str]:
    low, high = summary.interval
    return [
        f"{summary.score:.1f}",
        f"{low:.1f} – {high:.1f}",
        _or_dash(summary.success_rate, ".0f"),
        f"{summary.mean_steps:.0f}",
        _or_dash(summary.pace, ".2f"),
        _or_dash(None if summary.off_graph is None else 100 * summary.off_graph, ".1f"),
        in_words(summary.endings, summary.failures),
    ]


def _or_dash(number: float | None, form: str) -> str:
    return "–" if number is None else f"{number:{form}}"


def _agent(agent: Agent) -> tuple[dict[str, Any], str]:
    """Return the facts about an agent, and its graph in words."""
    solved = agent.routes is not None
    facts = {"data": agent.data.source, "graph": None, "solved": solved}
    if agent.graph is None:
        return facts, "no graph yet"
    summary = summarise(agent.graph)
    return facts | {"graph": summary.to_dict()}, f"{summary.in_words}; {'solved' if solved else 'not solved'}"


def _table(title: str) -> Table:
    table = Table(title=title, show_header=False, title_justify="left")
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    return table
