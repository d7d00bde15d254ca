"""The compiled count of edges per pixel equals its slow twin, and adds up."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vmg.view.kernels import add_lines


def slow_twin(shape, starts, ends):
    """Walk along every line in steps of a pixel, sharing each between the two pixels nearest across the line."""
    counts = np.zeros(shape)
    for start, end in zip(starts, ends, strict=True):
        way = end - start
        main = 0 if abs(way[0]) >= abs(way[1]) else 1
        steps = max(int(np.ceil(abs(way[main]))), 1)
        for t in (np.arange(steps) + 0.5) / steps:
            place = start + t * way
            pixel = np.floor(place).astype(int)
            across = place[1 - main] - 0.5
            pixel[1 - main] = np.floor(across)
            for beside, share in ((0, 1 - (across % 1)), (1, across % 1)):
                column, row = pixel + np.eye(2, dtype=int)[1 - main] * beside
                counts[row, column] += share * abs(way[main]) / steps
    return counts


@settings(deadline=None)  # the first call compiles
@given(st.integers(0, 10_000), st.integers(1, 20))
def test_it_equals_its_twin_and_adds_up_to_the_lines_lengths(seed, lines):
    starts, ends = np.random.default_rng(seed).uniform(2, 38, size=(2, lines, 2))
    counts = np.zeros((40, 40))
    add_lines(counts, starts, ends)
    assert np.allclose(counts, slow_twin(counts.shape, starts, ends))
    assert counts.sum() == pytest.approx(np.abs(ends - starts).max(1).sum())
