"""What a path rests on: what can be reached, in how many environment steps, and from which recorded episodes."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from vmg.base.types import Bools, Int32s
from vmg.graph import kernels
from vmg.graph.memory import MemoryGraph


@dataclass(frozen=True)
class Piece:
    """A stretch of one recorded episode that a path follows: steps `first` to `last` of it, both included."""

    episode: int | None
    """None: nobody recorded this piece, an edge of another kind."""
    first: int
    last: int
    kind: str = "recorded"

    def __str__(self) -> str:
        if self.episode is None:
            return f"an edge of the kind {self.kind!r}, about {self.last + 1} steps"
        steps = f"step {self.first}" if self.first == self.last else f"steps {self.first} to {self.last}"
        return f"episode {self.episode} ({steps})"


def reaching(graph: MemoryGraph, wanted: Bools) -> Bools:
    """Say from which vertices some wanted one can be reached."""
    first_in, edges_in = graph.incoming
    by_rank = np.argsort(~wanted, kind="stable")
    groups = np.maximum(np.arange(graph.n_vertices) - int(wanted.sum()) + 1, 0)
    targets = kernels.paths.best_reachable(first_in, graph.tails[edges_in], np.zeros_like(wanted), by_rank, groups)
    found: Bools = wanted[targets]
    return found


def reachable_from(graph: MemoryGraph, vertex: int) -> Bools:
    """Say which vertices can be reached from one, itself included."""
    return hops_from(graph, vertex) >= 0


def hops_from(graph: MemoryGraph, vertex: int) -> Int32s:
    """Count the edges on a shortest way from one vertex to each; below 0 where there is none."""
    hops = np.full(graph.n_vertices, -1, np.int32)
    last, n_hops = np.array([vertex]), 0
    while len(last):
        hops[last] = n_hops
        first, n_out = graph.first_edge[last], graph.first_edge[last + 1] - graph.first_edge[last]
        edges = np.repeat(first - np.cumsum(n_out) + n_out, n_out) + np.arange(n_out.sum())
        heads = graph.heads[edges]
        last, n_hops = np.unique(heads[hops[heads] < 0]), n_hops + 1
    return hops


def expected_steps(graph: MemoryGraph, path: list[int]) -> float:
    """Environment steps the recorded episodes took for such a path, edge by edge."""
    edges = [graph.edge_number(tail, head) for tail, head in pairwise(path)]
    return float(graph.edge_steps[edges].sum())


def stitched(graph: MemoryGraph, path: list[int]) -> list[Piece]:
    """Cover a path with recorded episodes, each followed for as long as it goes the same way.

    From each edge on, the episode that stays on the path longest is taken (the earliest on ties): the fewest pieces.
    """
    pieces: list[Piece] = []
    place = 0
    while place < len(path) - 1:
        edge = graph.edge_number(path[place], path[place + 1])
        runs = [_run_along(graph, path, place, step) for step in _steps_on(graph, edge)]
        if not runs:
            known = graph.edge(edge)
            pieces.append(Piece(None, 0, max(round(known.steps), 1) - 1, known.kind))
            place += 1
            continue
        edges, first, last = max(runs, key=lambda run: run[0])
        episode = int(np.searchsorted(np.cumsum(graph.lengths), first, side="right"))
        start = int(graph.lengths[:episode].sum())
        pieces.append(Piece(episode, first - start, last - start))
        place += edges
    return pieces


def followed(graph: MemoryGraph, rows: list[int]) -> list[Piece]:
    """Return the stretches of recordings that a way from observation to observation goes along."""
    firsts = np.cumsum(graph.lengths + 1) - (graph.lengths + 1)
    episodes = np.searchsorted(firsts, rows, side="right") - 1
    breaks = np.flatnonzero((np.diff(rows) != 1) | (np.diff(episodes) != 0)) + 1
    pieces = []
    for run, episode in zip(np.split(np.array(rows), breaks), episodes[np.r_[0, breaks]].tolist(), strict=True):
        if len(run) > 1:
            start = int(firsts[episode])
            pieces.append(Piece(episode, int(run[0]) - start, int(run[-1]) - start - 1))
    return pieces


def _steps_on(graph: MemoryGraph, edge: int) -> list[int]:
    """Recorded steps on an edge, in data order."""
    first, order = graph.by_slot
    return [int(step) for step in order[first[edge] : first[edge + 1]]]


def _run_along(graph: MemoryGraph, path: list[int], place: int, step: int) -> tuple[int, int, int]:
    """Follow the episode of a step that leaves path[place] along the path: (edges it stays, first step, last step)."""
    ends = np.cumsum(graph.lengths)
    end = int(ends[np.searchsorted(ends, step, side="right")])
    edges, here, last = 0, step, step
    while here < end and place + edges < len(path) - 1:
        arrived = graph.labels[graph.arrivals[here]]
        if arrived == path[place + edges + 1]:
            edges, last = edges + 1, here
        elif arrived != path[place + edges]:
            break
        here += 1
    return edges, step, last
