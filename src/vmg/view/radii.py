"""What the radius does: the graph built, and if asked scored, at several radii. Nothing is trained again."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from vmg.agent.agent import Agent
from vmg.base.console import progress_bar
from vmg.base.files import write_json
from vmg.base.settings import read_entries, read_record
from vmg.data.episodes import Episodes
from vmg.evaluation import evaluate
from vmg.runs.run import Run, alone
from vmg.view.charts import RadiusRow

AROUND = (0.5, 0.7, 1.0, 1.4, 2.0)
"""Radii to look at, as multiples of the run's own."""
FILE = "radii.json"


def size_by_radius(agent: Agent, episodes: Episodes) -> list[RadiusRow]:
    """Build the graph at radii around the agent's own, and say how large it is."""
    rows = []
    with progress_bar("Building the graph at other radii", len(AROUND)) as advance:
        for times in AROUND:
            graph = _rebuilt(agent, episodes, times * agent.config.graph.radius).built
            rows.append(RadiusRow(graph.radius, graph.n_vertices, graph.n_edges))
            advance(len(rows))
    return rows


@alone
def score_by_radius(
    run: Run, agent: Agent, episodes: Episodes, radii: Sequence[float], *, n_episodes: int, workers: int | None = None
) -> list[RadiusRow]:
    """Build, solve and score at each radius, and keep the rows in the run's radii.json."""
    task, rows = run.find_task(), known_radii(run, agent)
    for radius in radii:
        other = _rebuilt(agent, episodes, radius).solve()
        title = f"radius {radius:g}"
        scores = evaluate(other.policy(), task, n_episodes=n_episodes, workers=workers, title=title)
        row = RadiusRow(
            radius, other.built.n_vertices, other.built.n_edges, scores.score, scores.interval, len(scores.episodes)
        )
        rows = [*(each for each in rows if each.radius != radius), row]
        write_json(run.folder / FILE, {"config": _but_the_radius(agent), "rows": [each.to_dict() for each in rows]})
    return rows


def known_radii(run: Run, agent: Agent) -> list[RadiusRow]:
    """Return the rows measured before with these settings."""
    path = run.folder / FILE
    content = read_entries(path, {"config": Mapping, "rows": tuple[Mapping[str, Any], ...]}) if path.exists() else {}
    if content.get("config") != _but_the_radius(agent):
        return []
    return [read_record(RadiusRow, row, place=str(path)) for row in content["rows"]]


def _rebuilt(agent: Agent, episodes: Episodes, radius: float) -> Agent:
    config = replace(agent.config, graph=replace(agent.config.graph, radius=radius))
    return replace(agent, config=config).build(episodes)


def _but_the_radius(agent: Agent) -> dict[str, Any]:
    config: dict[str, Any] = json.loads(json.dumps(agent.config.to_dict()))  # as it comes back from the file
    config["graph"].pop("radius")
    return {"seed": agent.seed, **config}
