"""One vertex: its state, what leads in and out, the episodes through it, its value and the way that makes it so."""

from typing import Any

import numpy as np

from vmg.base.types import Int64s
from vmg.data.counting import counted
from vmg.view.explorer.graphs import Explored
from vmg.view.explorer.plans import Planned
from vmg.view.explorer.steps import steps_to_end

MOST = 50
"""Edges and episodes that are listed."""


def vertex_facts(shown: Explored, vertex: int, planned: Planned | None) -> dict[str, Any]:
    """Return what is known of a vertex; its value and its way where there is a plan."""
    graph, names = shown.graph, shown.columns
    state = [
        {"column": i, "name": name, "value": float(number)}
        for i, (name, number) in enumerate(zip(names, graph.states[vertex], strict=True))
    ]
    first, members = graph.members
    rows = members[first[vertex] : first[vertex + 1]]
    episodes = _episodes(shown, rows)
    row = int(graph.rows[vertex])
    episode = int(np.searchsorted(shown.firsts, row, side="right")) - 1
    return {
        "vertex": vertex,
        "state": state,
        "made_in": {"episode": episode, "step": row - int(shown.firsts[episode])},
        "visits": len(rows),
        "episodes": episodes[:MOST],
        "episode_count": len(episodes),
        **_edges(shown, vertex, planned),
        **(_way(planned, vertex) if planned else {}),
    }


def _episodes(shown: Explored, rows: Int64s) -> list[dict[str, int]]:
    """The episodes through a vertex, each with its first visit."""
    episodes = np.searchsorted(shown.firsts, rows, side="right") - 1
    numbers, places, visits = np.unique(episodes, return_index=True, return_counts=True)
    steps = rows[places] - shown.firsts[numbers]
    return [
        {"episode": int(number), "first": int(step), "visits": int(count)}
        for number, step, count in zip(numbers, steps, visits, strict=True)
    ]


def _edges(shown: Explored, vertex: int, planned: Planned | None) -> dict[str, Any]:
    """What leads in and out, the most recorded first."""
    graph = shown.graph
    first_in, edges_in = graph.incoming
    into = edges_in[first_in[vertex] : first_in[vertex + 1]]
    out = np.arange(graph.first_edge[vertex], graph.first_edge[vertex + 1])
    return {
        "into": [_edge(shown, int(edge), "tail", planned) for edge in _by_count(graph.counts[into], into)],
        "into_count": len(into),
        "out": [_edge(shown, int(edge), "head", planned) for edge in _by_count(graph.counts[out], out)],
        "out_count": len(out),
    }


def _by_count(counts: np.ndarray, edges: Int64s) -> Int64s:
    chosen: Int64s = edges[np.argsort(-counts, kind="stable")[:MOST]]
    return chosen


def _edge(shown: Explored, number: int, end: str, planned: Planned | None) -> dict[str, Any]:
    edge = shown.graph.edge(number)
    vertex = edge.tail if end == "tail" else edge.head
    value = float(planned.stages[0].values[vertex]) if planned and planned.stages else None
    return {"vertex": vertex, "count": edge.evidence, "steps": edge.steps, "kind": edge.kind, "value": value}


def _way(planned: Planned, vertex: int) -> dict[str, Any]:
    """The value of a vertex, and the steps that make it so."""
    if not planned.stages:
        return {}
    plan = planned.stages[0]
    path, value = plan.routes.path(vertex), float(plan.values[vertex])
    steps = float(steps_to_end(plan)[vertex])
    target = path[-1]
    if plan.has_goal and not np.isfinite(steps):
        why = f"No recorded way leads from here to {plan.objective.name}."
    elif len(path) == 1:
        why = "It is its own target: nothing better can be reached from here."
    else:
        why = (
            f"It is worth {value:.3g} because vertex {target}, worth {float(plan.values[target]):.3g}, can be reached "
            f"from here over {counted(len(path) - 1, 'edge')}, in about {counted(round(steps), 'step')}."
        )
    return {"value": value, "steps": steps, "path": path, "target": target, "why": why}
