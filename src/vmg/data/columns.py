"""What each column of the observation is: its name, its range, and whether it says anything new.

Columns that copy others count double in every distance, and speeds can give an action away that a policy should find
by itself. What is said here is measured on the data: "follows from others" holds where they were recorded.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vmg.base.arguments import checked
from vmg.base.types import Bools, Float64s, Int64s
from vmg.data.episodes import Episodes
from vmg.data.fields import column_names

COPY = 0.999  # correlation, without its sign
SPEED = 0.98
FOLLOWS = 0.999  # share of the variance that the other columns explain in episodes they were not fitted to
ROWS, WIDE, WAVES = (
    4000,
    64,
    192,
)  # rows looked at; columns beyond which only straight lines are fitted; waves beside them


SHARED = 5
"""A number that is fixed in an episode is shared where on average so many episodes have each of its values: a kind of
part, and not a place that is drawn anew each time."""


@dataclass(frozen=True)
class Column:
    """One column of the observation."""

    column: int
    name: str
    smallest: float
    largest: float
    remark: str = ""
    """What is special about it: "constant", "copy of NAME", "speed of NAME", ...; empty if nothing is."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return asdict(self)


@checked
def describe_columns(episodes: Episodes) -> tuple[Column, ...]:
    """Describe every column of the observation.

    Time grows with the square of the columns, not with the steps: at most `ROWS` rows are compared.
    """
    names = column_names(episodes.fields, episodes.observation_size)
    remarks = _remarks(episodes, names)
    low, high = episodes.observations.min(0).tolist(), episodes.observations.max(0).tolist()
    return tuple(Column(i, name, low[i], high[i], remarks.get(i, "")) for i, name in enumerate(names))


def fixed_columns(episodes: Episodes) -> Bools:
    """Mark the columns that differ between episodes and never change within one."""
    begins = np.repeat(episodes.first_observation[:-1], episodes.lengths + 1)
    return np.array(
        [np.ptp(column) > 0 and bool((column == column[begins]).all()) for column in episodes.observations.T]
    )


def shared_columns(episodes: Episodes) -> Bools:
    """Mark those of the fixed columns whose values many episodes share."""
    firsts = episodes.observations[episodes.first_observation[:-1]]
    few = np.array([SHARED * len(np.unique(column)) <= len(firsts) for column in firsts.T])
    return np.asarray(fixed_columns(episodes) & few)


def nearly_fixed_columns(episodes: Episodes) -> Bools:
    """Mark the columns that differ between episodes and change within one by little more than noise would."""
    found = np.zeros(episodes.observation_size, bool)
    for number, column in enumerate(episodes.observations.T):
        values = column.astype(np.float64)
        means = np.add.reduceat(values, episodes.first_observation[:-1]) / (episodes.lengths + 1)
        within = np.mean((values - np.repeat(means, episodes.lengths + 1)) ** 2)
        found[number] = len(episodes) >= MANY_EPISODES and within < NEARLY * values.var()
    return found & ~fixed_columns(episodes)


NEARLY, MANY_EPISODES = 0.05, 20
"""A column is nearly fixed where so little of its variance is within episodes, of which there are so many."""


def keys_without(columns: Sequence[int] | NDArray[np.integer], size: int) -> str:
    """Return the option that leaves some columns of a plain vector out."""
    ends = [-1, *sorted(int(each) for each in columns), size]
    kept = [f"'[{left + 1}:{right}]'" for left, right in pairwise(ends) if right > left + 1]
    return f"--keys {' '.join(kept)}"


def _remarks(episodes: Episodes, names: Sequence[str]) -> dict[int, str]:
    """Return what is special about a column; the first that holds of: constant, fixed, copy, speed, follows."""
    constant = np.ptp(episodes.observations, axis=0) == 0
    remarks = {int(i): "constant" for i in np.flatnonzero(constant)}
    remarks |= {int(i): "fixed within each episode" for i in np.flatnonzero(fixed_columns(episodes))}
    rows = _some_steps(episodes)
    for j, i in _copies(_standard(episodes.observations[episodes.step_observation[rows]]), set(remarks)).items():
        remarks[j] = f"copy of {names[i]}"
    for j, i in speeds(episodes).items():
        remarks.setdefault(j, f"speed of {names[i]}")
    left = [i for i in range(len(names)) if i not in remarks]
    return remarks | dict.fromkeys(_followers(episodes, rows, left), "follows from others")


def _some_steps(episodes: Episodes) -> Int64s:
    """Return steps spread over the data, at most `ROWS`, fewer where there are many columns."""
    size = min(ROWS, max(500, 10**8 // episodes.observation_size**2))
    return np.unique(np.linspace(0, episodes.n_steps - 1, min(size, episodes.n_steps)).astype(np.int64))


def _copies(values: Float64s, done: set[int]) -> dict[int, int]:
    """Return the columns that are straight lines of an earlier one, each with that one."""
    alike = np.abs(values.T @ values / len(values)) > COPY
    first = {j: int(np.argmax(alike[j])) for j in range(len(alike)) if j not in done and alike[j, :j].any()}
    return {j: i for j, i in first.items() if i < j and i not in done}


def speeds(episodes: Episodes) -> dict[int, int]:
    """Return the columns that go with the step's change in another one, before or after it, each with that one."""
    rows = _some_steps(episodes)
    here, there = (episodes.observations[episodes.step_observation[rows] + k] for k in (0, 1))
    change = _standard(there.astype(np.float64) - here)
    found: dict[int, int] = {}
    for seen in (here, there):
        alike = np.abs(_standard(seen).T @ change / len(rows))
        np.fill_diagonal(alike, 0)
        found |= {int(j): int(np.argmax(alike[j])) for j in np.flatnonzero(alike.max(axis=1) > SPEED)}
    return {j: i for j, i in found.items() if found.get(i) != j or i < j}


def _followers(episodes: Episodes, rows: Int64s, columns: Sequence[int]) -> list[int]:
    """Return the columns that can be computed from the ones that are left, looking at the last first."""
    held = episodes.step_episode[rows] % 2 == 1
    if held.sum() < 100 or (~held).sum() < 100:
        return []
    values = _standard(episodes.observations[episodes.step_observation[rows]])
    left, followers = list(columns), list[int]()
    for column in reversed(columns):
        others = [i for i in left if i != column]
        if others and _explained(values[:, others], values[:, column], held) > FOLLOWS:
            left, followers = others, [*followers, column]
    return followers


def _explained(others: Float64s, wanted: Float64s, held: Bools) -> float:
    """Return the share of a column's variance that others explain in held-out rows, by lines and waves of them."""
    inputs = [np.ones((len(others), 1)), others]
    if others.shape[1] <= WIDE:
        rng = np.random.default_rng(0)
        slopes = rng.normal(0, 1.5 / np.sqrt(others.shape[1]), (others.shape[1], WAVES))
        inputs.append(np.cos(others @ slopes + rng.uniform(0, 2 * np.pi, WAVES)))
    known = np.concatenate(inputs, axis=1)
    fit, rest = known[~held], known[held]
    weights = np.linalg.solve(fit.T @ fit + 1e-6 * len(fit) * np.eye(known.shape[1]), fit.T @ wanted[~held])
    spread = float(wanted[held].var())
    return 1 - float(((rest @ weights - wanted[held]) ** 2).mean()) / spread if spread > 0 else 0.0


def _standard(values: NDArray[Any]) -> Float64s:
    """Return columns of mean 0 and deviation 1; of 0 where they are constant."""
    centred: Float64s = values.astype(np.float64) - values.mean(axis=0, dtype=np.float64)
    spread = centred.std(axis=0)
    return centred / np.where(spread > 0, spread, 1)
