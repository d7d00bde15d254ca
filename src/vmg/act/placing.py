"""Placing: where things have to be put next, so that in the end all of them lie where they are wanted.

Recordings move things from rest to rest, in pieces: one is picked up here and put down there, a button is pressed. What
else the recordings did meanwhile does not matter, so pieces of any of them can follow each other:

    piece      a stretch of a recording from one rest of the things to the next; its cost is its steps
    cell       rests in which all things lie alike, within the goal's tolerance

The cheapest row of pieces to a goal says what to put where next; a low-level policy that places does it. A piece that
began with the things lying otherwise can be tried, too: how far otherwise is added to its cost.

Where recordings are no play, things are put where they are wanted at once, unless some tell kinds: hardly anybody
recorded one piece after the other, so a row of them would be a detour to where a piece happens to begin.
"""

import warnings
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from vmg.act.arriving import Heading
from vmg.base.lazy import LazyModule
from vmg.base.types import Float32s, Float64s, Int64s
from vmg.data.rests import PLAY, SETTLED, Pieces
from vmg.goals.objectives import Objective, Place, Together

if TYPE_CHECKING:
    from vmg.act.plan import Plan

csgraph, sparse = LazyModule("scipy.sparse.csgraph"), LazyModule("scipy.sparse")

OTHERWISE = 0.5
"""What it costs, in pieces of mean length, to try one that began with things lying otherwise by one tolerance."""
KINDS = 4
"""A column in which things rest in so few different places, a tolerance apart, tells kinds: it must be as it was."""
EXACTLY = 1000.0
"""How much more a difference in such a column counts."""
MOVED = 0.5
"""Things lie still while they stay this near, in tolerances; and they were moved if they lie farther off than that."""


def placing(plan: "Plan") -> "Placing | None":
    """Return what places things where a plan wants them; None where it wants something else, or nothing can place."""
    objects, places = getattr(plan.body.low_level, "objects", ()), _places(plan.objective)
    named = {column for place, _ in places for column in place.columns}
    if not named or not named <= set(objects) or plan.objective.avoided or plan.objective.penalties:
        return None
    if plan.graph.kept_observations is None:
        warnings.warn(
            "The agent learned to place things, but its graph keeps no observations to plan that with: build it with "
            f"--graph.goal-columns {' '.join(map(str, objects))}.",
            stacklevel=2,
        )
    return Placing(plan, places, objects, plan.body.pieces) if plan.body.pieces else None


def _places(objective: Objective) -> list[tuple[Place, float]]:
    """The places that things are wanted in, with how near is near enough; none where it wants anything else."""
    parts = objective.distance.parts if isinstance(objective.distance, Together) else (objective,)
    found = [(part.place, part.tolerance) for part in parts if part.place and part.tolerance > 0]
    return found if len(found) == len(parts) else []


@dataclass
class _Task:
    """What an episode is about to do."""

    goal: Float64s
    """Where things are to be put; not a number for those that stay."""
    began: Float64s
    """Where they lay when that was decided."""
    seen: deque[Float64s] = field(default_factory=lambda: deque(maxlen=SETTLED + 1))
    """Where they were in the last decisions."""


class Placing:
    """Heads for where things are to be put next; each row keeps to that until they rest somewhere else."""

    def __init__(
        self, plan: "Plan", places: Sequence[tuple[Place, float]], objects: Sequence[int], pieces: Pieces
    ) -> None:
        self._objects, self._columns = list(objects), [column for place, _ in places for column in place.columns]
        self._wanted = np.concatenate([place.numbers for place, _ in places])
        self._thing = np.repeat(np.arange(len(places)), [len(place.columns) for place, _ in places])
        self._first = np.flatnonzero(np.diff(self._thing, prepend=-1))
        self._tolerances = np.array([tolerance for _, tolerance in places])[self._thing]
        observations = plan.graph.kept_observations
        assert observations is not None  # pieces were found in them
        self._start, self._end = (observations[rows][:, self._columns].astype(np.float64) for rows in pieces)
        self._arrives = plan.objective.reached(observations[pieces.last])
        self._to_go = pieces.steps + self._after(pieces.steps)
        self._lowest = self._end.min(0)
        self._kinds = np.array([1 < len(np.unique(column)) <= KINDS for column in self._cell(self._end).T])
        self.steps = float(pieces.steps.mean())
        """Recorded steps of a piece."""
        self._price = OTHERWISE * self.steps
        telling = np.logical_and.reduceat(self._kinds, self._first).any()  # a height among two is no kind, a lock is
        self.at_once = pieces.of_the_middle(plan.graph.lengths) < PLAY and not telling
        self._tasks: dict[int, _Task] = {}

    def headed(self, rows: Sequence[int], observations: Float32s, heading: Heading) -> Heading:
        """Put where things are wanted next in place of the subgoals; what else there is does not count."""
        goals = np.full_like(observations, np.nan)
        for i, row in enumerate(rows):
            here = observations[i, self._columns].astype(np.float64)
            task = self._tasks.get(row)
            if task is None or self._rest_elsewhere(task, here):
                task = self._tasks[row] = _Task(self.next(here), here)
            goals[i, self._objects] = observations[i, self._objects]
            goals[i, self._columns] = np.where(np.isnan(task.goal), here, task.goal)
        return heading._replace(goals=goals)

    def next(self, here: Float64s) -> Float64s:
        """Say where to put things next, from where they lie now; not a number for those that stay."""
        if self._apart(here, self._wanted).max() <= 1:
            return np.full(len(here), np.nan)
        if self.at_once:
            return self._moved(here, self._wanted)
        kinds = EXACTLY * (self._cell(self._start) - self._cell(here))
        otherwise = np.where(self._kinds, kinds, (self._start - here) / self._tolerances)
        costs = self._to_go + self._price * np.linalg.norm(otherwise, axis=1)
        costs[self._apart(self._end, here).max(1) <= 1] = np.inf  # they lie there already
        best = int(costs.argmin())
        if not np.isfinite(costs[best]):  # the farthest first: pieces do not lead there
            apart = self._apart(here, self._wanted)
            return np.where((apart == apart.max())[self._thing], self._wanted, np.nan)
        if self._arrives[best]:
            return self._moved(here, self._wanted)
        return self._moved(self._start[best], self._end[best])

    def puts(self, observation: Float32s) -> tuple[tuple[int, float], ...]:
        """Say where things are put next, from what is observed: columns, each with its number."""
        goal = self.next(observation[self._columns].astype(np.float64))
        return tuple((column, float(each)) for column, each in zip(self._columns, goal, strict=True) if each == each)

    def _rest_elsewhere(self, task: _Task, here: Float64s) -> bool:
        """Say whether things have come to rest, and lie elsewhere than when it was decided what to do."""
        task.seen.append(here)
        seen = np.array(task.seen)
        settled = len(seen) > SETTLED and self._apart(seen, here).max() <= MOVED
        return bool(settled and self._apart(task.began, here).max() > MOVED)

    def _cell(self, places: Float64s) -> Float64s:
        """Which of the places, a tolerance apart, these are."""
        found: Float64s = np.rint((places - self._lowest) / self._tolerances)
        return found

    def _apart(self, places: Float64s, others: Float64s) -> Float64s:
        """How far each thing is from another place of it, in tolerances."""
        squares = ((places - others) / self._tolerances) ** 2
        found: Float64s = np.sqrt(np.add.reduceat(squares, self._first, axis=-1))
        return found

    def _moved(self, before: Float64s, after: Float64s) -> Float64s:
        """The places after, of the things that lie elsewhere before."""
        apart = self._apart(after, before)
        goal: Float64s = np.where((apart > min(1.0, float(apart.max())) - 1e-9)[self._thing], after, np.nan)
        return goal

    def _after(self, steps: Int64s) -> Float64s:
        """Steps from where each piece ends to the goal, along the pieces that begin alike; infinite without any."""
        both = np.rint(np.concatenate([self._start, self._end]) / self._tolerances)
        _, cells = np.unique(both, axis=0, return_inverse=True)
        tails, heads = cells.reshape(2, -1)
        goal = int(cells.max()) + 1
        order = np.lexsort((steps, np.where(self._arrives, goal, heads), tails))
        tail, head, cost = tails[order], np.where(self._arrives, goal, heads)[order], steps[order]
        first = np.ones(len(order), bool)
        first[1:] = (np.diff(tail) != 0) | (np.diff(head) != 0)
        back = sparse.csr_matrix((cost[first], (head[first], tail[first])), shape=(goal + 1, goal + 1))
        to_go: Float64s = csgraph.dijkstra(back, indices=goal)
        return np.where(self._arrives, 0.0, to_go[heads])
