"""Costs as whole numbers: sums of them are exact, so that paths that cost the same are found to, on every machine."""

from fractions import Fraction
from math import isqrt, lcm

import numpy as np

from vmg.base.types import Float64s, Int64s

SIMPLE = 2**24
"""Denominators up to this are looked for."""
FINE = 48
"""Bits for the largest cost where there is no common denominator."""
EDGE = 2**10
"""What an edge costs by itself there, in units of rounding: of paths that cost the same but for it, fewer edges win."""

NOISE = 1e-12
"""Rewards that differ by no more, in proportion to the largest, are equal: sums and means are rounded."""


def spread(rewards: Float64s) -> float:
    """How far apart rewards are; 0 where they differ by rounding alone."""
    apart = float(np.ptp(rewards))
    return apart if apart > NOISE * float(np.abs(rewards).max()) else 0.0


def in_whole_numbers(parts: Float64s, noise: float, longest: int, unit: float = 1.0) -> Int64s:
    """Return costs in proportion to `parts`, which lie in [0, 1] and are off by `noise`; paths have `longest` edges.

    Rewards are mostly fractions of small whole numbers: means of a few. Three edges of a third must cost what one of 1
    does, so costs become multiples of their common denominator, of the rewards themselves (parts times `unit`) or else
    of the parts. Where there is none, they are rounded.
    """
    bits = min(FINE, 61 - longest.bit_length())
    noise = max(noise, 2.0**-50)
    amounts, off = parts * unit, 2 * noise * unit
    simple = isqrt(int(0.1 / off)) if off < 0.1 else 0
    if shared := _common_denominator(amounts, off, min(2.0**bits / max(unit, 1.0), 0.1 / off), simple):
        return np.rint(amounts * shared).astype(np.int64)
    denominator = _common_denominator(parts, noise, min(2.0**bits, 0.1 / noise), SIMPLE)
    by_itself = 0.0 if denominator else np.rint(EDGE * max(1.0, noise * 2.0**bits))
    costs: Int64s = (np.rint(parts * (denominator or 2.0**bits)) + by_itself).astype(np.int64)
    return costs


def _common_denominator(parts: Float64s, noise: float, most: float, simple_up_to: int) -> int:
    """The least number that makes all parts whole, but for their noise; 0 where it is more than `most`."""
    denominator = 1
    if most < 1:
        return 0
    while len(parts):
        multiples = parts * denominator
        parts = parts[np.abs(multiples - np.rint(multiples)) > noise * denominator]
        if len(parts):
            simple = Fraction(float(parts[0])).limit_denominator(simple_up_to)
            denominator = lcm(denominator, simple.denominator)
            # Half the noise: the product above is rounded, too, and this part must not come back.
            if abs(float(simple) - parts[0]) > noise / 2 or denominator > most:
                return 0
    return denominator
