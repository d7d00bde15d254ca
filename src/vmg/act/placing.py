"""Placing: where things have to be put next, so that in the end all of them lie where they are wanted.

Recordings move things from rest to rest, in pieces: one is picked up here and put down there, a button is pressed. What
else the recordings did meanwhile does not matter, so pieces of any of them can follow each other:

    piece      a stretch of a recording from one rest of the things to the next; its cost is its steps
    cell       rests in which all things lie alike, within the goal's tolerance

The cheapest row of pieces to a goal says what to put where next; a low-level policy that places does it. A piece that
began with the things lying otherwise can be tried, too: how far otherwise is added to its cost.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vmg.act.arriving import Heading
from vmg.base.lazy import LazyModule
from vmg.base.types import Float32s, Float64s, Int64s
from vmg.data.rests import SETTLED, Pieces
from vmg.goals.objectives import Objective, Place, Together

if TYPE_CHECKING:
    from vmg.act.plan import Plan

csgraph, sparse = LazyModule("scipy.sparse.csgraph"), LazyModule("scipy.sparse")

OTHERWISE = 0.5
"""What it costs, in pieces of mean length, to try one that began with things lying otherwise by one tolerance."""
KINDS = 4
"""A column in which things rest at so few different numbers tells kinds apart, not places: it must be as it was."""
EXACTLY = 1000.0
"""How much more a difference in such a column counts."""
MOVED = 0.01
"""Things move where they do so by more than this share of the tolerance in a step."""


def placing(plan: "Plan") -> "Placing | None":
    """Return what places things where a plan wants them; None where it wants something else, or nothing can place."""
    objects, places = getattr(plan.body.low_level, "objects", ()), _places(plan.objective)
    named = {column for place, _ in places for column in place.columns}
    if not named or not named <= set(objects) or plan.objective.avoided or plan.body.pieces is None:
        return None
    return Placing(plan, places, objects, plan.body.pieces)


def _places(objective: Objective) -> list[tuple[Place, float]]:
    """The places that things are wanted in, with how near is near enough; none where it wants anything else."""
    parts = objective.distance.parts if isinstance(objective.distance, Together) else (objective,)
    found = [(part.place, part.tolerance) for part in parts if part.place and part.tolerance > 0]
    return found if len(found) == len(parts) else []


@dataclass
class _Task:
    """What an episode is about to do."""

    seen: Float64s
    """Where the things were a decision ago."""
    still: int = SETTLED
    """For how many decisions they have lain still."""
    goal: Float64s | None = None


class Placing:
    """Heads for where things are to be put next; remembers what each row is about to do until they rest again."""

    def __init__(
        self, plan: "Plan", places: Sequence[tuple[Place, float]], objects: Sequence[int], pieces: Pieces
    ) -> None:
        self._objects, self._columns = list(objects), [column for place, _ in places for column in place.columns]
        self._wanted = np.concatenate([place.numbers for place, _ in places])
        self._thing = np.repeat(np.arange(len(places)), [len(place.columns) for place, _ in places])
        self._tolerances = np.array([tolerance for _, tolerance in places])[self._thing]
        observations = plan.graph.kept_observations
        assert observations is not None  # pieces were found in them
        self._start, self._end = (observations[rows][:, self._columns].astype(np.float64) for rows in pieces)
        self._arrives = plan.objective.reached(observations[pieces.last])
        self._to_go = pieces.steps + self._after(pieces.steps)
        kinds = np.array([len(np.unique(column)) <= KINDS for column in np.rint(10 * self._end / self._tolerances).T])
        self._weights = np.where(kinds, EXACTLY, 1.0) / self._tolerances
        self._price = OTHERWISE * float(pieces.steps.mean())
        self._tasks: dict[int, _Task] = {}

    def headed(self, rows: Sequence[int], observations: Float32s, heading: Heading) -> Heading:
        """Put where things are wanted next in place of the subgoals; what else there is does not count."""
        goals = np.full_like(observations, np.nan)
        for i, row in enumerate(rows):
            here = observations[i, self._columns].astype(np.float64)
            task = self._tasks.setdefault(row, _Task(here))
            moved = (np.abs(here - task.seen) > MOVED * self._tolerances).any()
            task.still, task.seen = 0 if moved else task.still + 1, here
            if task.goal is None or task.still >= SETTLED:
                task.goal = self.next(here)
            goals[i, self._objects] = observations[i, self._objects]
            goals[i, self._columns] = np.where(np.isnan(task.goal), here, task.goal)
        return heading._replace(goals=goals)

    def next(self, here: Float64s) -> Float64s:
        """Say where to put things next, from where they lie now; not a number for those that stay."""
        costs = self._to_go + self._price * np.linalg.norm((self._start - here) * self._weights, axis=1)
        best = int(costs.argmin())
        if self._arrives[best] or not np.isfinite(costs[best]):
            return self._moved(here, self._wanted)
        return self._moved(self._start[best], self._end[best])

    def _moved(self, before: Float64s, after: Float64s) -> Float64s:
        """The places after, of the things that lie elsewhere before."""
        apart = np.sqrt(np.bincount(self._thing, ((after - before) / self._tolerances) ** 2))
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
