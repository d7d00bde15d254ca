"""Tables and plain values for runs, agents and scores: what `vmg info`, `evaluate` and `demo` print."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from vmg.act.evaluation import Scores
from vmg.agent import Agent
from vmg.errors import VMGError
from vmg.files import read_json
from vmg.graph import summarise
from vmg.runs import load_run
from vmg.statistics import bootstrap_interval


def scores_table(found: Mapping[str, Sequence[Scores]]) -> Table:
    """One row a method: the mean over its models, an interval over models and episodes, how episodes ended."""
    first = next(iter(found.values()))[0]
    models = len(next(iter(found.values())))
    table = Table(
        title=f"{first.task}: {models} model{'s' * (models > 1)}, {len(first.episodes)} episodes each, last checkpoint",
        caption=first.protocol,
        title_justify="left",
        caption_justify="left",
    )
    for name in ("method", "score", "95 % interval", "success %", "mean steps", "how episodes ended"):
        table.add_column(name, justify="left" if name in ("method", "how episodes ended") else "right")
    for method, scores in found.items():
        table.add_row(method, *_row(scores))
    return table


def run_table(folder: Path) -> tuple[dict[str, Any], Table]:
    """Describe a run: its data, settings, agents and last scores."""
    run = load_run(folder)
    agents = [_agent_facts(Agent.load(run.agent_folder(seed))) for seed in run.seeds if run.agent_folder(seed).exists()]
    scores = read_json(folder / "scores.json") if (folder / "scores.json").exists() else None
    content: dict[str, Any] = {
        "data": run.data,
        "task": run.task,
        "seeds": list(run.seeds),
        "config": run.config.to_dict(),
    }
    content |= {"agents": agents, "scores": scores}
    table = _table(f"Run {folder}")
    table.add_row("data", run.data)
    table.add_row("seeds", ", ".join(map(str, run.seeds)))
    table.add_row("training", f"{run.config.learn.steps:,} steps; {len(agents)} of {len(run.seeds)} agents saved")
    for seed, facts in zip(run.seeds, agents, strict=False):
        table.add_row(f"agent {seed}", _graph_words(facts))
    for method, rows in scores["scores"].items() if scores else ():
        mean = np.mean([row["score"] for row in rows])
        table.add_row(f"score, {method}", f"{mean:.1f} ({rows[0]['n_episodes']} episodes a model)")
    return content, table


def agent_table(folder: Path) -> tuple[dict[str, Any], Table]:
    """Describe one agent: its data, settings and graph."""
    if not folder.exists():
        raise VMGError(f"{folder} does not exist. Give the folder of a run or of an agent.")
    agent = Agent.load(folder)
    facts = _agent_facts(agent)
    table = _table(f"Agent {folder}")
    table.add_row("data", f"{agent.data.source}: {agent.data.episodes:,} episodes, {agent.data.steps:,} steps")
    table.add_row("state, action", f"{agent.data.observation_size} and {agent.data.action_size} numbers")
    table.add_row("graph", _graph_words(facts))
    for stage, values in agent.config.to_dict().items():
        table.add_row(stage, ", ".join(f"{name} {value}" for name, value in (values or {}).items()) or "–")
    return {"seed": agent.seed, **facts, "config": agent.config.to_dict()}, table


def _row(scores: Sequence[Scores]) -> list[str]:
    low, high = bootstrap_interval([each.normalised for each in scores])
    success = [each.success_rate for each in scores if each.success_rate is not None]
    endings: dict[str, int] = {}
    for each in scores:
        for how, count in each.endings.items():
            endings[how] = endings.get(how, 0) + count
    return [
        f"{np.mean([each.score for each in scores]):.1f}",
        f"{low:.1f} – {high:.1f}",
        f"{np.mean(success):.0f}" if success else "–",
        f"{np.mean([e.steps for each in scores for e in each.episodes]):.0f}",
        ", ".join(f"{count} {how}" for how, count in endings.items()),
    ]


def _agent_facts(agent: Agent) -> dict[str, Any]:
    graph = summarise(agent.graph).to_dict() if agent.graph else None
    return {"data": agent.data.source, "graph": graph, "solved": agent.solution is not None}


def _graph_words(facts: Mapping[str, Any]) -> str:
    graph = facts["graph"]
    if graph is None:
        return "no graph yet"
    steps = graph["steps_per_edge"]
    return (
        f"{graph['vertices']:,} vertices, {graph['edges']:,} edges, {graph['components']:,} components, "
        f"{graph['dead_ends']:,} dead ends, {'inf' if steps is None else f'{steps:.1f}'} steps an edge; "
        f"{'solved' if facts['solved'] else 'not solved'}"
    )


def _table(title: str) -> Table:
    table = Table(title=title, show_header=False, title_justify="left")
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    return table
