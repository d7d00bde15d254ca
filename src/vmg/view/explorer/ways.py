"""Asking: from here to there. The way on the graph, what it is stitched from, and what is missing if there is none."""

import time
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from vmg.act.body import NeedsEpisodesError
from vmg.act.conjunction import ConjunctionPlan
from vmg.act.explanation import Explanation
from vmg.act.plan import Plan
from vmg.act.sequence import SequencePlan
from vmg.base.errors import VMGError
from vmg.base.types import Float32s
from vmg.graph import Piece, reachable_from
from vmg.graph.nearest import VertexIndex
from vmg.graph.routes.base import without_repeats
from vmg.runs.remarks import pays_nothing
from vmg.view.explorer.graphs import Explored
from vmg.view.explorer.plans import Planned
from vmg.view.explorer.problems import ImpossibleError, UnknownError

FROM = 'Say from where: {"vertex": 12}, {"episode": 3, "step": 40}, {"start": 0} or {"state": [numbers]}.'


def way(planned: Planned, state: Float32s, label: str) -> dict[str, Any]:
    """Say how what is wanted can be done from a state."""
    begun, shown = time.perf_counter(), planned.shown
    plan = planned.plan.starting_at(state) if isinstance(planned.plan, ConjunctionPlan) else planned.plan
    explanations = _explained(plan, state)
    stages = [_stage(shown, *each) for each in zip(plan.stages, explanations, strict=False)]
    possible = all(stage["possible"] for stage in stages)
    if isinstance(plan, ConjunctionPlan):
        possible = plan.ordering.leads_to_all(state) or bool(plan.objective.reached(state[None])[0])
    first = explanations[0] if explanations else None
    return {
        "plan": planned.name,
        "possible": possible,
        "said": plan.in_words() if isinstance(plan, ConjunctionPlan) else " ".join(each["said"] for each in stages),
        "from": _from(shown, state, first, label),
        "stages": stages,
        "path": without_repeats([vertex for stage in stages for vertex in stage["path"]]),
        "steps": sum(stage["steps"] for stage in stages),
        "milliseconds": 1000 * (time.perf_counter() - begun),
        "code": {**planned.code, "python": f"{planned.code['python']}print(plan.explain({_numbers(state)}))\n"},
    }


def _explained(plan: Plan | SequencePlan | ConjunctionPlan, state: Float32s) -> list[Explanation]:
    try:
        found = plan.explain(state)
    except NeedsEpisodesError as error:
        raise ImpossibleError(str(error)) from error
    return found if isinstance(found, list) else [found]


def _from(shown: Explored, state: Float32s, first: Explanation | None, label: str) -> dict[str, Any]:
    if first is None:
        vertices, distances = shown.nearest(state[None])
        off = bool(distances[0] > shown.graph.radius)
        return {"vertex": int(vertices[0]), "distance": float(distances[0]), "off_graph": off, "label": label}
    return {"vertex": first.vertex, "distance": first.distance, "off_graph": first.off_graph, "label": label}


def _stage(shown: Explored, plan: Plan, found: Explanation) -> dict[str, Any]:
    idle = pays_nothing(plan)
    if idle:  # any way is as good: none is shown
        found = replace(found, possible=False, path=found.path[:1], pieces=(), steps=0.0)
    return {
        "name": plan.objective.name,
        "possible": found.possible,
        "reached": found.reached,
        "said": plan.in_words() if idle else found.in_words(),
        "path": list(found.path),
        "steps": found.steps,
        "pieces": [_piece(shown, piece) for piece in found.pieces],
        "edges": [_edge(shown, *hop) for hop in pairwise(found.path)],
        "nearest": _nearest(shown, plan, found),
        "detour": found.detour,
        "inside": found.inside,
    }


def _piece(shown: Explored, piece: Piece) -> dict[str, Any]:
    vertices: list[int] = []
    if piece.episode is not None:
        first = int(shown.firsts[piece.episode])
        vertices = without_repeats(shown.graph.labels[first + piece.first : first + piece.last + 2].tolist())
    return {
        "episode": piece.episode, "first": piece.first, "last": piece.last, "kind": piece.kind, "vertices": vertices
    }  # fmt: skip


def _edge(shown: Explored, tail: int, head: int) -> dict[str, Any]:
    edge = shown.graph.edge(shown.graph.edge_number(tail, head))
    return {"tail": tail, "head": head, "count": edge.evidence, "steps": edge.steps, "kind": edge.kind}


def _nearest(shown: Explored, plan: Plan, found: Explanation) -> dict[str, Any] | None:
    """What comes nearest of all that can be reached from here: as the goal measures it, or else in the metric space."""
    if found.possible or not plan.has_goal:
        return None
    if found.nearest:
        row = int(shown.firsts[found.nearest.episode]) + found.nearest.step
        vertex = int(shown.graph.labels[row])
        return {"vertex": vertex, "distance": found.nearest.distance} | {
            "episode": found.nearest.episode, "step": found.nearest.step
        }  # fmt: skip
    goals = np.flatnonzero(plan.goal_vertices)
    reached = np.flatnonzero(reachable_from(plan.graph, found.vertex))
    features = shown.graph.features
    closest = goals[VertexIndex(features[goals]).nearest(features[reached])]
    gaps = np.linalg.norm(features[reached] - features[closest], axis=1)
    return {"vertex": int(reached[np.argmin(gaps)]), "distance": float(gaps.min()), "episode": None, "step": None}


def _numbers(state: Float32s) -> str:
    return f"[{', '.join(repr(float(x)) for x in state)}]"


def state_from(shown: Explored, place: Any) -> tuple[Float32s, str]:
    """Return the state that a place names, and what it is in words; a start of the environment is made elsewhere."""
    if not isinstance(place, dict):
        raise VMGError(FROM)
    if "vertex" in place:
        vertex = shown.checked(_whole(place["vertex"]))
        return shown.graph.states[vertex], f"vertex {vertex}"
    if "episode" in place:
        episode, step = shown.checked_episode(_whole(place["episode"])), _whole(place.get("step", 0))
        if step > shown.graph.lengths[episode]:
            raise UnknownError(f"Episode {episode} has the steps 0 to {shown.graph.lengths[episode]}, not {step}.")
        return shown.recorded_state(int(shown.firsts[episode]) + step), f"episode {episode}, step {step}"
    if "state" in place:
        try:
            return np.asarray(place["state"], np.float32), "the state given"
        except (TypeError, ValueError, OverflowError) as error:
            raise VMGError(f"A state is a list of numbers: {error}.") from error
    raise VMGError(FROM)


def start_of(shown: Explored, seed: int) -> tuple[Float32s, str]:
    """Return the state in which the episode of a seed starts in the environment."""
    task = shown.task
    if task is None:
        raise ImpossibleError(f"There is no environment here to start in. {shown.why_no_task}")
    with closing(task.make()) as env:
        seen, _ = env.reset(seed=seed, options=dict(task.begin(seed)) if task.begin else None)
        return task.state_of(seen), f"a start of {task.name} (seed {seed})"


def _whole(number: Any) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 2**31:
        raise VMGError(f"{FROM} Vertices, episodes, steps and seeds are whole numbers from 0 on.")
    return number
