"""Random features, episodes and graphs for the property tests."""

import numpy as np
from hypothesis import strategies as st

from vmg.data.episodes import Episodes
from vmg.graph import Merging, connect


@st.composite
def features(draw, max_states=3000):
    """Points in 1 to 20 dimensions: scattered, on a lattice (ties everywhere), or with every point repeated."""
    n = draw(st.integers(1, max_states))
    dimensions = draw(st.sampled_from([1, 2, 3, 5, 10, 20]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["scattered", "walk", "lattice", "repeated"]))
    if kind == "lattice":
        points = rng.integers(-3, 4, (n, dimensions)) * 0.5
    elif kind == "walk":
        points = np.cumsum(rng.normal(size=(n, dimensions)), 0) * 0.3
    else:
        points = rng.normal(size=(n, dimensions))
    if kind == "repeated":
        points = points[rng.integers(0, max(1, n // 3), n)]
    return points.astype(np.float32)


@st.composite
def labelled_episodes(draw, max_vertices=7, max_steps=40):
    """Episodes whose observations already carry their vertex, and rewards in quarters (sums are exact)."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    lengths = draw(st.lists(st.integers(1, 12), min_size=1, max_size=max(1, max_steps // 8)))
    n_rows, n_steps = sum(lengths) + len(lengths), sum(lengths)
    labels = rng.integers(0, draw(st.integers(1, max_vertices)), n_rows)
    low = draw(st.sampled_from([-4, 0]))
    episodes = Episodes(
        observations=labels[:, None] + np.zeros((n_rows, 2)),
        actions=np.zeros((n_steps, 1)),
        rewards=rng.integers(low, 5, n_steps) / 4 * rng.integers(0, 2, n_steps),
        lengths=lengths,
        terminated=np.zeros(len(lengths), bool),
        truncated=np.ones(len(lengths), bool),
    )
    vertices, rows, labels = np.unique(labels, return_index=True, return_inverse=True)
    positions = vertices[:, None].astype(np.float32)
    return connect(Merging(positions, rows.astype(np.int32), labels.astype(np.int32), 0.1), episodes), episodes


@st.composite
def absorbing_sets(draw, n):
    """No goal, or a few."""
    mask = np.zeros(n, bool)
    mask[draw(st.lists(st.integers(0, n - 1), max_size=2))] = True
    return mask
