"""What a stage of a sequence is shown of what earlier stages have done.

Nobody may have recorded the door with the lamp on. Then the lamp is *imagined* as it was at the beginning, if the way
of this stage is much cheaper so and leaves the lamp alone. Only objects are imagined: a body is where it is.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from vmg.act.imagining import IMAGINED, MOST_PARTS, bits, moved, overwritten, subsets
from vmg.base.types import Float32s
from vmg.graph.routes.recordings import RecordingRoutes
from vmg.graph.sight import APART, ELSEWHERE

if TYPE_CHECKING:
    from vmg.act.plan import Plan


def imagined(stages: "Sequence[Plan]", stage: int, state: Float32s, start: Float32s) -> tuple[int, ...]:
    """Return the earlier stages that are shown to this one as they were at the start: as few as it takes."""
    plan = stages[stage]
    parts = _imaginable(stages[: stage + 1], state, start)
    if not parts or not isinstance(plan.routes, RecordingRoutes):
        return ()
    best: tuple[int, ...] = ()
    least = _cost(plan, plan.routes, state)[1]
    for size in range(1, len(parts) + 1):
        for mask in subsets((1 << len(parts)) - 1, size):
            chosen = tuple(parts[bit] for bit in bits(mask))
            entry, cost = _cost(plan, plan.routes, shown(stages, chosen, state, start))
            if cost + IMAGINED * (size - len(best)) < least and _leaves_alone(stages, chosen, plan.routes, entry):
                best, least = chosen, cost
    return best


def shown(stages: "Sequence[Plan]", chosen: Sequence[int], state: Float32s, start: Float32s) -> Float32s:
    """Return a state in which what these stages have done is as it was in another one."""
    if not chosen:
        return state
    columns = [stage.objective.columns for stage in stages]
    return overwritten(state, columns, sum(1 << part for part in chosen), [start] * len(stages))


def _imaginable(stages: "Sequence[Plan]", state: Float32s, start: Float32s) -> list[int]:
    """The earlier stages that moved an object that none after them is about; the latest, where there are many."""
    *earlier, now = (stage.objective.columns for stage in stages)
    if now is None or not stages[-1].graph.recordings:
        return []
    objects, taken, found = stages[-1].graph.sight.objects, set(now), list[int]()
    for part in reversed(range(len(earlier))):
        columns = earlier[part]
        if columns and objects[list(columns)].all() and not taken & set(columns):
            done, before = stages[part].objective.reached(np.stack([state, start]))
            taken |= set(columns)
            found += [part] if done and not before else []
    return sorted(found[:MOST_PARTS])


def _cost(plan: "Plan", routes: RecordingRoutes, state: Float32s) -> tuple[int, float]:
    """Where the policy enters its way from a state, and what that and the way cost, in unrewarded steps."""
    entry, sight = int(plan.policy().decide(state).entries[0]), plan.graph.sight
    recorded = routes.states(np.array([entry], np.int32))
    elsewhere = (sight.apart(recorded, state)[0, sight.objects] > APART).any()
    gap = float(sight.gaps(recorded, state, sight.shares)[0]) + ELSEWHERE * elsewhere
    return entry, float(routes.table.costs[entry]) + routes.switch_cost * gap


def _leaves_alone(stages: "Sequence[Plan]", chosen: Sequence[int], routes: RecordingRoutes, entry: int) -> bool:
    """Say whether a way neither does nor moves what is imagined as not done."""
    states, parts = routes.states(np.array(routes.route(entry), np.int32)), [stages[part].objective for part in chosen]
    away = np.array([part.distances(states) for part in parts])
    columns = [column for part in parts for column in part.columns or ()]
    apart = routes.graph.sight.apart(states, states[0])[:, columns]
    return not (moved(away, away[:, :1]).any() or (apart > APART).any())
