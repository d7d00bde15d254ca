"""What is seen: how far apart observations are, number by number, in units of its usual change in a step."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from vmg.base.types import Bools, Float32s, Float64s
from vmg.data.angles import angles, round_the_turn
from vmg.data.columns import SHARED

if TYPE_CHECKING:
    from vmg.graph.memory import MemoryGraph

STILL, LITTLE = 0.5, 0.1
"""A number that changes, by more than the second share of its usual change, in fewer than the first share of the steps
in which anything does stands still unless something is handled. Where the robot itself pauses, nothing changes."""
LATER, STILL_LATER, LITTLE_LATER, ADDS_UP = 10, 0.4, 0.25, 1.5
"""Or that does so over so many steps, in which it usually changes by so many times as much as in one: noise on a sensor
hides in one step that an object stands still, but noise does not add up."""
HANDLED = 3.0
"""How much more what differs in a number of an object counts where a recording is entered: a body comes by itself, an
object does not."""
APART = 8.0
"""An object that is more recorded steps away than this is elsewhere; a body so far off that comes no nearer is lost."""
ELSEWHERE = 10.0
"""Recorded steps that it counts for in a switch that an object is elsewhere."""
OTHERWISE = 2 * APART
"""Recorded steps that the nearest values of a number count as which never changes within an episode and whose values
many share: what is right with one kind of part is not with another, and nobody can change it."""
BLOCK = 2**16
"""Rows that are looked at at once."""


@dataclass(frozen=True, eq=False)
class Sight:
    """What recorded observations are like."""

    steps: Float32s
    """By how much each number changes in a recorded step: the root of the mean square."""
    widths: Float32s
    """How far apart each number ever was: farther off is no less like the recordings."""
    objects: Bools
    """Numbers that stand still unless something is handled: they change by next to nothing while others do. Those that
    are to agree are among them."""
    offsets: Float64s
    """How far each recorded observation is from its vertex's, in recorded steps; farther if an object is elsewhere."""
    unhandled: tuple[int, ...] = ()
    """Columns that change by themselves: neither object nor body. Their step is their spread, so that the moments most
    like a recorded one are preferred, and nothing is lost that is otherwise at the right place."""
    turns: Mapping[int, float] = field(default_factory=dict)
    """Columns that are angles, each with what a turn is: they differ by the shorter way round."""

    @classmethod
    def of(cls, graph: "MemoryGraph") -> Self:
        """Look at what a graph has recorded, some rows at a time."""
        observations, turns = graph.recorded.observations, angles(graph.recorded.observations, graph.lengths)
        steps = _usual(graph, turns).astype(np.float32)
        least, most = observations[:1].min(0), observations[:1].max(0)
        for rows in _blocks(len(observations)):
            least, most = np.minimum(least, observations[rows].min(0)), np.maximum(most, observations[rows].max(0))
        objects, unhandled = _objects(graph, turns), tuple(graph.unhandled.tolist())
        for column in unhandled:
            objects[column], steps[column] = False, observations[:, column].std(dtype=np.float64)
        for column, nearest in _to_agree(graph, (steps == 0) & (most > least)):
            objects[column], steps[column] = True, nearest / OTHERWISE
        sight = cls(steps, most - least, objects, np.zeros(len(observations)), unhandled, turns)
        for rows in _blocks(len(observations)):
            apart = sight.apart(observations[rows], graph.states[graph.labels[rows]])
            elsewhere = (apart[:, sight.objects] > APART).any(1)
            sight.offsets[rows] = root_mean_square(apart, max(int((steps > 0).sum()), 1)) + ELSEWHERE * elsewhere
        return sight

    def apart(self, observations: Float32s, others: Float32s) -> Float32s:
        """Return how far apart each number is, up to its width, in steps; 0 for numbers that never change."""
        gaps = np.abs(observations - others)
        for column, turn in self.turns.items():
            gaps[..., column] = np.minimum(gaps[..., column], np.abs(turn - gaps[..., column]))
        found: Float32s = np.minimum(gaps, self.widths) * self._per_step
        return found

    def gaps(self, observations: Float32s, others: Float32s, shares: Float32s | None = None) -> Float64s:
        """Return what differs all in all: the root of the mean square over numbers that ever change.

        `shares`: how much each number counts; 0: as if it were alike.
        """
        apart = self.apart(observations, others)
        return root_mean_square(apart if shares is None else apart * shares, max(int((self.steps > 0).sum()), 1))

    def off(self, apart: Float32s) -> Float64s:
        """Return how far bodies are off whose numbers, and those of objects, are so far apart."""
        return root_mean_square(apart[:, self.body], max(int(self.body.sum()), 1))

    @cached_property
    def body(self) -> Bools:
        """Numbers that change, and are no object's."""
        alone = np.isin(np.arange(len(self.steps)), self.unhandled)
        return (self.steps > 0) & ~self.objects & ~alone

    @cached_property
    def shares(self) -> Float32s:
        """How much what differs in each number counts where a recording is entered."""
        return np.where(self.objects, HANDLED, 1.0).astype(np.float32)

    @cached_property
    def _per_step(self) -> Float32s:
        found: Float32s = np.divide(1, self.steps, out=np.zeros_like(self.steps), where=self.steps > 0)
        return found


def root_mean_square(apart: Float32s, n: int) -> Float64s:
    """Return the root of the sum of squares over n, row by row."""
    found: Float64s = np.sqrt(np.einsum("ij,ij->i", apart, apart, dtype=np.float64) / n)
    return found


def _objects(graph: "MemoryGraph", turns: Mapping[int, float]) -> Bools:
    """Mark the numbers that stand still unless something is handled; none where that would be all there is."""
    still, usual = _stands_still(graph, turns, 1, STILL, LITTLE)
    later, usual_later = _stands_still(graph, turns, LATER, STILL_LATER, LITTLE_LATER)
    varying = usual > 0
    objects: Bools = varying & (still | (later & (usual_later > ADDS_UP * usual)))
    return objects & (varying & ~objects).any()


def _to_agree(graph: "MemoryGraph", fixed: Bools) -> Iterator[tuple[int, float]]:
    """Yield each of these numbers that are fixed in an episode which many share, with how far its values lie apart."""
    firsts = np.cumsum(graph.lengths + 1) - (graph.lengths + 1)
    for column in np.flatnonzero(fixed).tolist():
        values = np.unique(graph.recorded.observations[firsts, column].astype(np.float64))
        if SHARED * len(values) <= len(firsts):
            yield column, float(np.diff(values).min())


def _stands_still(
    graph: "MemoryGraph", turns: Mapping[int, float], steps: int, share: float, little: float
) -> tuple[Bools, Float64s]:
    """Mark the numbers that change little over so many steps, but in a share of those in which any does; the usual."""
    usual, moved, active = _usual(graph, turns, steps), np.zeros(graph.states.shape[1]), 0
    for changes in _changes(graph, turns, steps):
        moves = np.abs(changes) > little * usual
        moved += moves.sum(0)
        active += int(moves.any(1).sum())
    return moved < share * active, usual


def _usual(graph: "MemoryGraph", turns: Mapping[int, float], steps: int = 1) -> Float64s:
    """By how much each number changes over so many recorded steps: the root of the mean square."""
    total, n = np.zeros(graph.states.shape[1]), 0
    for changes in _changes(graph, turns, steps):
        total += np.square(changes).sum(0)
        n += len(changes)
    return np.sqrt(total / max(n, 1))


def _changes(graph: "MemoryGraph", turns: Mapping[int, float], steps: int) -> Iterator[Float64s]:
    """Yield by how much observations change over so many recorded steps."""
    observations, lengths = graph.recorded.observations, graph.lengths
    firsts = np.repeat(np.cumsum(lengths + 1) - (lengths + 1), lengths + 1)
    arrivals = np.flatnonzero(np.arange(len(observations)) - firsts >= steps)
    for block in _blocks(len(arrivals)):
        rows = arrivals[block]
        yield round_the_turn(observations[rows].astype(np.float64) - observations[rows - steps], turns)


def _blocks(n: int) -> Iterator[slice]:
    return (slice(first, first + BLOCK) for first in range(0, n, BLOCK))
