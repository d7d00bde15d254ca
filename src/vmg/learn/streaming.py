"""Training from data that do not fit on the device: only the batches of the next thousand updates are there.

Batches are drawn on the device as always. Their rows are looked up here, wherever the data lie, and sent; while one
chunk is learned, the next is looked up. The batches are the same, and so are the weights, to the bit.
"""

import os
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vmg.base.errors import VMGError
from vmg.base.memory import GB, free_memory
from vmg.data.episodes import Episodes
from vmg.learn.loop import Own, draw_chunk
from vmg.learn.models import Model, Sample, Steps, row_offsets, spans, step_tables

LIMIT = "VMG_DEVICE_GB"
"""Gigabytes of data that may lie on the device, in the environment; unset: half of what is free there."""
Batches = tuple[Sample, Steps]


def streams(data: Sequence[Episodes]) -> bool:
    """Say whether these data sets are too large to lie on the device as a whole."""
    width = max(episodes.observation_size for episodes in data)
    actions = max(episodes.action_size for episodes in data)
    needed = sum(4 * (len(each.observations) * width + each.n_steps * (actions + 3)) for each in data)
    return needed > _limit()


def _limit() -> float:
    given = os.environ.get(LIMIT)
    if given is None:
        return _free_on_device() / 2
    try:
        limit = float(given)
    except ValueError:
        limit = -1.0
    if not limit >= 0:
        raise VMGError(f"{LIMIT} must be a number of gigabytes of at least 0, not {given!r}.")
    return limit * GB


def _free_on_device() -> int:
    told = jax.devices()[0].memory_stats()  # a CPU tells nothing: its memory is the machine's
    return int(told["bytes_limit"] - told["bytes_in_use"]) if told else free_memory()


@dataclass(frozen=True, eq=False)
class Stream:
    """Data sets that stay where they are, and the chunk that is looked up while another is learned."""

    data: Sequence[Episodes]
    model: Model | None = None
    _next: dict[int, Future[Batches]] = field(default_factory=dict)
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))

    @cached_property
    def steps(self) -> Steps:
        """What batches are drawn from, on the device: where steps begin and how many follow, but no observations."""
        nothing = (
            np.zeros((1, self._width), np.float32),
            np.zeros((1, self._actions), np.float32),
            np.zeros(1, np.float32),
        )
        ends = (jnp.asarray(each[0]) for each in spans(self.data))
        return Steps(*map(jnp.asarray, (*nothing, *step_tables(self.data, self.model))), *ends)

    def prepare(self, own: Own, step: int, length: int, model: Model) -> None:
        """Begin to look up a chunk; it is drawn first, before the device has other work."""
        drawn = draw_chunk(own, np.int32(step), self.steps, model=model, length=length)
        self._next[step] = self._pool.submit(self._looked_up, drawn)

    def take(self, own: Own, step: int, length: int, model: Model) -> Batches:
        """Return the batches of a chunk: which rows they are of, and the rows."""
        if step not in self._next:
            self.prepare(own, step, length, model)
        return self._next.pop(step).result()

    def close(self) -> None:
        """Stop looking up."""
        self._pool.shutdown(cancel_futures=True)

    def _looked_up(self, drawn: Sample) -> Batches:
        step, row_t, row_goal = (np.asarray(each) for each in (drawn.step, drawn.row_t, drawn.row_goal))
        rows = np.stack([row_t, row_t + 1, row_goal], axis=-1)
        acted = np.stack([step, *(() if drawn.lead_step is None else (np.asarray(drawn.lead_step),))], axis=-1)
        number = np.arange(step.size, dtype=np.int32).reshape(step.shape)
        firsts, nothing = spans(self.data)[0], jnp.zeros(0, jnp.int32)
        batches = Steps(
            observations=self._rows("observations", rows.ravel(), row_offsets(self.data), self._width),
            actions=self._rows("actions", acted.ravel(), firsts, self._actions),
            rewards=self._rows("rewards", acted.ravel(), firsts, 1)[:, 0],
            step_observation=nothing,
            steps_left=nothing,
            first=jnp.int32(0),
            size=jnp.int32(step.size),
        )
        each = acted.shape[-1]
        places = {
            "step": each * number,
            "row_t": 3 * number,
            "row_goal": 3 * number + 2,
            "goal_steps": row_goal - row_t,
            "lead_step": None if drawn.lead_step is None else each * number + 1,
        }
        return drawn._replace(**jax.tree.map(jnp.asarray, places)), batches

    def _rows(self, name: str, rows: Any, offsets: Any, width: int) -> jax.Array:
        """Look up rows of all data sets laid one after the other, narrow ones filled up with zeros."""
        found = np.zeros((len(rows), width), np.float32)
        which = np.searchsorted(offsets, rows, side="right") - 1 if len(self.data) > 1 else np.zeros(len(rows), int)
        for i, episodes in enumerate(self.data):
            mine = slice(None) if len(self.data) == 1 else which == i
            table = getattr(episodes, name)
            table = table[:, None] if table.ndim == 1 else table
            found[mine, : table.shape[1]] = table[rows[mine] - offsets[i]]
        return jnp.asarray(found)

    @property
    def _width(self) -> int:
        return max(episodes.observation_size for episodes in self.data)

    @property
    def _actions(self) -> int:
        return max(episodes.action_size for episodes in self.data)
