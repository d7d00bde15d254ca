"""Intervals: how sure a mean is."""

from collections.abc import Sequence

import numpy as np

RESAMPLES = 10_000


def bootstrap_interval(values: Sequence[float], *, confidence: float = 0.95, seed: int = 0) -> tuple[float, float]:
    """Percentile bootstrap interval of the mean; the same for the same values."""
    sample = np.asarray(values, dtype=np.float64)
    drawn = np.random.default_rng(seed).integers(0, len(sample), (RESAMPLES, len(sample)))
    low, high = np.quantile(sample[drawn].mean(1), [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)
