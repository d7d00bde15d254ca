"""Folders of models that learned apart, joined to the one they would have written side by side; and the reverse."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from safetensors import safe_open

from vmg.base.errors import VMGError
from vmg.base.files import read_json, reading, write_json, write_text
from vmg.networks.weights import read_tensors, write_tensors

STATE = "training_state.safetensors"


def reached(folder: Path) -> int:
    """Return the updates after which a training was saved last; 0 where it has not begun."""
    file = folder / STATE
    if not file.exists():
        return 0
    with reading(file, "safetensors file"), safe_open(file, framework="numpy") as state:
        return int((state.metadata() or {})["step"])


def join(folder: Path, parts: Sequence[Path]) -> None:
    """Write the folder of all models from those of each, in this order; a kill on the way leaves nothing to undo."""
    if len({reached(part) for part in parts}) != 1:
        raise VMGError(f"{parts[0].parent} holds models that have not all learned for as long. Train it again.")
    described = [read_json(part / "learning.json") for part in parts]
    write_json(folder / "learning.json", described[0] | {"seeds": [seed for one in described for seed in one["seeds"]]})
    _join_losses(folder, parts)
    for checkpoint in sorted((parts[0] / "checkpoints").glob("step_*.safetensors")):
        files = [read_tensors(part / "checkpoints" / checkpoint.name) for part in parts]
        tensors = {name: array for own, _ in files for name, array in own.items()}  # each begins with its seed
        write_tensors(folder / "checkpoints" / checkpoint.name, tensors, files[0][1])
    for part in parts:
        if (part / "tensorboard").exists():
            shutil.copytree(part / "tensorboard", folder / "tensorboard", dirs_exist_ok=True)
    states = [read_tensors(part / STATE) for part in parts]  # last: it says that all is there
    together = {name: np.concatenate([own[name] for own, _ in states]) for name in states[0][0]}
    write_tensors(folder / STATE, together, states[0][1])


def split(folder: Path, parts: Mapping[int, Path]) -> None:
    """Undo `join`, so that the model of each seed can go on by itself."""
    described = read_json(folder / "learning.json")
    tensors, about = read_tensors(folder / STATE)
    losses = _losses(folder)
    for i, seed in enumerate(described["seeds"]):
        part = parts[seed]
        write_json(part / "learning.json", described | {"seeds": [seed]})
        write_text(part / "metrics.csv", "".join([losses[0], *(row for row in losses[1:] if _seed_of(row) == seed)]))
        for checkpoint in sorted((folder / "checkpoints").glob("step_*.safetensors")):
            both, kind = read_tensors(checkpoint)
            own = {name: array for name, array in both.items() if name.startswith(f"{seed}.")}
            write_tensors(part / "checkpoints" / checkpoint.name, own, kind)
        write_tensors(part / STATE, {name: array[i : i + 1] for name, array in tensors.items()}, about)


def _seed_of(row: str) -> int:
    return int(row.split(",")[1])


def _losses(folder: Path) -> list[str]:
    """Return the lines of a table of losses."""
    with reading(folder / "metrics.csv", "table of losses"):
        return (folder / "metrics.csv").read_text(encoding="utf-8").splitlines(keepends=True)


def _join_losses(folder: Path, parts: Sequence[Path]) -> None:
    """Put the rows of all models together, step by step."""
    tables = [_losses(part) for part in parts]
    rows = [row for step in zip(*(table[1:] for table in tables), strict=True) for row in step]
    write_text(folder / "metrics.csv", "".join([tables[0][0], *rows]))
