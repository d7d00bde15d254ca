"""Moments of an episode that are worth a look: where it left its way, fell, stood still, was lost, arrived."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from vmg.base.types import Bools, Float64s, Int32s
from vmg.data.counting import counted
from vmg.view.episodes import Watched

Mark = dict[str, Any]

LOST = 3
"""Steps in a row off the graph from which on an episode counts as lost."""
STILL = 20
"""Steps in a row in one vertex from which on it counts as standing still."""
APART = 10
"""Marks of one kind lie at least so many steps apart."""
LONGER = 3
"""Edges by which the way must have become longer for an episode to have left it."""
MOST = 200


def watched_marks(episode: Watched) -> list[Mark]:
    """Mark an episode that was watched."""
    off = np.array([decision.off_graph for decision in episode.decisions], bool)
    found = [
        *still_marks(episode.vertices),
        *_off_marks(off, episode.plan.graph.radius),
        *_left_marks(episode),
        *_lost_ground(episode.values, failed=not episode.score.success),
        *(_mark(step, f"done: {name}", f"{name} is done.") for name, step in episode.subtasks),
        *_end_mark(episode),
    ]
    return in_order(found)


def recorded_marks(vertices: Int32s, rewards: Float64s | None) -> list[Mark]:
    """Mark a recorded episode."""
    found = list(still_marks(vertices))
    if rewards is not None and np.count_nonzero(rewards):
        paid = np.flatnonzero(np.diff(rewards, prepend=0.0) > 0)
        found += [_mark(int(step) + 1, "rewarded", f"This step was paid {rewards[step]:.3g}.") for step in _apart(paid)]
    return in_order(found)


def in_order(marks: Sequence[Mark]) -> list[Mark]:
    """Return marks by their step, not too many."""
    return sorted(marks, key=lambda mark: int(mark["step"]))[:MOST]


def still_marks(vertices: Int32s) -> Iterator[Mark]:
    """Mark where an episode stayed in one vertex for long."""
    for first, last in _stretches(np.diff(vertices) == 0):
        if last - first >= STILL:
            said = f"It stood still: {counted(last - first, 'step')} in vertex {int(vertices[first]):,}."
            yield _mark(first, "stood still", said)


def _off_marks(off: Bools, radius: float) -> Iterator[Mark]:
    for first, last in _stretches(off):
        if last - first >= LOST:
            lasting = counted(last - first, "step")
            said = f"For {lasting} it was farther than the radius ({radius:g}) from everything recorded."
            yield _mark(first, "off the graph", said)


def _left_marks(episode: Watched) -> Iterator[Mark]:
    """Where it came to a vertex beside the way planned a step before, from which the way is clearly longer."""
    for step, (before, now) in enumerate(pairwise(episode.decisions), 1):
        longer = len(now.path) - len(before.path)
        if now.vertex not in before.path and longer >= LONGER:
            said = (
                f"It came to vertex {now.vertex:,}, beside its way; from there it is {counted(longer, 'edge')} longer."
            )
            yield _mark(step, "left its way", said)


def _lost_ground(values: Float64s, *, failed: bool) -> Iterator[Mark]:
    best = int(np.argmax(values)) if len(values) else 0
    if failed and best < len(values) - STILL and values[best] > values[-1]:
        yield _mark(best, "lost ground", "It was nearest to its aim here, and lost ground after.")


def _end_mark(episode: Watched) -> Iterator[Mark]:
    score, last = episode.score, len(episode.decisions)
    if score.success:
        yield _mark(last, "reached", f"It was done after {counted(score.steps, 'step')}.")
    elif score.ended == "terminated":
        yield _mark(last, "fell", "The environment ended the episode here: it fell, or broke a rule.")


def _stretches(holds: Bools) -> list[tuple[int, int]]:
    """Where something holds, from where to (not including) where."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], holds, [False]]).astype(np.int8)))
    return [(int(first), int(last)) for first, last in edges.reshape(-1, 2)]


def _apart(steps: np.ndarray) -> list[int]:
    """Of steps that follow closely on one another the first."""
    kept: list[int] = []
    for step in steps.tolist():
        if not kept or step - kept[-1] >= APART:
            kept.append(step)
    return kept


def _mark(step: int, kind: str, said: str) -> Mark:
    return {"step": step, "kind": kind, "said": said}
