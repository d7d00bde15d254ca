"""What the page wants, in JSON, as a request in the words of `vmg retask`: one meaning, however it is asked for."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from vmg.base.errors import VMGError
from vmg.goals.vertices import vertices_in_words
from vmg.runs.requests import EDGES, RECORDED, Request, check

JOINS = ("in order", "any", "all")
MOST = 64
"""Goals, regions or rewards that one want may name."""
LONGEST = 1000
"""Letters of a goal in words."""
_KEYS = {"recorded", "goals", "join", "before", "stay", "tolerance", "rewards", "avoid", "without_edges"}


def request_of(want: Any, seed: int) -> Request:
    """Return what is wanted of the agent of a seed; nothing is tried."""
    named = _object(want, "What is wanted", _KEYS)
    if sum(bool(named.get(key)) for key in ("recorded", "goals", "rewards")) != 1:
        raise VMGError('Say one thing that is wanted: {"recorded": true}, {"goals": [...]} or {"rewards": [...]}.')
    avoid = [_goal(each) for each in _list(named, "avoid")]
    if named.get("without_edges"):
        avoid.append(_edges(_list(named, "without_edges")))
    shared: dict[str, Any] = {"avoid": tuple(avoid), "agents": (seed,), "n_episodes": 0}
    if named.get("goals"):
        request = Request(**_wanted_goals(named), **shared)
    elif named.get("recorded"):
        request = Request(reward=RECORDED, **shared)
    else:
        request = Request(reward=_pay(_list(named, "rewards")), **shared)
    check(request)
    return request


def _wanted_goals(named: Mapping[str, Any]) -> dict[str, Any]:
    goals, join = _list(named, "goals"), named.get("join", JOINS[0])
    if join not in JOINS:
        raise VMGError(f'"join" must be one of {", ".join(JOINS)}; not {join!r}.')
    kind = "stay" if named.get("stay") else None
    skills = [each["skill"] for each in goals if isinstance(each, Mapping) and "skill" in each]
    if skills:
        if len(skills) < len(goals) or not all(isinstance(name, str) for name in skills):
            raise VMGError("Skills are wanted by themselves, each by its name: not together with other goals.")
        return {"skill": tuple(skills), "kind": kind}
    several = len(goals) > 1
    return {
        "goal": tuple(map(_goal, goals)),
        "any_goal": several and join == "any",
        "all_goals": several and join == "all",
        "before": tuple(map(_before, _list(named, "before"))) if several and join == "all" else (),
        "tolerance": _number(named["tolerance"], "tolerance") if named.get("tolerance") is not None else None,
        "kind": kind,
    }


def _goal(goal: Any) -> str:
    named = _object(goal, "A goal", {"vertices", "text"})
    if "vertices" in named:
        return vertices_in_words(_vertices(named["vertices"]))
    text = named.get("text")
    if not isinstance(text, str) or not 0 < len(text) <= LONGEST:
        raise VMGError('A goal is {"vertices": [1, 2]} or {"text": "position=1,1"}.')
    return text


def _pay(rewards: Sequence[Any]) -> str:
    parts = []
    for each in rewards:
        named = _object(each, "A reward", {"vertices", "weight"})
        weight = _number(named.get("weight"), "weight")
        parts.append(vertices_in_words(_vertices(named.get("vertices")), f":{weight:g}"))
    first, *others = parts
    return ",".join([first, *(part.partition("=")[2] for part in others)])


def _edges(edges: Sequence[Any]) -> str:
    pairs = [_vertices(edge) for edge in edges]
    if any(len(pair) != 2 for pair in pairs):
        raise VMGError('"without_edges" has pairs of vertices, the tail and the head of each edge.')
    return EDGES + ",".join(f"{tail}-{head}" for tail, head in pairs)


def _before(pair: Any) -> str:
    places = _vertices(pair)
    if len(places) != 2:
        raise VMGError('"before" has pairs of places in "goals", counted from 0: [[0, 1]].')
    return f"{places[0] + 1},{places[1] + 1}"


def _vertices(numbers: Any) -> list[int]:
    try:
        found = np.asarray(numbers if isinstance(numbers, list) else None)
        whole = found.ndim == 1 and found.dtype.kind == "i" and found.size > 0 and bool((found >= 0).all())
    except (ValueError, OverflowError):
        whole = False
    if not whole:
        raise VMGError("Vertices are a list of whole numbers, at least one.")
    listed: list[int] = found.tolist()
    return listed


def _number(number: Any, name: str) -> float:
    if isinstance(number, bool) or not isinstance(number, int | float) or not np.isfinite(number):
        raise VMGError(f'"{name}" must be a number, not {number!r}.')
    return float(number)


def _list(named: Mapping[str, Any], name: str) -> list[Any]:
    found = named.get(name) or []
    most = MOST if name != "without_edges" else 100 * MOST
    if not isinstance(found, list) or len(found) > most:
        raise VMGError(f'"{name}" must be a list of at most {most}.')
    return found


def _object(given: Any, what: str, known: set[str]) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise VMGError(f"{what} is a JSON object, not {given!r:.60}.")
    if unknown := sorted(set(given) - known):
        raise VMGError(f"{what} knows {', '.join(sorted(known))}; not {unknown[0]!r:.60}.")
    return given
