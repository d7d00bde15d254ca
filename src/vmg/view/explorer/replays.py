"""Episodes to look at again: recorded ones as they are in the data, evaluated ones run again from their seeds."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from vmg.base.types import Float64s, Int32s
from vmg.data.counting import counted
from vmg.envs import Task
from vmg.evaluation import EpisodeScore
from vmg.runs.notes import episodes_of
from vmg.view.episodes import Watched
from vmg.view.explorer.code import Code, evaluated_code
from vmg.view.explorer.frames import framed
from vmg.view.explorer.graphs import Explored
from vmg.view.explorer.marks import recorded_marks, watched_marks
from vmg.view.explorer.problems import ImpossibleError, UnknownError
from vmg.view.failures import diagnose

MOST = 1000
"""Episodes in one answer."""


def listed(shown: Explored, kind: str, offset: int, limit: int) -> dict[str, Any]:
    """List recorded or evaluated episodes."""
    if kind == "recorded":
        return _list_recorded(shown, offset, limit)
    if kind != "evaluated":
        raise UnknownError(f"Episodes are recorded or evaluated, not {kind!r}.")
    found = evaluated(shown)
    return {"total": len(found), "episodes": [_score(each) for each in found[offset : offset + limit]]}


def _list_recorded(shown: Explored, offset: int, limit: int) -> dict[str, Any]:
    lengths = shown.graph.lengths
    returns = shown.episodes.returns if shown.episodes is not None else np.full(len(lengths), np.nan)
    numbers = range(len(lengths))[offset : offset + limit]
    episodes = [{"episode": i, "steps": int(lengths[i]), "return": float(returns[i])} for i in numbers]
    return {"total": len(lengths), "episodes": episodes}


def evaluated(shown: Explored) -> Sequence[EpisodeScore]:
    """Return the episodes of the run's last evaluation of this agent."""
    return episodes_of(shown.run, shown.task.name, "VMG", shown.seed) if shown.task else []


def recorded(shown: Explored, episode: int) -> bytes:
    """Return a recorded episode: its vertices, rewards and, on a floor, places."""
    first, steps = int(shown.firsts[episode]), int(shown.graph.lengths[episode])
    vertices = shown.graph.labels[first : first + steps + 1]
    begun = int(shown.graph.lengths[:episode].sum())
    rewards = shown.episodes.rewards[begun : begun + steps] if shown.episodes is not None else None
    places = _recorded_places(shown, first, steps)
    facts = {
        "episode": episode,
        "steps": steps,
        "return": None if rewards is None else float(rewards.sum()),
        "marks": recorded_marks(vertices, rewards),
        "code": _recorded_code(shown, episode),
    }
    return framed(facts, {"vertices": vertices, "rewards": np.zeros(0) if rewards is None else rewards, **places})


def _recorded_places(shown: Explored, first: int, steps: int) -> dict[str, Float64s]:
    if shown.floor is None:
        return {"x": np.zeros(0), "y": np.zeros(0)}
    rows = range(first, first + steps + 1)
    at = np.array([shown.recorded_state(row)[list(shown.floor.columns)] for row in rows], np.float64)
    return {"x": at[:, 0], "y": at[:, 1]}


def _recorded_code(shown: Explored, episode: int) -> Code:
    """The vertices that an episode passed, in Python; no command prints them."""
    lines = [
        "import vmg",
        "",
        f"graph = vmg.Agent.load({str(shown.run.agent_folder(shown.seed))!r}).built",
        f"first = int((graph.lengths[:{episode}] + 1).sum())",
        f"vertices = graph.labels[first : first + int(graph.lengths[{episode}]) + 1]",
        "print(vertices)",
    ]
    return {"python": "\n".join(lines) + "\n", "command": None}


def playable(shown: Explored) -> Task:
    """Return the task to play in, or say why there is none."""
    if shown.task is None:
        raise ImpossibleError(f"There is no simulator to play in. {shown.why_no_task}")
    return shown.task


def replayed(shown: Explored, episode: Watched) -> bytes:
    """Return an episode that was run again, with what was decided at each step."""
    facts = {
        **_score(episode.score),
        "marks": watched_marks(episode),
        "said": said_of(shown, episode),
        "goal": episode.goal,
        "path": list(episode.decisions[0].path),
        "code": evaluated_code(shown, episode.score.seed),
    }
    return framed(facts, _arrays(shown, episode))


def said_of(shown: Explored, episode: Watched) -> str:
    """Say how an episode ended and, if it failed, why."""
    score = episode.score
    if score.success:
        return f"Done after {counted(score.steps, 'step')}."
    found = diagnose(episode, shown.task.goal if shown.task and episode.goal is not None else None)
    return f"{score.ended.capitalize()} after {counted(score.steps, 'step')}. {found.why}"


def _arrays(shown: Explored, episode: Watched) -> dict[str, np.ndarray]:
    decisions, columns = episode.decisions, list(shown.floor.columns) if shown.floor else []
    places = episode.states[:, columns] if columns else np.zeros((0, 2), np.float32)
    return {
        "vertices": episode.vertices,
        "subgoals": _of(decisions, "subgoal"),
        "targets": _of(decisions, "target"),
        "distances": np.array([decision.distance for decision in decisions]),
        "rewards": np.array(episode.rewards),
        "x": places[:, 0],
        "y": places[:, 1],
    }


def _of(decisions: Sequence[Any], name: str) -> Int32s:
    return np.array([getattr(decision, name) for decision in decisions], np.int32)


def _score(score: EpisodeScore) -> dict[str, Any]:
    return {
        "method": "VMG",
        "seed": score.seed,
        "steps": score.steps,
        "return": score.reward,
        "success": score.success,
        "ended": score.ended,
    }
