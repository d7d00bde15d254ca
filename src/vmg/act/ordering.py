"""The order in which several goals can be reached and kept, found on recordings before anything is done.

Recorded states are sorted by the parts of the objective that they fulfil. A *layer* is what can be followed while some
parts are done: recorded states that fulfil just these. A way ends in a layer at a step that does one more part and goes
on in the next layer. Where no recording shows what comes next with all that is done, a part may be *imagined* as not
done yet: recordings are followed in which it lies where it lay at the beginning, and nobody moves it.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from vmg.act.body import Body, Recorded
from vmg.act.imagining import IMAGINED, MOST_PARTS, bits, moved, overwritten, own_columns, subsets
from vmg.act.rules import penalties
from vmg.base.types import Bools, Float32s, Float64s, Int32s, Int64s
from vmg.goals.objectives import Conjunction
from vmg.graph import kernels
from vmg.graph.memory import MemoryGraph
from vmg.graph.nearest import VertexIndex
from vmg.graph.routes.recordings import STEP, switch_costs
from vmg.networks.encoder import embed

NEVER = np.iinfo(np.int64).max
FOLLOW_THROUGH = 10
"""Recorded steps that a motion is followed on after it has done its part."""
OFF_GRAPH = 100
"""What it costs, in steps, to go on from a state that looks like nothing recorded there."""
UNDONE = 100_000
"""What it costs, in steps, to leave a part undone: where not all can be done, as many as can are."""

Tried: TypeAlias = frozenset[tuple[int, int]]
"""What has been tried in vain: what was imagined, and what was to be done."""


@dataclass(frozen=True, eq=False)
class Layer:
    """What is left to do while these parts are done: from every recorded state and every vertex of the layer."""

    vertices: Int32s
    """The vertices from which a way leads on."""
    costs: Int64s
    """What is left from each of them."""
    ends: Int64s
    """The recorded state at which the way from each of them leaves the layer."""
    features: Float32s
    leaving: Int64s
    """The recorded states whose next step does another part."""
    left: Int64s
    """What is left from each of these."""
    arrived: Int64s
    """What is left from each recorded state at which a part has just been done; NEVER outside of the layer."""

    @cached_property
    def index(self) -> VertexIndex:
        return VertexIndex(self.features)

    def left_at(self, row: int) -> int:
        """What is left from a recorded state whose next step does another part."""
        return int(self.left[self.leaving.searchsorted(row)])


@dataclass(frozen=True)
class Stage:
    """The next part to do, and what is done and imagined meanwhile; parts are bits of a number."""

    done: int
    imagined: int
    gain: int
    end: int
    """The recorded state before the step that does it, on the cheapest way."""
    steps: float
    """About how many steps it takes."""
    left: float
    """About how many are left in all, this stage included."""
    off_graph: bool
    """Whether nothing that can be followed in it looks like the state it begins in."""

    @property
    def complete(self) -> bool:
        """Whether recorded ways lead on until all is done."""
        return self.left < UNDONE


class Ordering:
    """The recorded states by what they fulfil, and the layers, each made when it is first asked for."""

    def __init__(self, body: Body, recorded: Recorded, objective: Conjunction) -> None:
        self.body, self.parts, self.before = body, objective.parts, objective.before
        graph, n = body.graph, len(self.parts)
        distances = np.stack([recorded.distances(part) for part in self.parts])
        tolerances = np.array([part.tolerance for part in self.parts])
        powers = 1 << np.arange(n)
        self.masks: Int64s = powers @ (distances <= tolerances[:, None])
        self._gains: Int64s = self.masks[1:] & ~self.masks[:-1]
        self._arrivals: Int64s = np.flatnonzero(self._gains) + 1
        firsts = np.cumsum(graph.lengths + 1) - (graph.lengths + 1)
        self._first = np.repeat(firsts, graph.lengths + 1)
        self._moved: Int64s = powers @ moved(distances, distances[:, self._first])
        self._steps = self._step_costs(penalties(recorded, objective))
        self._switches = self._switch_costs(graph.leaving)
        self.columns = [part.columns for part in self.parts]
        self._note_observations(recorded.observations, distances)
        self._layers: dict[tuple[int, int, frozenset[int]], Layer] = {}

    @property
    def all_done(self) -> int:
        return (1 << len(self.parts)) - 1

    def done_in(self, state: Float32s) -> int:
        """The parts that a state fulfils."""
        return sum(1 << i for i, part in enumerate(self.parts) if part.reached(state[None])[0])

    def imagine(self, state: Float32s, imagined: int, start: Float32s) -> Float32s:
        """Return the state with these parts as they were at the start or, if they were done there, as recorded."""
        done = self.done_in(start)
        sources = [self._undone[i] if done >> i & 1 else start for i in range(len(self.parts))]
        return overwritten(state, self.columns, imagined, sources)

    def next_stage(
        self,
        state: Float32s,
        start: Float32s,
        done: int,
        imagined: int = 0,
        but: frozenset[tuple[int, int]] = frozenset(),
    ) -> Stage | None:
        """Return what to do next in a state; None where no recorded way leads to another part.

        As few parts are imagined as it takes for recordings that look like the state and lead on until all is done.
        """
        found: list[Stage] = []
        for size in range(done.bit_count() + 1):
            for chosen in subsets(done & self._imaginable, size):
                layer = self.layer(done, chosen, frozenset(gain for mask, gain in but if mask == chosen))
                if len(layer.vertices):
                    found.append(self._stage_in(layer, state, start, done, chosen, imagined))
            if any(stage.complete and not stage.off_graph for stage in found):
                break
        return min(found, key=lambda stage: stage.left, default=None)

    def leads_to_all(self, start: Float32s) -> bool:
        """Say whether recorded ways lead from a state until all is done."""
        stage = self.next_stage(start, start, self.done_in(start))
        return stage is not None and stage.complete

    def layer(self, done: int, imagined: int, refused: frozenset[int] = frozenset()) -> Layer:
        """Return what is left to do while these parts are done; `refused`: what must not be done next."""
        key = (done, imagined, refused)
        if key not in self._layers:
            self._layers[key] = self._make_layer(*key)
        return self._layers[key]

    def accepted(self, stage: Stage) -> tuple[Bools, Bools, Bools]:
        """The recorded states and steps to leave out in a stage, and the states at which it may end.

        It may end where no more is left to do than at the end of its cheapest way.
        """
        layer, graph = self.layer(stage.done, stage.imagined), self.body.graph
        ends = layer.leaving[layer.left <= layer.left_at(stage.end)]
        arrivals = ends[self._gains[ends] == stage.gain] + 1
        used, goals = self._rows(stage.done, stage.imagined), np.zeros(len(self.masks), bool)
        for later in range(FOLLOW_THROUGH + 1):
            last = self._later(arrivals, later)
            used[last] = True
        goals[last] = True
        after = graph.arrivals
        undone = (self.masks[after - 1] & ~self.masks[after]) > 0
        return ~used, undone, goals

    def state_after(self, stage: Stage) -> Float32s:
        """The state expected at the end of a stage: as recorded, with what is imagined in it done."""
        row = int(np.searchsorted(self._noted, stage.end + 1))
        return overwritten(self._observations[row], self.columns, stage.imagined, self._finished)

    def evidence(self, stage: Stage) -> int:
        """In how many recorded episodes this stage is done, with the same done and untouched."""
        ends = self.layer(stage.done, stage.imagined).leaving
        return len(np.unique(self._first[ends[self._gains[ends] == stage.gain]]))

    @cached_property
    def gains(self) -> list[int]:
        """All that single recorded steps do."""
        return [gain for gain in np.unique(self._gains).tolist() if gain]

    def first_open(self, done: int) -> int:
        """The first part, as they were given, that may be done next."""
        waiting = {second for first, second in self.before if not done >> first & 1}
        return next(part for part in bits(self.all_done & ~done) if part not in waiting)

    # --- layers -------------------------------------------------------------------------------------------------------

    def _make_layer(self, done: int, imagined: int, refused: frozenset[int]) -> Layer:
        rows, graph = self._rows(done, imagined), self.body.graph
        leaving = np.flatnonzero(rows[:-1] & self._goes_on[:-1] & self._may_gain(done, imagined, refused))
        left = self._left_after(leaving + 1, done, imagined) + self._steps[leaving]
        end_costs = np.full(len(rows), NEVER)
        end_costs[leaving] = left
        inside = np.append(rows[:-1] & rows[1:], False) & self._goes_on
        steps, switches = np.where(inside, self._steps, -1), np.where(rows, self._switches, -1)
        costs, _, best, ends = kernels.orders.costs_to_end(graph.labels, steps, switches, end_costs, graph.n_vertices)
        vertices = np.flatnonzero(ends >= 0).astype(np.int32)
        arrived = costs[self._arrivals]
        return Layer(vertices, best[vertices], ends[vertices], graph.features[vertices], leaving, left, arrived)

    def _rows(self, done: int, imagined: int) -> Bools:
        """The recorded states with these parts done, and the imagined ones not done and not moved."""
        rows: Bools = (self.masks == done & ~imagined) & ((self._moved & imagined) == 0) & (self._switches >= 0)
        return rows

    def _may_gain(self, done: int, imagined: int, refused: frozenset[int]) -> Bools:
        """Say which steps do another part, in an order that is allowed, and undo none."""
        gains, undone = self._gains, self.masks[:-1] & ~self.masks[1:]
        fine: Bools = (gains > 0) & ((gains & done) == 0) & (undone == 0) & ((self._moved[1:] & imagined) == 0)
        for first, second in self.before:
            if not done >> first & 1:
                fine &= (gains >> second & 1) == 0
        fine &= ~np.isin(gains, list(refused))
        return fine

    def _left_after(self, arrivals: Int64s, done: int, imagined: int) -> Int64s:
        """What is left once each of these steps has done its part, along its own recording or along others."""
        left, gains = np.zeros(len(arrivals), np.int64), self._gains[arrivals - 1]
        for gain in np.unique(gains).tolist():
            chosen, now = gains == gain, done | gain
            if now != self.all_done and len(self.parts) <= MOST_PARTS:
                left[chosen] = self._left_in(now, imagined, arrivals[chosen])
        return left

    def _left_in(self, done: int, imagined: int, rows: Int64s) -> Int64s:
        """What is left from these recorded states, once these parts are done; as few imagined as can be."""
        remaining = (self.all_done & ~done).bit_count()
        along = self.layer(done, imagined).arrived[self._arrivals.searchsorted(rows)]
        left, found = np.minimum(along, UNDONE * STEP * remaining), along < UNDONE * STEP
        for size in range(done.bit_count() + 1):
            if found.all():
                break
            open_ = ~found
            for chosen in subsets(done & self._imaginable, size):
                if len(self.layer(done, chosen).vertices):
                    over, on_graph = self._left_over(done, imagined, chosen, rows[open_])
                    left[open_] = np.minimum(left[open_], over)
                    found[open_] |= on_graph & (over < UNDONE * STEP)
        return left

    def _left_over(self, done: int, imagined: int, chosen: int, rows: Int64s) -> tuple[Int64s, Bools]:
        """What is left if other recordings take over at these states, and where they are like them."""
        seen = embed(self.body.weights, self._as_imagined(rows, imagined, chosen))
        costs, _, gaps = self._entry(self.layer(done, chosen), seen)
        return costs + IMAGINED * STEP * (chosen & ~imagined).bit_count(), gaps <= self.body.graph.radius

    def _entry(self, layer: Layer, seen: Float32s) -> tuple[Int64s, Int32s, Float32s]:
        """What is left from points of the metric space, by way of the nearest vertex of a layer; it, and the gaps."""
        entered = layer.index.nearest(seen)
        gaps: Float32s = np.linalg.norm(seen - layer.features[entered], axis=1)
        return layer.costs[entered] + self._gap_costs(gaps), entered, gaps

    def _stage_in(self, layer: Layer, state: Float32s, start: Float32s, done: int, chosen: int, imagined: int) -> Stage:
        """The stage that begins where a state lies in a layer."""
        seen = embed(self.body.weights, self.imagine(state, chosen, start)[None])
        costs, entered, gaps = self._entry(layer, seen)
        cost = int(costs[0]) + IMAGINED * STEP * (chosen & ~imagined).bit_count()
        end = int(layer.ends[entered[0]])
        steps, off_graph = (cost - layer.left_at(end)) / STEP, bool(gaps[0] > self.body.graph.radius)
        return Stage(done, chosen, int(self._gains[end]), end, steps, cost / STEP, off_graph)

    # --- what is known of the recordings ------------------------------------------------------------------------------

    def _step_costs(self, besides: Float64s | None) -> Int64s:
        """What the step that leaves each recorded state costs."""
        steps = np.full(len(self.masks), float(STEP))
        if besides is not None:
            leaving = self.body.graph.leaving
            steps += STEP * np.where(leaving >= 0, besides[leaving], 0.0)
        whole: Int64s = np.rint(steps).astype(np.int64)
        return whole

    def _switch_costs(self, leaving: Int32s) -> Int64s:
        """What half a switch at each recorded state costs; below 0 where it is not used."""
        graph, (_, members) = self.body.graph, self.body.graph.members
        self._goes_on = leaving >= 0
        self._step_length = graph.step_length if graph.recordings else _edge_length(graph)
        half_way = graph.radius / 2 / self._step_length  # taken where only the vertices are known
        offsets = graph.offsets if graph.recordings else np.full(len(self.masks), half_way)
        used = np.isin(np.arange(len(self.masks)), members, assume_unique=True)
        return np.where(used, switch_costs(offsets, self.body.solving.switch_cost), -1)

    def _gap_costs(self, gaps: Float32s) -> Int64s:
        """What it costs to get to a vertex from so far away in the metric space; from off the graph, much more."""
        near = switch_costs(gaps.astype(np.float64) / self._step_length, self.body.solving.switch_cost)
        return near + OFF_GRAPH * STEP * (gaps > self.body.graph.radius)

    def _note_observations(self, observations: Float32s | None, distances: Float64s) -> None:
        """Keep what is needed to imagine: observations after a part was done, and what parts look like otherwise."""
        self._imaginable = 0 if observations is None else own_columns(self.columns)
        if observations is None:
            return
        self._noted = np.union1d(self._arrivals, self._first[self._arrivals])
        self._observations = observations[self._noted]
        self._finished = [observations[int(each.argmin())] for each in distances]
        undone = [np.flatnonzero((self.masks[self._first] >> i & 1) == 0) for i in range(len(self.parts))]
        self._undone = [
            observations[int(self._first[rows[0]])] if len(rows) else self._finished[i] for i, rows in enumerate(undone)
        ]

    def _as_imagined(self, rows: Int64s, imagined: int, chosen: int) -> Float32s:
        """Recorded states with other parts imagined than in their recordings."""
        at, first = (self._noted.searchsorted(each) for each in (rows, self._first[rows]))
        begun = self._observations[first]
        states = overwritten(self._observations[at], self.columns, chosen & ~imagined, [begun] * len(self.parts))
        return overwritten(states, self.columns, imagined & ~chosen, self._finished)

    def _later(self, rows: Int64s, steps: int) -> Int64s:
        """The recorded states so many steps later, or the last ones before what is fulfilled changes."""
        for _ in range(steps):
            on = np.minimum(rows + 1, len(self.masks) - 1)
            rows = np.where(self._goes_on[rows] & (self.masks[on] == self.masks[rows]), on, rows)
        return rows


def _edge_length(graph: MemoryGraph) -> float:
    """Mean length of an edge in the metric space; 1 where there is none."""
    lengths = np.linalg.norm(graph.features[graph.heads] - graph.features[graph.tails], axis=1)
    return float(lengths.mean(dtype=np.float64)) if lengths.any() else 1.0
