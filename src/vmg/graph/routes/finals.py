"""Final states: the recorded observations that a policy heads for where its routes end."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from vmg.base.errors import VMGError
from vmg.base.types import Float32s, Float64s, Int32s, Int64s

if TYPE_CHECKING:
    from vmg.graph.memory import MemoryGraph

MOST = 500
"""So many are kept, and at least one in each vertex that has any."""


@dataclass(frozen=True, eq=False)
class FinalStates:
    """Recorded states that fulfil an objective, or that are paid most for."""

    rows: Int32s
    """Their rows in the data."""
    states: Float32s
    """The recorded observations themselves."""
    features: Float32s
    """Where they lie in the metric space."""
    shortfalls: Float32s
    """What each leaves to be desired: from 0, nothing, to 1, as much as may be."""

    def arrays(self) -> dict[str, np.ndarray]:
        """Return what is kept on disk."""
        return {f"final_{name}": array for name, array in vars(self).items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], graph: "MemoryGraph") -> Self | None:
        """Undo `arrays`; None where there are none."""
        kept = {name.removeprefix("final_"): array for name, array in arrays.items() if name.startswith("final_")}
        if not kept:
            return None
        finals = cls(**kept)
        n, (_, size), (_, dimension) = len(finals.rows), graph.states.shape, graph.features.shape
        sound = (
            n > 0
            and finals.rows.shape == finals.shortfalls.shape == (n,)
            and finals.rows.dtype.kind == "i"
            and bool(((finals.rows >= 0) & (finals.rows < len(graph.labels))).all())
            and (finals.states.shape, finals.features.shape) == ((n, size), (n, dimension))
            and bool(((finals.shortfalls >= 0) & (finals.shortfalls <= 1)).all())
            and bool(np.isfinite(finals.states).all() and np.isfinite(finals.features).all())
        )
        if not sound or not finals._lie_in(graph):
            raise VMGError("its final states do not fit the graph")
        return finals

    def _lie_in(self, graph: "MemoryGraph") -> bool:
        """Say whether they are states of these rows, as far as the graph keeps them, and lie in their vertices."""
        kept = graph.recordings.observations if graph.recordings else graph.observations
        with np.errstate(over="ignore"):
            apart = graph.distances(self.features, graph.labels[self.rows])
        near = bool((apart <= 1.01 * graph.radius + 1e-6).all())
        return near and (kept is None or np.array_equal(kept[self.rows], self.states))


def some_of(rows: Int64s, labels: Int32s, shortfalls: Float64s) -> Int64s:
    """Choose from rows of these vertices: the best ones of each vertex, and no more than `MOST` beyond one of each."""
    order = np.lexsort((shortfalls, labels))
    firsts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    places = np.arange(len(rows)) - np.repeat(firsts, np.diff(firsts, append=len(rows)))
    by_place = np.lexsort((shortfalls[order], places))
    chosen: Int64s = np.sort(rows[order][by_place[: max(MOST, len(firsts))]])
    return chosen
