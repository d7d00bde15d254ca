"""Observations as they would be if parts of what is wanted were done, or not done yet.

A state that no recording shows can still be acted in, if the recordings differ from it only in what nobody will touch:
there the columns of a part that is done already are given the numbers they had before.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from vmg.base.types import Bools, Float32s, Float64s

MOST_PARTS = 8
"""Up to so many parts every order is weighed; of more, always the part that is done soonest comes next."""
IMAGINED = 100
"""What it costs, in steps, to imagine a part as not done."""
MOVED = 0.1
"""A part has been moved in a recording if its distance has changed by this share of what it was at the beginning."""


def bits(mask: int) -> Iterator[int]:
    """The parts in a set, which is the bits of a number."""
    return (part for part in range(mask.bit_length()) if mask >> part & 1)


def subsets(mask: int, size: int) -> Iterator[int]:
    """The sets of so many of these parts."""
    return (sum(1 << part for part in chosen) for chosen in combinations(bits(mask), size))


def overwritten(
    observations: Float32s, columns: Sequence[tuple[int, ...] | None], mask: int, sources: Sequence[Float32s]
) -> Float32s:
    """Give the columns of these parts the numbers that they have in other observations, one source for each part."""
    result = np.array(observations, np.float32)
    for part in bits(mask):
        chosen = list(columns[part] or ())
        result[..., chosen] = sources[part][..., chosen]
    return result


def own_columns(columns: Sequence[tuple[int, ...] | None]) -> int:
    """The parts whose columns are known and belong to no other part."""
    if any(each is None for each in columns):
        return 0
    counts = Counter(column for each in columns for column in set(each or ()))
    return sum(1 << i for i, each in enumerate(columns) if each and all(counts[column] == 1 for column in each))


def moved(distances: Float64s, begun: Float64s) -> Bools:
    """Say which parts have been moved since the beginning of their recordings."""
    with np.errstate(invalid="ignore"):
        slightly = np.isfinite(begun) & (np.abs(distances - begun) <= MOVED * begun)
        still: Bools = (distances == begun) | slightly
    return ~still
