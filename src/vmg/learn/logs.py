"""Losses on disk: metrics.csv always, TensorBoard when it is installed.

metrics.csv has one row per log interval and model: the mean training losses since the row before, and the validation
losses at that step (empty without validation episodes). Its columns are whatever losses a model has.
"""

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from vmg.base.files import append, reading, write_text, writing

LossArrays = Mapping[str, np.ndarray]


class Logs:
    """Open the logs of a run at a step: what they hold of later steps, from a run that was killed, is dropped."""

    def __init__(self, folder: Path, seeds: Sequence[int], step: int) -> None:
        self._seeds = seeds
        path = folder / "metrics.csv"
        self._columns, rows = _rows_until(path, step)
        write_text(path, rows)
        self._csv = open(path, "ab", buffering=0)  # noqa: SIM115
        self._folder = folder / "tensorboard"
        with writing(self._folder):
            self._boards = [_board(self._folder / f"seed_{seed}", step) for seed in seeds]

    def write(self, step: int, training: LossArrays, validation: LossArrays) -> None:
        """Add one row per model; each loss has one entry per model. The first row of a file names its columns."""
        if not self._columns:
            self._columns = ["step", "seed", *training, *(f"validation_{name}" for name in training)]
            append(self._csv, ",".join(self._columns) + "\n")
        for i, seed in enumerate(self._seeds):
            values = {name: float(losses[i]) for name, losses in training.items()}
            values |= {f"validation_{name}": float(losses[i]) for name, losses in validation.items()}
            numbers = (f"{values[name]:.9g}" if name in values else "" for name in self._columns[2:])
            append(self._csv, ",".join([str(step), str(seed), *numbers]) + "\n")
            if self._boards[i] is not None:
                with writing(self._folder):
                    _add_scalars(self._boards[i], step, values)

    def sync(self) -> None:
        """Make sure that what was written outlives a power cut."""
        os.fsync(self._csv.fileno())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._csv.close()
        with writing(self._folder):
            for board in self._boards:
                if board is not None:
                    board.close()


def _rows_until(path: Path, step: int) -> tuple[list[str], str]:
    """Return the columns, if there are any yet, and the header with the rows up to `step`.

    A row that a kill cut short lies past the step and has no line's end.
    """
    lines = []
    if path.exists():
        with reading(path, "table of losses"):
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    if not lines or not lines[0].endswith("\n"):
        return [], ""
    header, *rows = lines
    steps = ((line, line.partition(",")[0]) for line in rows if line.endswith("\n"))
    return header.rstrip("\n").split(","), header + "".join(
        line for line, its in steps if its.isdecimal() and int(its) <= step
    )


def _board(folder: Path, step: int) -> Any:
    try:
        from tensorboard.compat.proto.event_pb2 import Event, SessionLog
        from tensorboard.summary.writer.event_file_writer import EventFileWriter
    except ImportError:
        return None
    board = EventFileWriter(str(folder))
    start = SessionLog(status=SessionLog.START)  # tells TensorBoard to forget what it has of later steps
    board.add_event(Event(wall_time=time.time(), step=step + 1, session_log=start))
    return board


def _add_scalars(board: Any, step: int, values: Mapping[str, float]) -> None:
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary

    scalars = [Summary.Value(tag=_tag(name), simple_value=value) for name, value in values.items()]
    board.add_event(Event(wall_time=time.time(), step=step, summary=Summary(value=scalars)))


def _tag(name: str) -> str:
    part = "validation" if name.startswith("validation_") else "training"
    return f"{part}/{name.removeprefix('validation_')}"
