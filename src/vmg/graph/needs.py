"""How much memory a build needs, known before it begins."""

from dataclasses import dataclass

from vmg.base.memory import check_memory, free_memory, in_words

VERTICES = 0.2
"""Vertices per state that are reckoned with: more are rare, and no use."""
NODES = 1 / 16
"""Nodes of the search tree per state, at most."""


@dataclass(frozen=True)
class BuildMemory:
    """Bytes that each stage of a build takes at its most, features included; episodes in memory come on top."""

    merging: int
    edges: int
    planning: int

    @property
    def largest(self) -> int:
        """What the build takes as a whole: its stages do not run at once."""
        return max(self.merging, self.edges, self.planning)

    @property
    def in_words(self) -> str:
        """What it takes, and what is free."""
        return f"up to {in_words(self.largest)} of memory; {in_words(free_memory())} are free"


def memory_to_build(n_rows: int, dimension: int, observation_size: int = 0, *, recordings: bool = False) -> BuildMemory:
    """Reckon the memory for a graph of so many observations and for a plan on it."""
    features = 4 * dimension
    vertices = VERTICES * 4 * (dimension + observation_size)
    merging = 2 * features + NODES * (2 * features + 16) + 16 + vertices
    edges = features + 41 + vertices
    planning = features + 88 + vertices + (2 * features + 32 if recordings else 0)
    return BuildMemory(*(round(each * n_rows) for each in (merging, edges, planning)))


def check_build(needed: int, n_rows: int) -> None:
    """Refuse a build for which there is not enough memory."""
    check_memory(
        needed,
        f"A graph of {n_rows:,} observations",
        "Close other programs, choose fewer episodes or a smaller metric_dimension, or use a machine with more memory.",
    )
