"""The graph: vertices that are merged states, and a directed edge wherever a recorded step joins two of them."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from vmg.data.episodes import Episodes
from vmg.errors import VMGError
from vmg.graph.merging import Labelling, Merging, MergingKind, merge_by_kmeans, merge_greedily
from vmg.graph.searching import Search
from vmg.types import Float32s, Float64s, Int32s, Int64s


@dataclass(frozen=True, eq=False)
class Recordings:
    """Every recorded observation, and where it lies in the metric space."""

    observations: Float32s
    features: Float32s


@dataclass(frozen=True, eq=False)
class MemoryGraph:
    """Vertices, edges in compressed rows (CSR), and where every recorded observation and step lies.

    The edges out of vertex j are `first_edge[j] : first_edge[j+1]`, in order of the vertex they lead to (`heads`).
    A step lies on an edge or inside a vertex; its *slot* is the edge, or `n_edges` + the vertex.
    """

    features: Float32s
    """Where each vertex lies in the metric space."""
    states: Float32s
    """A recorded observation for each vertex: what the action translator is given as a goal."""
    rows: Int32s
    """The row of the data each vertex's state comes from."""
    first_edge: Int32s
    heads: Int32s
    counts: Int32s
    """Steps in each slot: on each edge, then inside each vertex."""
    labels: Int32s
    """The vertex of every recorded observation."""
    slots: Int32s
    """The slot of every recorded step."""
    lengths: Int64s
    """Steps of each recorded episode."""
    radius: float
    recordings: Recordings | None = None
    """What paths along recordings need; None where it was not kept."""

    @property
    def n_vertices(self) -> int:
        return len(self.features)

    @property
    def n_edges(self) -> int:
        return len(self.heads)

    @cached_property
    def tails(self) -> Int32s:
        """The vertex each edge leaves."""
        return np.repeat(np.arange(self.n_vertices, dtype=np.int32), np.diff(self.first_edge))

    @cached_property
    def arrivals(self) -> Int64s:
        """The recorded observation each recorded step arrives at."""
        return np.arange(1, len(self.slots) + 1) + np.repeat(np.arange(len(self.lengths)), self.lengths)

    @cached_property
    def leaving(self) -> Int32s:
        """The slot of the step that leaves each recorded observation; below 0 where its recording ends."""
        slots = np.full(len(self.labels), -1, np.int32)
        slots[self.arrivals - 1] = self.slots
        return slots

    @cached_property
    def incoming(self) -> tuple[Int64s, Int64s]:
        """Edges by the vertex they lead to: (first of each vertex, edge numbers)."""
        first = np.concatenate([[0], np.cumsum(np.bincount(self.heads, minlength=self.n_vertices))])
        return first, np.argsort(self.heads, kind="stable")

    @cached_property
    def by_slot(self) -> tuple[Int64s, Int64s]:
        """Recorded steps by their slot: (first of each slot, step numbers)."""
        first = np.concatenate([[0], np.cumsum(self.counts, dtype=np.int64)])
        return first, np.argsort(self.slots, kind="stable")

    @cached_property
    def members(self) -> tuple[Int64s, Int64s]:
        """Recorded observations by their vertex: (first of each vertex, rows of the data)."""
        first = np.concatenate([[0], np.cumsum(np.bincount(self.labels, minlength=self.n_vertices))])
        return first, np.argsort(self.labels, kind="stable")

    @property
    def recorded(self) -> Recordings:
        """The recordings, or a sentence that says they were not kept."""
        if self.recordings is None:
            raise VMGError(
                "Paths along recordings need a graph that keeps them: build it again with `recordings` "
                "(`vmg build RUN --graph.recordings`)."
            )
        return self.recordings

    @cached_property
    def step_length(self) -> float:
        """Mean length of a recorded step in the metric space; 1 where nothing moves."""
        recorded, arrivals = self.recorded.features, self.arrivals
        lengths = np.linalg.norm(recorded[arrivals] - recorded[arrivals - 1], axis=1)
        return float(lengths.mean(dtype=np.float64)) if lengths.any() else 1.0

    @cached_property
    def strays(self) -> Float64s:
        """How far each recorded observation lies from its vertex, in recorded steps of mean length."""
        gaps: Float32s = np.linalg.norm(self.recorded.features - self.features[self.labels], axis=1) / self.step_length
        return gaps.astype(np.float64)

    @cached_property
    def _search(self) -> Search:
        return Search(self.features)

    def nearest(self, features: Float32s) -> tuple[Int32s, Float32s]:
        """Return index of and distance to the nearest vertex of each point; exactly the labels, for recorded ones."""
        vertices = self.nearest_vertices(features)
        return vertices, self.distances(features, vertices)

    def nearest_vertices(self, features: Float32s) -> Int32s:
        """Return the nearest vertex of each point alone."""
        return self._search.nearest(features)

    def distances(self, features: Float32s, vertices: Int32s) -> Float32s:
        """Return how far each point is from its vertex."""
        apart = np.subtract(features, self.features[vertices], dtype=np.float64)
        distances: Float32s = np.linalg.norm(apart, axis=1).astype(np.float32)
        return distances


def build(
    features: Float32s,
    episodes: Episodes,
    radius: float,
    *,
    labelling: Labelling = "nearest",
    merging: MergingKind = "greedy",
    clusters: int | None = None,
    seed: int = 0,
    recordings: bool = False,
) -> MemoryGraph:
    """Merge and connect: the graph of Sec. 3.2. `features` holds one row for every observation.

    Greedy merging needs the radius alone; k-means the number of `clusters` (None: as many as greedy merging finds) and
    a seed. `recordings` keeps every observation with the graph, so that paths can follow recordings.
    """
    if merging not in ("greedy", "kmeans"):
        raise VMGError(f"The merging must be 'greedy' or 'kmeans', not {merging!r}.")
    if merging == "greedy" and clusters is not None:
        raise VMGError("Greedy merging finds its number of vertices itself: leave out the clusters, or use 'kmeans'.")
    if clusters is None:
        merged = merge_greedily(features, radius, labelling=labelling)
        clusters = len(merged.rows)
    if merging == "kmeans":
        merged = merge_by_kmeans(features, clusters, seed=seed)
    graph = connect(merged, episodes)
    if not recordings:
        return graph
    return replace(graph, recordings=Recordings(episodes.observations, np.asarray(features, np.float32)))


def connect(merging: Merging, episodes: Episodes) -> MemoryGraph:
    """Join merged states by the steps between them: edge j1→j2, j1≠j2, where some step goes from j1 to j2."""
    from vmg.graph.kernels.edges import join_steps

    labels, n = merging.labels, len(merging.features)
    if len(labels) != len(episodes.observations):
        raise VMGError(
            f"There are {len(labels)} features but {len(episodes.observations)} observations in {episodes.source}: "
            "embed every observation of these episodes, the last of each episode too."
        )
    rows = episodes.step_observation
    first_edge, heads, counts, slots = join_steps(labels[rows], labels[rows + 1], n)
    return MemoryGraph(
        features=merging.features,
        states=episodes.observations[merging.rows],
        rows=merging.rows,
        first_edge=first_edge,
        heads=heads,
        counts=counts,
        labels=labels,
        slots=slots,
        lengths=episodes.lengths,
        radius=merging.radius,
    )
