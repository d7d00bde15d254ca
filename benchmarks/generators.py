"""Named, seeded data that look like recordings: `revisiting_walks`, `write_walks`, `kitchen_like`, `ant_like`,
`recorded_graph`.

`revisiting_walks` are smooth random walks through a room of four dimensions, laid without stretching into as many
dimensions as asked for, with a little noise in all of them. The room grows with the number of states, so that walks
come back to where others were about equally often at every size: at radius 1, about 0.18 vertices per state in 10
dimensions.
"""

from pathlib import Path

import numpy as np

from vmg.base.types import Float32s, Float64s, Int64s
from vmg.data.episodes import Episodes
from vmg.graph import MemoryGraph

RADIUS = 1.0
EPISODE = 201  # observations in one walk: 200 steps
_ROOM_DIMENSIONS = 4
_PERSISTENCE = 0.9
_BEND = 6.0
_WALKS_AT_ONCE = 5_000
_NOISE = 0.15  # length of the noise, however many dimensions share it


def revisiting_walks(n_states: int, dimensions: int, seed: int, *, room: float = 3.5, stride: float = 0.35) -> Float32s:
    """Return the states of as many walks as it takes, one after another; `room` is the volume per state."""
    rng = np.random.default_rng(seed)
    places = _walks(rng, -(-n_states // EPISODE), (n_states * room) ** (1 / _ROOM_DIMENSIONS), stride)
    directions = _directions(rng, dimensions)
    return _laid_out(rng, places.reshape(-1, _ROOM_DIMENSIONS)[:n_states], directions, dimensions)


def write_walks(path: Path, n_walks: int, dimensions: int, seed: int, *, room: float = 0.035) -> None:
    """Write revisiting walks to a .npy file, many walks at a time, so that they need not fit into memory.

    They go through a small room: at radius 1 about 0.01 vertices per state in 10 dimensions.
    """
    rng = np.random.default_rng(seed)
    side, directions = (n_walks * EPISODE * room) ** (1 / _ROOM_DIMENSIONS), _directions(rng, dimensions)
    shape = (n_walks * EPISODE, dimensions)
    file = np.lib.format.open_memmap(path, "w+", np.float32, shape)
    for first in range(0, n_walks, _WALKS_AT_ONCE):
        places = _walks(rng, min(_WALKS_AT_ONCE, n_walks - first), side, 0.35)
        states = _laid_out(rng, places.reshape(-1, _ROOM_DIMENSIONS), directions, dimensions)
        file[first * EPISODE : first * EPISODE + len(states)] = states
    file.flush()


def scattered(n_states: int, dimensions: int, seed: int) -> Float32s:
    """Return points without any structure: the worst case for a search tree."""
    return np.random.default_rng(seed).normal(size=(n_states, dimensions)).astype(np.float32)


def kitchen_like(n_steps: int, seed: int) -> Episodes:
    """Return walks of 200 steps with 59 numbers per observation, 9 per action, and a reward at one step in 200.

    They are longer strides through a smaller room: at a radius that leaves one vertex per 3.6 steps, seven steps in ten
    lead from one vertex to another, and a vertex has 2.4 edges out.
    """
    return _recorded(n_steps, 59, 9, seed, "kitchen_like")


def ant_like(n_steps: int, seed: int) -> Episodes:
    """Return such walks with the sizes of an ant: 29 numbers per observation, 8 per action."""
    return _recorded(n_steps, 29, 8, seed, "ant_like")


def _recorded(n_steps: int, observation_size: int, action_size: int, seed: int, name: str) -> Episodes:
    rng = np.random.default_rng(seed)
    n_episodes = max(1, n_steps // (EPISODE - 1))
    observations = revisiting_walks(n_episodes * EPISODE, observation_size, seed, room=0.3, stride=0.7)
    n_steps = n_episodes * (EPISODE - 1)
    return Episodes(
        observations=observations,
        actions=rng.uniform(-1, 1, (n_steps, action_size)).astype(np.float32),
        rewards=sparse_rewards(n_steps, seed),
        lengths=np.full(n_episodes, EPISODE - 1),
        terminated=np.zeros(n_episodes, bool),
        truncated=np.ones(n_episodes, bool),
        source=name,
    )


def sparse_rewards(n_steps: int, seed: int) -> Float64s:
    """Return 1 at one step in 200 and 0 at the others; another seed is another task."""
    return (np.random.default_rng(seed).random(n_steps) < 1 / 200).astype(np.float64)


def recorded_graph(n_vertices: int, n_edges: int, seed: int, *, dead_ends: bool = True) -> MemoryGraph:
    """Return a graph whose edges lead, as recorded ones do, mostly to vertices made soon after.

    Where there are dead ends, one vertex in 50 is one. Only the edges mean something: the vertices lie nowhere and no
    step is recorded.
    """
    edges = _edges(np.random.default_rng(seed), n_vertices, n_edges, dead_ends)
    nothing = np.zeros((n_vertices, 1), np.float32)
    return MemoryGraph(
        features=nothing,
        states=nothing,
        rows=np.arange(n_vertices, dtype=np.int32),
        first_edge=np.searchsorted(edges, np.arange(n_vertices + 1) * n_vertices).astype(np.int32),
        heads=(edges % n_vertices).astype(np.int32),
        counts=np.ones(n_edges + n_vertices, np.int32),
        labels=np.zeros(0, np.int32),
        slots=np.zeros(0, np.int32),
        lengths=np.zeros(0, np.int64),
        radius=RADIUS,
    )


def _directions(rng: np.random.Generator, dimensions: int) -> Float64s:
    directions: Float64s = rng.normal(size=(_ROOM_DIMENSIONS, -(-dimensions // 2)))
    return directions / np.linalg.norm(directions, axis=1, keepdims=True)


def _laid_out(rng: np.random.Generator, places: Float64s, directions: Float64s, dimensions: int) -> Float32s:
    """Lay places of the room into more dimensions without stretching, and add a little noise."""
    turns = places @ directions / _BEND
    states = _BEND * np.concatenate([np.cos(turns), np.sin(turns)], axis=1)[:, :dimensions]
    return (states + rng.normal(0, _NOISE / np.sqrt(dimensions), states.shape)).astype(np.float32)


def _walks(rng: np.random.Generator, n_walks: int, side: float, stride: float) -> Float64s:
    """Return places (walk, time, dimension) in a room from whose walls walkers turn back."""
    place = rng.uniform(0, side, (n_walks, _ROOM_DIMENSIONS))
    speed = rng.normal(size=place.shape)
    places = np.empty((n_walks, EPISODE, _ROOM_DIMENSIONS))
    for t in range(EPISODE):
        places[:, t] = place
        speed = _PERSISTENCE * speed + np.sqrt(1 - _PERSISTENCE**2) * rng.normal(size=speed.shape)
        place = place + stride / np.sqrt(_ROOM_DIMENSIONS) * speed
        speed = np.where((place < 0) | (place > side), -speed, speed)
        place = np.clip(place, 0, side)
    return places


def _edges(rng: np.random.Generator, n_vertices: int, n_edges: int, dead_ends: bool) -> Int64s:
    """Return exactly `n_edges` different edges as tail · n_vertices + head, sorted."""
    edges = np.zeros(0, np.int64)
    while len(edges) < n_edges:
        tails = rng.integers(0, n_vertices, 2 * n_edges)
        near = rng.geometric(0.05, 2 * n_edges) * rng.choice([-1, 1], 2 * n_edges, p=[0.2, 0.8])
        heads = np.where(rng.random(2 * n_edges) < 0.9, tails + near, rng.integers(0, n_vertices, 2 * n_edges))
        kept = (heads >= 0) & (heads < n_vertices) & (heads != tails) & ((tails % 50 > 0) | (not dead_ends))
        edges = np.union1d(edges, tails[kept] * n_vertices + heads[kept])
    return np.sort(rng.choice(edges, n_edges, replace=False))
