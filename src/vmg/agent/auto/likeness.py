"""Whether recordings resemble one another: only then is one of them worth following from a state of another."""

import numpy as np

from vmg.base.lazy import LazyModule
from vmg.base.types import Float64s
from vmg.data.episodes import Episodes

spatial = LazyModule("scipy.spatial")

LOOKED_AT = 50_000
"""Steps of the known episodes compared with."""
ASKED = 2_000
"""Observations held out that are asked about."""


def steps_apart(known: Episodes, held_out: Episodes, spread: Float64s) -> float:
    """How far the nearest other recording is from an observation held out (median), in recorded steps of mean length.

    Columns count in units of their spread, and those without any not at all.
    """
    rng = np.random.default_rng(0)
    varying = spread > 0
    rows = rng.permutation(known.step_observation)[:LOOKED_AT]
    here, there = (known.observations[each][:, varying] / spread[varying] for each in (rows, rows + 1))
    step = float(np.linalg.norm(there - here, axis=1).mean())
    tree = spatial.cKDTree(here)
    asked = held_out.observations[rng.permutation(len(held_out.observations))[:ASKED]][:, varying] / spread[varying]
    return float(np.median(tree.query(asked)[0])) / (step or 1.0)
