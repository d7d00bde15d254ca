"""The graph: vertices that are merged states, and directed edges, one wherever a recorded step joins two of them."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from vmg.base.arguments import checked, checked_number, numbers_of
from vmg.base.errors import VMGError
from vmg.base.settings import Bounds
from vmg.base.types import Float32s, Float64s, Int32s, Int64s
from vmg.data.episodes import Episodes
from vmg.graph.edges import EDGE_SOURCES, Edge, Unrecorded
from vmg.graph.merging import Merging, merge_by_kmeans, merge_greedily
from vmg.graph.nearest import VertexIndex
from vmg.graph.risk import NO_FALLS, fall_shares, slow_shares
from vmg.graph.settings import GraphConfig, Labelling, MergingKind
from vmg.graph.sight import Sight


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
    """A recorded observation for each vertex: what the low-level policy is given as a subgoal."""
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
    """What routes along recordings need; None where it was not kept."""
    goal_columns: tuple[int, ...] = ()
    """The columns of an observation in which goals can be looked up without the data."""
    places: Float32s | None = None
    """Every recorded observation in the goal columns; None where there are none."""
    observations: Float32s | None = None
    """Every recorded observation, where there are goal columns and no recordings: a state that fulfils a goal in some
    columns is a whole one."""
    unrecorded: Unrecorded | None = None
    """Edges that nobody recorded; None where all were."""
    unhandled: Int32s = field(default_factory=lambda: NO_FALLS)
    """Columns that nobody handles, though they stand still in most steps."""
    falls: Int32s = field(default_factory=lambda: NO_FALLS)
    """Rows of the data in which a body lies, or a recording was ended without success, as far as that is known."""

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
    def edge_prices(self) -> Float64s:
        """What is taken off the reward of each edge: 0 where it was recorded."""
        prices = np.zeros(self.n_edges)
        if self.unrecorded:
            prices[self.unrecorded.edges] = self.unrecorded.prices
        return prices

    @cached_property
    def edge_steps(self) -> Float64s:
        """Environment steps each edge is expected to need: as recorded from entering its tail to leaving it."""
        leaving = np.bincount(self.tails, self.counts[: self.n_edges], self.n_vertices)
        inside = self.counts[self.n_edges : self.n_edges + self.n_vertices]
        steps: Float64s = np.where(leaving > 0, (leaving + inside) / np.maximum(leaving, 1), 0.0)[self.tails]
        if self.unrecorded:
            steps[self.unrecorded.edges] = self.unrecorded.steps
        return steps

    def edge_number(self, tail: int, head: int) -> int:
        """Return the number of the edge between two vertices, or a sentence that says there is none."""
        tail, head = (checked_number(each, self.n_vertices, "A vertex") for each in (tail, head))
        first, end = self.first_edge[tail], self.first_edge[tail + 1]
        edge = int(first + np.searchsorted(self.heads[first:end], head))
        if edge == end or self.heads[edge] != head:
            raise VMGError(f"There is no edge from vertex {tail} to vertex {head}.")
        return edge

    def edge(self, number: int) -> Edge:
        """Return all that is known of an edge but its reward, which belongs to a plan."""
        number = checked_number(number, self.n_edges, "An edge")
        kind = "recorded"
        if self.unrecorded and number in self.unrecorded.edges:
            which = int(np.searchsorted(self.unrecorded.edges, number))
            kind = self.unrecorded.sources[self.unrecorded.kinds[which]]
        return Edge(
            tail=int(self.tails[number]),
            head=int(self.heads[number]),
            kind=kind,
            steps=float(self.edge_steps[number]),
            evidence=int(self.counts[number]),
            price=float(self.edge_prices[number]),
        )

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
    def kept_observations(self) -> Float32s | None:
        """Every recorded observation; None where they were not kept."""
        return self.recordings.observations if self.recordings else self.observations

    @property
    def recorded(self) -> Recordings:
        """The recordings, or a sentence that says they were not kept."""
        if self.recordings is None:
            raise VMGError(
                "Routes along recordings need a graph that keeps them: build it again with `recordings` "
                "(`vmg build RUN --graph.recordings`)."
            )
        return self.recordings

    @cached_property
    def step_length(self) -> float:
        """Mean length of a recorded step in the metric space; 1 where nothing moves."""
        recorded, arrivals = self.recorded.features, self.arrivals
        lengths = _lengths(recorded[arrivals] - recorded[arrivals - 1])
        return float(lengths.mean()) if lengths.any() else 1.0

    @cached_property
    def offsets(self) -> Float64s:
        """Distance of each recorded observation from its vertex, in recorded steps of mean length."""
        return _lengths(self.recorded.features - self.features[self.labels]) / self.step_length

    @cached_property
    def sight(self) -> Sight:
        """What recorded observations are like, number by number."""
        return Sight.of(self)

    @cached_property
    def fall_shares(self) -> Float64s:
        """The share of the recorded steps in each slot that soon led to a fall."""
        return fall_shares(self)

    @cached_property
    def slow_shares(self) -> Float64s:
        """How much slower than usual the recorded steps in each slot are, from 0 to 1."""
        return slow_shares(self)

    @cached_property
    def index(self) -> VertexIndex:
        """What finds the vertices near a point."""
        return VertexIndex(self.features)

    def _points(self, features: Float32s) -> Float32s:
        """Return points of the metric space, or say that these are none."""
        points = features
        if not isinstance(features, np.ndarray) or features.dtype != np.float32:
            points = numbers_of(features, "Features", np.float32)
        if points.ndim != 2 or points.shape[1] != self.features.shape[1] or not np.isfinite(points).all():
            raise VMGError(
                f"A point of this metric space is {self.features.shape[1]} finite numbers, one point per row; the "
                f"shape given is {points.shape}."
            )
        return points

    def nearest(self, features: Float32s) -> tuple[Int32s, Float32s]:
        """Return index of and distance to the nearest vertex of each point; exactly the labels, for recorded ones."""
        vertices = self.nearest_vertices(features)
        return vertices, self.distances(features, vertices)

    def nearest_vertices(self, features: Float32s) -> Int32s:
        """Return the nearest vertex of each point alone."""
        return self.index.nearest(self._points(features))

    def distances(self, features: Float32s, vertices: Int32s) -> Float32s:
        """Return how far each point is from its vertex."""
        features, vertices = self._points(features), numbers_of(vertices, "Vertices", None)
        if (
            vertices.shape != (len(features),)
            or vertices.dtype.kind not in "iu"
            or not _lie_in(vertices, self.n_vertices)
        ):
            raise VMGError(f"Each of {len(features)} points needs a vertex, 0 to {self.n_vertices - 1}.")
        apart = np.subtract(features, self.features[vertices], dtype=np.float64)
        distances: Float32s = np.linalg.norm(apart, axis=1).astype(np.float32)
        return distances


@checked
def build(
    features: Float32s,
    episodes: Episodes,
    radius: float,
    *,
    labelling: Labelling = "nearest",
    merging: MergingKind = "greedy",
    clusters: int | None = None,
    seed: Annotated[int, Bounds(0)] = 0,
    recordings: bool = False,
    edges: tuple[str, ...] = ("recorded",),
    goal_columns: tuple[int, ...] = (),
    unhandled: tuple[int, ...] = (),
    workers: Annotated[int, Bounds(1, 1024)] = 1,
) -> MemoryGraph:
    """Merge and connect: the graph of Sec. 3.2. `features` holds one row for every observation.

    Greedy merging needs the radius alone; k-means the number of `clusters` (None: as many as greedy merging finds) and
    a seed. `recordings` keeps every observation with the graph, so that routes can follow recordings; `goal_columns`
    keeps some of their columns, so that goals in them can be looked up; `unhandled` are columns that are no objects,
    though they stand still in most steps. `edges` names where edges come from. `workers` are cores that merge greedily
    side by side: the graph is the same, bit for bit.
    """
    settings = GraphConfig(
        radius=radius, labelling=labelling, merging=merging, clusters=clusters, recordings=recordings, edges=edges,
        goal_columns=goal_columns, unhandled=unhandled,
    )  # fmt: skip
    if clusters is None:
        merged = merge_greedily(features, radius, labelling=labelling, workers=workers)
        clusters = len(merged.rows)
    if merging == "kmeans":
        merged = merge_by_kmeans(features, clusters, seed=seed)
    graph = replace(connect(merged, episodes, settings.edges), unhandled=_numbers(unhandled, episodes))
    return keeping(graph, features, episodes, goal_columns, recordings=recordings)


def keeping(
    graph: MemoryGraph, features: Any, episodes: Episodes, goal_columns: tuple[int, ...], *, recordings: bool
) -> MemoryGraph:
    """Return the graph with what it is to keep of the episodes."""
    if goal_columns:
        graph = replace(graph, goal_columns=goal_columns, places=_columns(episodes, goal_columns))
    if not recordings:
        return replace(graph, observations=episodes.observations) if goal_columns else graph
    return replace(graph, recordings=Recordings(episodes.observations, np.asarray(features, np.float32)))


def _lie_in(indices: Int32s, n: int) -> bool:
    return not len(indices) or (indices.min() >= 0 and indices.max() < n)


def connect(merging: Merging, episodes: Episodes, sources: tuple[str, ...] = ("recorded",)) -> MemoryGraph:
    """Join merged states by the edges of these sources, one source after the other."""
    labels, n = merging.labels, len(merging.features)
    if len(labels) != len(episodes.observations):
        raise VMGError(
            f"There are {len(labels)} features but {len(episodes.observations)} observations in {episodes.source}: "
            "embed every observation of these episodes, the last of each episode too."
        )
    graph = MemoryGraph(
        features=merging.features,
        states=episodes.observations[merging.rows],
        rows=merging.rows,
        first_edge=np.zeros(n + 1, np.int32),
        heads=np.zeros(0, np.int32),
        counts=np.zeros(n, np.int32),
        labels=labels,
        slots=np.zeros(0, np.int32),
        lengths=episodes.lengths,
        radius=merging.radius,
    )
    for source in sources:
        graph = EDGE_SOURCES.find(source)(graph, episodes)
    return graph


def _lengths(vectors: Float32s) -> Float64s:
    """Their lengths, at any scale: squares of what float32 holds need float64."""
    squares = np.zeros(len(vectors))
    for column in vectors.T:
        squares += np.square(column, dtype=np.float64)
    return np.sqrt(squares)


def _numbers(columns: tuple[int, ...], episodes: Episodes) -> Int32s:
    if not all(0 <= column < episodes.observation_size for column in columns):
        raise VMGError(
            f"{episodes.source}: an observation has the columns 0 to {episodes.observation_size - 1}, but as unhandled "
            f"are named {list(columns)}."
        )
    return np.unique(np.array(columns, np.int32))


def _columns(episodes: Episodes, columns: tuple[int, ...]) -> Float32s:
    if not all(0 <= column < episodes.observation_size for column in columns):
        raise VMGError(
            f"{episodes.source}: an observation has the columns 0 to {episodes.observation_size - 1}, but goals are "
            f"named in {list(columns)}."
        )
    return episodes.observations[:, list(columns)]
