"""Floor plans: where the walls of a maze are, so that a graph and its episodes can be drawn on it."""

from dataclasses import dataclass

import numpy as np

from vmg.base.errors import VMGError
from vmg.base.types import Float64s
from vmg.data.mazes import MazeMap, cell_xy


@dataclass(frozen=True)
class Floor:
    """The map of a maze: rows of cells, 1 for a wall, seen from above; x runs with the columns, y against the rows."""

    cells: MazeMap
    scale: float = 1.0
    """How wide a cell is, in the units of the state."""
    centre: tuple[float, float] = (0.0, 0.0)
    """Where the middle of the map lies."""
    columns: tuple[int, ...] = ()
    """The columns of the state that say where it is, x and y; none: those in which the task names goals."""

    def __post_init__(self) -> None:
        widths = {len(row) for row in self.cells}
        if len(widths) != 1 or 0 in widths or self.scale <= 0 or len(self.columns) not in (0, 2):
            raise VMGError(
                "A floor has rows of cells, all of one length, a scale above 0, and two columns of the state for x and "
                f"y; given are rows of {sorted(widths)} cells, the scale {self.scale} and the columns {self.columns}."
            )

    def corner(self, row: int, column: int) -> Float64s:
        """Return the x and y of a cell's lower left corner."""
        corner: Float64s = cell_xy(self.cells, (row, column), scale=self.scale) + self.centre - self.scale / 2
        return corner

    @property
    def extent(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """From where to where it goes in x and in y, with half of the outer cells."""
        half = np.array([len(self.cells[0]) - 1, len(self.cells) - 1]) * self.scale / 2
        (left, bottom), (right, top) = self.centre - half, self.centre + half
        return (float(left), float(right)), (float(bottom), float(top))
