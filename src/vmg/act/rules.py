"""The rules of an objective: regions that no way may pass, and what steps on the way cost besides."""

from dataclasses import dataclass, field, replace

import numpy as np

from vmg.act.body import Body, Recorded
from vmg.base.errors import VMGError
from vmg.base.types import Bools, Float32s, Float64s, Int64s
from vmg.goals.objectives import Objective
from vmg.graph.evidence import Piece
from vmg.graph.memory import MemoryGraph
from vmg.graph.restricting import without
from vmg.graph.rewards import reward
from vmg.graph.routes import Routes
from vmg.graph.settings import ALONG_RECORDINGS

PROHIBITIVE = 1000.0
"""What a step in a region that is to be avoided costs, in steps, where a way must pass it: more than any way around."""
LOOKED_AT = 12
"""Places looked at on a straight way."""
BESIDE = 10.0
"""What a step at the edge of a region that is to be avoided costs besides, in steps; the farther off, the less."""


@dataclass(frozen=True, eq=False)
class RecordedPart(Recorded):
    """The recorded episodes without some of their observations, which count as infinitely far from everything."""

    left_out: Bools = field(default_factory=lambda: np.zeros(0, bool), repr=False)
    whole: tuple[Body, Recorded] | None = field(default=None, repr=False)
    """What acts, and what is recorded, if nothing is left out."""

    def distances(self, objective: Objective) -> Float64s:
        """Say how far each recorded observation is from an objective."""
        return np.where(self.left_out, np.inf, super().distances(objective))


@dataclass(frozen=True, eq=False)
class StraightWays:
    """Says to which rows, or what they lead to, the straight way from an observation passes one of these regions."""

    regions: tuple[Objective, ...]
    routes: Routes
    steps: int
    """How far ahead on its route a body heads."""

    def __call__(self, observation: Float32s, rows: Int64s) -> Bools:
        """A body comes straight to where it enters, and cuts the corner to what it heads for then."""
        entries = rows.astype(np.int32)
        both = (entries, self.routes.ahead(entries, self.steps))
        passes: Bools = np.max([self._passes(observation, self.routes.states(each)) for each in both], axis=0)
        return passes

    def _passes(self, observation: Float32s, others: Float32s) -> Bools:
        """Look at some places on each way, evenly spaced, its end included."""
        shares = np.linspace(0, 1, LOOKED_AT + 1, dtype=np.float32)[1:, None, None]
        places = (observation + shares * (others - observation)).reshape(-1, others.shape[1])
        inside = np.max([region.reached(places) for region in self.regions], axis=0)
        passes: Bools = np.max(inside.reshape(LOOKED_AT, len(others)), axis=0)
        return passes


def keeping_off(body: Body, recorded: Recorded, regions: tuple[Objective, ...]) -> tuple[Body, RecordedPart]:
    """Return the body and the recordings without the recorded states that lie in these regions."""
    rows = inside(recorded, regions)
    return restricted(body, recorded, rows, None, whole_vertices=body.solving.paths not in ALONG_RECORDINGS)


def restricted(
    body: Body, recorded: Recorded, rows: Bools, steps: Bools | None, *, whole_vertices: bool = False
) -> tuple[Body, RecordedPart]:
    """Return the body and the recordings without these observations, the steps to and from them, and these steps."""
    graph = without(body.graph, rows, steps=steps, whole_vertices=whole_vertices)
    left_out = np.zeros(len(rows), bool) if graph.left_out is None else graph.left_out
    if left_out.all():
        raise VMGError("All that is recorded lies in what is to be avoided: avoid less.")
    return replace(body, graph=graph), RecordedPart(graph, recorded.episodes, left_out, (body, recorded))


def inside(recorded: Recorded, regions: tuple[Objective, ...]) -> Bools:
    """Say which recorded observations lie in one of these regions."""
    found = np.zeros(len(recorded.graph.labels), bool)
    for region in regions:
        found |= recorded.distances(region) <= region.tolerance
    return found


def penalties(recorded: Recorded, objective: Objective) -> Float64s | None:
    """What a step in each slot costs besides, in steps; None: nothing."""
    if not objective.penalties:
        return None
    steps = np.sum([weight * recorded.step_rewards(paying) for weight, paying in objective.penalties], axis=0)
    if (steps < 0).any():
        raise VMGError(f"A penalty costs: what {objective.name!r} adds to a step must not be below 0.")
    return reward(recorded.graph, steps).slots


def besides(body: Body, recorded: Recorded, objective: Objective) -> Float64s | None:
    """What a step in each slot costs besides, in steps: penalties, and to be beside what is to be avoided."""
    charged = penalties(recorded, objective)
    if not isinstance(recorded, RecordedPart) or recorded.whole is None or not objective.avoided:
        return charged
    whole, steps = recorded.whole[1], body.acting.subgoal_steps
    near: Float64s = np.max([_nearness(whole, each, steps) for each in objective.avoided], axis=0)
    beside = reward(recorded.graph, BESIDE * near).slots
    return beside if charged is None or beside is None else beside + charged


def _nearness(recorded: Recorded, region: Objective, steps: int) -> Float64s:
    """How near recorded steps end to a region: 1 at its edge, 0 as far off as a body usually comes in so many steps.

    A body that heads for a subgoal so many steps ahead cuts corners. Where nothing says how far off it is, 0.
    """
    arrivals = recorded.graph.arrivals
    away = np.maximum(recorded.distances(region) - region.tolerance, 0)
    known = np.isfinite(away[arrivals]) & np.isfinite(away[arrivals - 1])
    changes = away[arrivals][known] - away[arrivals - 1][known]
    reach = steps * float(np.sqrt(np.square(changes).mean())) if len(changes) else 0.0
    near: Float64s = np.clip(1 - away[arrivals] / reach, 0, 1) if reach else np.zeros(len(arrivals))
    return near


def steps_inside(graph: MemoryGraph, pieces: tuple[Piece, ...], rows: Bools) -> int:
    """Count the recorded steps of a path that arrive at one of these observations."""
    firsts = np.cumsum(graph.lengths + 1) - (graph.lengths + 1)
    return sum(
        int(rows[firsts[piece.episode] + piece.first + 1 : firsts[piece.episode] + piece.last + 2].sum())
        for piece in pieces
        if piece.episode is not None
    )
