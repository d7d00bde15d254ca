"""Losses on disk: metrics.csv always, TensorBoard when it is installed.

metrics.csv has one row a log interval and model: the mean training losses since the row before, and the validation
losses at that step (empty without validation episodes; so are the losses an ablation drops).
"""

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from vmg.files import write_text

LOSSES = ("contrastive", "action", "translator", "attraction", "repulsion", "reconstruction", "length", "cloning")
COLUMNS = ("step", "seed", *LOSSES, *(f"validation_{name}" for name in LOSSES))

LossArrays = Mapping[str, np.ndarray]


class Logs:
    """Open the logs of a run at a step: what they hold of later steps, from a run that was killed, is dropped."""

    def __init__(self, folder: Path, seeds: Sequence[int], step: int) -> None:
        self._seeds = seeds
        path = folder / "metrics.csv"
        write_text(path, _rows_until(path, step))
        self._csv = open(path, "a", encoding="utf-8")  # noqa: SIM115
        self._boards = [_board(folder / "tensorboard" / f"seed_{seed}", step) for seed in seeds]

    def write(self, step: int, training: LossArrays, validation: LossArrays) -> None:
        """Add one row a model; each loss has one entry a model."""
        for i, seed in enumerate(self._seeds):
            values = {name: float(training[name][i]) for name in LOSSES if name in training}
            values |= {f"validation_{name}": float(validation[name][i]) for name in LOSSES if name in validation}
            numbers = (f"{values[name]:.9g}" if name in values else "" for name in COLUMNS[2:])
            self._csv.write(",".join([str(step), str(seed), *numbers]) + "\n")
            if self._boards[i] is not None:
                _add_scalars(self._boards[i], step, values)
        self._csv.flush()

    def sync(self) -> None:
        """Make sure that what was written outlives a power cut."""
        os.fsync(self._csv.fileno())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._csv.close()
        for board in self._boards:
            if board is not None:
                board.close()


def _rows_until(path: Path, step: int) -> str:
    """Return the header and the rows up to `step`; a row that a kill cut short lies past it and has no line's end."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)[1:] if path.exists() else []
    whole = (line for line in lines if line.endswith("\n"))
    return ",".join(COLUMNS) + "\n" + "".join(line for line in whole if int(line.partition(",")[0]) <= step)


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
