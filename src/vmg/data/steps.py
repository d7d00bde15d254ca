"""From a log with one row per step, and end marks, to episodes. Every format that is such a log goes through here.

    row                 0   1   2   3   4           an episode ends at each row marked terminal or timeout
    end mark                    x       x
    episode             0   0   0   1   1

Where the rows hold no `next_observations`, the state after an episode's last action is nowhere in the log. Its last row
then only serves as the final state: its action is dropped, and a warning counts the rewards lost with it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vmg.base.errors import VMGError
from vmg.base.types import Bools, Int64s
from vmg.data.contents import warn
from vmg.data.episodes import Episodes
from vmg.data.fields import Fields
from vmg.data.mapping import like, slices, taken


@dataclass(frozen=True)
class StepLog:
    """A log with one row per step, as it stands in a file."""

    observations: NDArray[Any]
    actions: NDArray[Any]
    rewards: NDArray[Any]
    terminals: Bools
    """Rows at which the environment itself ended the episode."""
    timeouts: Bools
    """Rows at which the episode was cut from outside."""
    next_observations: NDArray[Any] | None
    source: str
    fields: Fields = field(default_factory=dict)
    """Names for columns of the observation."""


def assemble(
    log: StepLog, *, reward_on_arrival: bool = False, last_row_acts: bool = True, keep_last_reward: bool = False
) -> Episodes:
    """Cut a log into episodes.

    `reward_on_arrival`: row t's reward was earned by arriving in row t's state, so it belongs to the step before,
    r_t = stored[t+1]. The first row's reward has no step to go to, and the step into the last `next_observations` has
    no reward in the file: both are dropped, the former with a warning if it was not 0.
    `last_row_acts`: an episode's last row is a step like the others (D4RL), and not just the final state (OGBench).
    `keep_last_reward`: where the last row only serves as the final state, the step that leads there earns its reward,
    if it has none. Demonstrations that are rewarded once, at their end, would be left without any.
    """
    if keep_last_reward and log.next_observations is None and not reward_on_arrival:
        log = _with_last_rewards(log)
    unmarked = _unmarked_ends(log)
    timeouts = log.timeouts | unmarked
    ends = log.terminals | timeouts
    ends[-1] = True
    cut = _Cut(np.flatnonzero(ends))
    flags = log.terminals[cut.last], (timeouts | ~(log.terminals | timeouts))[cut.last]
    if log.next_observations is not None and not reward_on_arrival:
        return _with_final_states(log, log.next_observations, cut, *flags)
    return _last_row_as_state(log, cut, *flags, reward_on_arrival=reward_on_arrival, last_row_acts=last_row_acts)


def check_rows(fields: Mapping[str, NDArray[Any]], source: str) -> None:
    """Refuse fields that are not numbers, or not one row per step each; called with the names they have in the file."""
    for name, values in fields.items():
        if values.dtype.kind not in "biuf":
            raise VMGError(f"{source}: {name} must be numbers, not {values.dtype}.")
        if values.ndim == 0:
            raise VMGError(f"{source}: {name} is a single number, but needs one row per step.")
    n_rows, expected = len(fields["observations"]), fields["observations"].shape
    for name, values in fields.items():
        if len(values) != n_rows:
            raise VMGError(
                f"{source}: the lengths do not fit: observations has {n_rows} rows, {name} has {len(values)}. "
                "Every field needs one row per step."
            )
        if name == "next_observations" and values.shape != expected:
            raise VMGError(
                f"{source}: next_observations has the shape {values.shape}, but observations has {expected}."
            )
    if n_rows == 0:
        raise VMGError(f"{source}: there is not a single step in it.")


def column(fields: Mapping[str, NDArray[Any]], name: str, source: str) -> NDArray[Any]:
    """Return a field of one number per row; files store it as (n,) or (n, 1)."""
    values = fields[name]
    flat = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    if flat.ndim != 1:
        raise VMGError(f"{source}: {name} must be one number per row, but has the shape {values.shape}.")
    return flat


def flag_column(fields: Mapping[str, NDArray[Any]], name: str, source: str) -> Bools:
    """Return a field of one yes or no per row, stored as booleans or as the numbers 0 and 1."""
    values = column(fields, name, source)
    if values.dtype != bool and not (values.dtype.kind in "iuf" and np.isin(values, (0, 1)).all()):
        raise VMGError(f"{source}: {name} must hold only 0 and 1 (or False and True).")
    return values.astype(bool)


@dataclass(frozen=True)
class _Cut:
    """Where the rows of each episode lie."""

    last: Int64s

    @property
    def counts(self) -> Int64s:
        return np.diff(self.last, prepend=-1)

    @property
    def first(self) -> Int64s:
        return self.last - self.counts + 1


def _with_last_rewards(log: StepLog) -> StepLog:
    """Move each episode's last reward to the step before it, where that earned none; a step earns no two rewards."""
    ends = log.terminals | log.timeouts
    ends[-1] = True
    last = np.flatnonzero(ends)
    last = last[np.diff(last, prepend=-1) > 1]
    rewards = np.array(log.rewards, dtype=np.float64)
    rewards[last] = np.where(np.isfinite(rewards[last]), rewards[last], 0)
    moved = last[(rewards[last] != 0) & (rewards[last - 1] == 0)]
    if len(moved):
        warn(
            f"{log.source}: {len(moved)} of {len(last)} episodes store a reward with the last row, whose action leads "
            "to a state the data does not hold. It was given to the step before, which earned none."
        )
    rewards[moved - 1], rewards[moved] = rewards[moved], 0
    return replace(log, rewards=rewards)


def _with_final_states(
    log: StepLog, next_observations: NDArray[Any], cut: _Cut, terminated: Bools, truncated: Bools
) -> Episodes:
    """Every row is a step; after each episode's rows comes its last next observation."""
    episode = np.repeat(np.arange(len(cut.last)), cut.counts)
    shape = (len(log.observations) + len(cut.last), *log.observations.shape[1:])
    observations = like(log.observations, shape, log.observations.dtype)
    for rows in slices(log.observations):
        observations[np.arange(rows.start, rows.stop) + episode[rows]] = log.observations[rows]
    observations[cut.last + np.arange(len(cut.last)) + 1] = next_observations[cut.last]
    return Episodes(observations, log.actions, log.rewards, cut.counts, terminated, truncated, log.source, log.fields)


def _last_row_as_state(
    log: StepLog, cut: _Cut, terminated: Bools, truncated: Bools, *, reward_on_arrival: bool, last_row_acts: bool
) -> Episodes:
    """Each episode's last row is its final state; single rows hold no step and are left out."""
    kept = cut.counts > 1
    _say_dropped_rows(log, int((~kept).sum()))
    if reward_on_arrival:
        _say_lost(log, cut.first[kept], "the first row, which no step leads to")
    elif last_row_acts:
        _say_lost(log, cut.last[kept], "the last row, whose action leads to a state the file does not hold")
    row_kept = np.repeat(kept, cut.counts)
    is_first, is_last = (_marks(len(row_kept), places) for places in (cut.first, cut.last))
    acts = row_kept & ~is_last
    return Episodes(
        observations=taken(log.observations, row_kept),
        actions=taken(log.actions, acts),
        rewards=taken(log.rewards, row_kept & ~is_first if reward_on_arrival else acts),
        lengths=cut.counts[kept] - 1,
        terminated=terminated[kept],
        truncated=truncated[kept],
        source=log.source,
        fields=log.fields,
    )


def _unmarked_ends(log: StepLog) -> Bools:
    """Rows after which the log jumps: the next row's observation is not this row's next observation."""
    jumps = np.zeros(len(log.observations), dtype=bool)
    if log.next_observations is None or len(jumps) == 1:
        return jumps
    here, there = log.next_observations[:-1], log.observations[1:]
    for rows in slices(here):
        # Tolerance: files that rounded one of the two fields. NaN is not a jump: it is reported as NaN later.
        close = np.isclose(here[rows], there[rows], rtol=1e-4, atol=1e-5, equal_nan=True)
        jumps[rows] = ~close.reshape(len(close), -1).all(1)
    jumps[:-1] &= ~(log.terminals | log.timeouts)[:-1]
    if jumps.sum() > len(jumps) / 2 and len(jumps) > 2:
        raise VMGError(
            f"{log.source}: the rows are not in the order of time: after {jumps.sum()} of {len(jumps)} rows, "
            "next_observations is not what the next row observes. Whole episodes in order are needed, not shuffled "
            "steps."
        )
    if jumps.any():
        warn(
            f"{log.source}: after {jumps.sum()} rows (the first: {np.argmax(jumps)}) next_observations is not what "
            "the next row observes, and no end is marked there. Episodes were cut at these rows and count as truncated."
        )
    return jumps


def _say_dropped_rows(log: StepLog, count: int) -> None:
    if count:
        what = "1 episode of a single row was" if count == 1 else f"{count} episodes of a single row were"
        warn(f"{log.source}: {what} left out: without a state after the action there is no step.")


def _say_lost(log: StepLog, places: Int64s, which: str) -> None:
    lost = log.rewards[places]
    n_lost = int(np.count_nonzero(lost))
    if n_lost:
        warn(
            f"{log.source}: {n_lost} of {len(places)} episodes lose a reward ({lost.sum():g} in all): it was stored "
            f"with {which}."
        )


def _marks(size: int, places: Int64s) -> Bools:
    marks = np.zeros(size, dtype=bool)
    marks[places] = True
    return marks
