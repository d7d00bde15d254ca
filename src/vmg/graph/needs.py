"""How much memory a build needs, known before it begins."""

from dataclasses import dataclass

from vmg.base.memory import GB, check_memory, free_memory
from vmg.graph import kernels

FLOAT = 4
PROGRAM = 500_000_000
"""Bytes of the program itself, with what it compiles and imports."""


@dataclass(frozen=True)
class BuildMemory:
    """Bytes that each stage of a build takes at its most, the features included; recorded observations come on top."""

    merging: int
    edges: int
    planning: int

    @property
    def largest(self) -> int:
        """What the build takes as a whole: stages do not run at once."""
        return max(self.merging, self.edges, self.planning)

    @property
    def in_words(self) -> str:
        """What it takes, and what is free."""
        return f"{self.largest / GB:.1f} GB of memory at most ({free_memory() / GB:.1f} GB are free)"


def memory_to_build(n_rows: int, dimension: int, *, recordings: bool = False) -> BuildMemory:
    """Bound the memory of a graph of so many observations, whatever its number of vertices."""
    features = FLOAT * n_rows * dimension
    boxes = (
        4 * -(-n_rows // kernels.merging.LEAF_SIZE) * (2 * FLOAT * dimension + 16)
    )  # low, high and bounds of up to so many nodes
    vertices = features  # at worst every state is one
    merging = 2 * features + boxes + 16 * n_rows + vertices
    edges = features + vertices + 41 * n_rows
    planning = features + vertices + (88 + (8 * dimension + 32 if recordings else 0)) * n_rows
    return BuildMemory(*(PROGRAM + stage for stage in (merging, edges, planning)))


def check_build(n_rows: int, dimension: int, *, recordings: bool = False) -> BuildMemory:
    """Refuse a build for which there is not enough memory."""
    needed = memory_to_build(n_rows, dimension, recordings=recordings)
    check_memory(
        needed.largest,
        f"Building a graph of {n_rows:,} observations in {dimension} dimensions",
        "Close other programs, build from fewer episodes, or use a machine with more memory.",
    )
    return needed
