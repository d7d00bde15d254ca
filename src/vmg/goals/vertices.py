"""Objectives in vertices of a graph, as they are pointed at in a picture of it; and such vertices in words.

    in_vertices(graph, weights, [3, 4, 5])       to be in one of these vertices
    paid_in_vertices(graph, weights, {3: 1.0})   every step that ends in vertex 3 pays 1

In words: "vertices=3-5,9", and with what a step into them pays "vertices=3-5:1,9:-0.5".
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vmg.base.arguments import checked
from vmg.base.errors import VMGError
from vmg.base.settings import problem_of
from vmg.base.types import Bools, Float32s, Float64s, Int32s, Int64s
from vmg.data.episodes import Episodes
from vmg.goals.objectives import Objective
from vmg.graph.memory import MemoryGraph
from vmg.networks.encoder import embed
from vmg.networks.weights import Weights

WORD = "vertices="
NAMED = 3
"""Runs of vertices that an objective's name lists."""
_PART = re.compile(r"(\d{1,18})(?:-(\d{1,18}))?(?::([^,]+))?")


@dataclass(frozen=True, eq=False)
class InVertices:
    """How far observations are from some vertices: not at all in one of them, infinitely far elsewhere."""

    graph: MemoryGraph
    weights: Weights
    wanted: Bools

    def __call__(self, observations: Float32s) -> Float64s:
        return self.of(self.graph.nearest_vertices(embed(self.weights, observations)))

    def of(self, labels: Int32s) -> Float64s:
        """Say the same of observations whose vertices are known."""
        return np.where(self.wanted[labels], 0.0, np.inf)


@dataclass(frozen=True, eq=False)
class PaidInVertices:
    """What a step pays by the vertex that it ends in."""

    graph: MemoryGraph
    weights: Weights
    pay: Float64s

    def __call__(self, episodes: Episodes) -> Float64s:
        arrivals = episodes.observations[episodes.step_observation + 1]
        return self.of(self.graph.nearest_vertices(embed(self.weights, arrivals)))

    def of(self, labels: Int32s) -> Float64s:
        """Say what steps pay whose last vertices are known."""
        pay: Float64s = self.pay[labels]
        return pay


@checked
def in_vertices(graph: MemoryGraph, weights: Weights, vertices: Sequence[int] | Int32s) -> Objective:
    """Want to be in one of these vertices of a graph; `weights` are those of the networks it was built with."""
    wanted = np.zeros(graph.n_vertices, bool)
    wanted[_checked(graph, vertices)] = True
    runs = _runs(np.flatnonzero(wanted))
    listed = ", ".join(runs[:NAMED]) + (f" and {len(runs) - NAMED} more" if len(runs) > NAMED else "")
    name = f"one of the vertices {listed}" if wanted.sum() > 1 else f"the vertex {listed}"
    return Objective(name, InVertices(graph, weights, wanted))


@checked
def paid_in_vertices(graph: MemoryGraph, weights: Weights, pay: Mapping[int, float]) -> Objective:
    """Want what each step into these vertices pays; `weights` are those of the networks the graph was built with."""
    found, numbers = np.zeros(graph.n_vertices), np.array(list(pay.values()), np.float64)
    found[_checked(graph, list(pay))] = numbers
    if not np.isfinite(numbers).all():
        raise VMGError(f"What a step into a vertex pays is a finite number, not {numbers[~np.isfinite(numbers)][0]}.")
    name = f"what steps into {len(pay):,} {'vertex' if len(pay) == 1 else 'vertices'} pay"
    return Objective(name, rewards=PaidInVertices(graph, weights, found))


def vertices_in_words(vertices: Sequence[int] | Int32s, pay: str = "") -> str:
    """Return vertices in words, those in a row as a range: "vertices=3-5,9"; `pay` is added to each part."""
    return WORD + ",".join(f"{run}{pay}" for run in _runs(np.unique(np.asarray(vertices, np.int64))))


def read_vertices(text: str, graph: MemoryGraph) -> Int32s:
    """Read "vertices=3-5,9", vertices of this graph."""
    return np.concatenate([np.arange(first, last + 1, dtype=np.int32) for first, last, _ in _parts(text, graph)])


def read_pay(text: str, graph: MemoryGraph) -> dict[int, float]:
    """Read "vertices=3-5:1,9:-0.5": what a step into each of these vertices of a graph pays."""
    found: dict[int, float] = {}
    for first, last, pay in _parts(text, graph):
        try:
            found |= dict.fromkeys(range(first, last + 1), float(pay))
        except ValueError as error:
            raise VMGError(f"Say what a step into each vertex pays, {WORD}3-5:1,9:-0.5, not {pay!r}.") from error
    return found


def _parts(text: str, graph: MemoryGraph) -> Iterable[tuple[int, int, str]]:
    for part in text.removeprefix(WORD).split(","):
        match = _PART.fullmatch(part.strip())
        if match is None or not int(match[1]) <= (last := int(match[2] or match[1])) < graph.n_vertices:
            raise VMGError(
                f"{part!r} names no vertices: write their numbers, 0 to {graph.n_vertices - 1}, and ranges of them, "
                f"{WORD}3-5,9."
            )
        yield int(match[1]), last, match[3] or ""


def _runs(vertices: Int32s | Int64s) -> list[str]:
    """Vertices in order, those in a row as a range."""
    if not len(vertices):
        return []
    parts = np.split(vertices, np.flatnonzero(np.diff(vertices) != 1) + 1)
    return [str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts]


def _checked(graph: MemoryGraph, vertices: Sequence[int] | Int32s) -> Int32s:
    fits = isinstance(vertices, np.ndarray) or problem_of(Sequence[int], vertices) == ""
    numbers = np.asarray(vertices if fits else ())
    whole = numbers.ndim == 1 and numbers.size and np.issubdtype(numbers.dtype, np.integer)
    if not whole or not ((numbers >= 0) & (numbers < graph.n_vertices)).all():
        raise VMGError(f"Name one vertex or more, each a whole number from 0 to {graph.n_vertices - 1}.")
    return numbers.astype(np.int32)
