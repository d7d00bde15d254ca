"""Reader for robomimic's HDF5 files: one group per demonstration.

data/demo_0/obs/KEY        what was seen before each action; images are left out
data/demo_0/next_obs/KEY   what was seen after it, in most files
data/demo_0/actions, rewards, dones
mask/NAME                  names of the demonstrations that belong to a split
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vmg.base.arguments import checked
from vmg.base.console import progress_bar
from vmg.base.errors import VMGError
from vmg.base.files import check_expansion, reading
from vmg.data.contents import left_out, warn_of_images
from vmg.data.episodes import Episodes
from vmg.data.keys import Shapes, check_keys, choose_keys, join_leaves, key_fields, leaf_of
from vmg.data.readers.base import READERS, Reader, with_options
from vmg.data.steps import StepLog, assemble

USUAL = re.compile(r"object|robot\d_(eef_pos|eef_quat|gripper_qpos)")
"""The low-dimensional observations that robomimic's own settings choose; the others in its files repeat them."""


@checked
def read_robomimic(path: str | Path, *, keys: Sequence[str] | None = None, split: str = "") -> Episodes:
    """Read a robomimic file, or of it the `split` ("train", "valid") that a filter key names.

    `keys` are the observations that make the state: by default what robomimic's own low-dimensional settings take, or
    else every vector that is no goal. A demonstration whose last step is marked done counts as terminated. Files
    without `next_obs` lack the state after the last action: the last row only serves as the final state, and the step
    before it earns its reward if it has none.
    """
    import h5py  # here, so that data of other formats does not need it

    path = Path(path).expanduser()
    source = f"robomimic:{path}"
    with reading(path, "HDF5 file of robomimic's"), h5py.File(path, "r") as file:
        sizes: list[int] = []
        file.visititems(lambda _, item: sizes.append(getattr(item, "nbytes", 0)))
        check_expansion(path, sum(sizes))
        return _read(file, keys, split, source)


READERS.add(
    "robomimic",
    Reader(read_robomimic, example="robomimic:low_dim_v141.hdf5", options={"split": str}, takes_keys=True),
)


def _read(file: Any, keys: Sequence[str] | None, split: str, source: str) -> Episodes:
    demos = _demos(file, split, source)
    shapes = _shapes(demos[0], source)
    chosen = choose_keys(shapes, _usual(shapes) if keys is None else keys, source=source)
    check_keys(shapes, chosen, source)
    if keys is None:
        warn_of_images(shapes, source)
    parts = []
    with progress_bar(f"Reading {Path(file.filename).name}", len(demos)) as advance:
        for i, demo in enumerate(demos):
            parts.append(_demo(demo, chosen, source))
            advance(i + 1)
    observations, actions, rewards, dones, ends = map(np.concatenate, zip(*parts, strict=True))
    last_row_acts = "next_obs" not in demos[0]
    log = StepLog(observations, actions, rewards, ends & dones, ends & ~dones, None, source, key_fields(shapes, chosen))
    episodes = assemble(log, last_row_acts=last_row_acts, keep_last_reward=last_row_acts)
    called = with_options(source, {"split": split or None})
    return replace(episodes, source=called, left_out=left_out(shapes, chosen))


def _demos(file: Any, split: str, source: str) -> list[Any]:
    """Return the demonstrations of a split, in the order of their numbers."""
    if "data" not in file or not len(file["data"]):
        raise VMGError(
            f"{source}: there is no demonstration: a robomimic file has a group 'data' with one group for each."
        )
    if not split:
        names = list(file["data"])
    elif split not in file.get("mask", ()):
        there = ", ".join(file.get("mask", ())) or "none"
        raise VMGError(f"{source}: there is no split {split!r}. Its splits: {there}.")
    else:
        names = [name.decode() for name in file["mask"][split][()]]
    return [file["data"][name] for name in sorted(names, key=_number)]


def _number(name: str) -> tuple[int, str]:
    found = re.search(r"\d+$", name)
    return (int(found.group()) if found else -1), name


def _shapes(demo: Any, source: str) -> Shapes:
    if "obs" not in demo or "actions" not in demo:
        raise VMGError(
            f"{source}: {demo.name} has no {'obs' if 'obs' not in demo else 'actions'}. A raw recording has only the "
            "simulator's states: extract observations with robomimic's dataset_states_to_obs.py."
        )
    return {name: leaf.shape[1:] for name, leaf in demo["obs"].items()}


def _usual(shapes: Shapes) -> tuple[str, ...] | None:
    """Return what robomimic's own settings would choose, where all of that is there."""
    found = tuple(name for name in sorted(shapes) if USUAL.fullmatch(name))
    return found if {"object", "robot0_eef_pos", "robot0_eef_quat", "robot0_gripper_qpos"} <= set(found) else None


def _demo(demo: Any, keys: Sequence[str], source: str) -> tuple[NDArray[Any], ...]:
    """Return one row per state: observations, actions, rewards, whether it is done, and a mark at the last row."""
    names = {leaf_of(key)[0] for key in keys}
    try:
        seen = join_leaves({name: demo["obs"][name][()] for name in names}, keys, batch=True)
        actions = demo["actions"][()]
        rewards = demo["rewards"][()] if "rewards" in demo else np.zeros(len(actions))
        dones = demo["dones"][()] if "dones" in demo else np.zeros(len(actions))
        if "next_obs" in demo:
            final = join_leaves({name: demo["next_obs"][name][-1:] for name in names}, keys, batch=True)
            seen = np.concatenate([seen, final])
            actions, rewards, dones = (np.concatenate([each, each[-1:]]) for each in (actions, rewards, dones))
    except KeyError as error:
        raise VMGError(f"{source}: {demo.name} lacks what other demonstrations have: {error}.") from error
    if not len(seen) == len(actions) == len(rewards) == len(dones):
        raise VMGError(f"{source}: the lengths in {demo.name} do not fit: every field needs one row per step.")
    last = np.arange(len(seen)) == len(seen) - 1
    return seen, actions.reshape(len(actions), -1), rewards.ravel(), dones.astype(bool).ravel(), last
