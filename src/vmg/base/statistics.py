"""Intervals: how sure a mean is."""

from collections.abc import Sequence

import numpy as np

RESAMPLES = 10_000


def bootstrap_interval(
    models: Sequence[Sequence[float]], *, confidence: float = 0.95, seed: int = 0
) -> tuple[float, float]:
    """Percentile bootstrap interval of the mean over models of their mean over episodes.

    Models are drawn with replacement, then episodes of each drawn model: with one model the interval speaks of episodes
    alone. The same for the same values.
    """
    rng = np.random.default_rng(seed)
    means = [np.asarray(values)[rng.integers(0, len(values), (RESAMPLES, len(values)))].mean(1) for values in models]
    drawn = rng.integers(0, len(models), (RESAMPLES, len(models)))
    resampled = np.stack(means, axis=1)[np.arange(RESAMPLES)[:, None], drawn].mean(1)
    low, high = np.quantile(resampled, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)
