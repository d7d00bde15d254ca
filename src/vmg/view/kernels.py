"""Compiled: how many edges pass through each pixel of a picture. Imported where it is used and not before."""

from math import ceil, floor
from typing import Any

import numba


@numba.njit(cache=True, nogil=True)
def add_lines(counts: Any, starts: Any, ends: Any) -> None:
    """Add the length of every line to the pixels it passes, each step shared by the two pixels it lies between.

    Places are (column, row) in pixels, at least one pixel away from the border.
    """
    for line in range(len(starts)):
        x, y = starts[line]
        dx, dy = ends[line, 0] - x, ends[line, 1] - y
        longer = max(abs(dx), abs(dy))
        steps = max(ceil(longer), 1)
        for step in range(steps):
            along, part = (step + 0.5) / steps, longer / steps
            px, py = x + along * dx - 0.5, y + along * dy - 0.5
            if abs(dx) >= abs(dy):
                row, column = floor(py), floor(px + 0.5)
                counts[row, column] += part * (1 - (py - row))
                counts[row + 1, column] += part * (py - row)
            else:
                row, column = floor(py + 0.5), floor(px)
                counts[row, column] += part * (1 - (px - column))
                counts[row, column + 1] += part * (px - column)
