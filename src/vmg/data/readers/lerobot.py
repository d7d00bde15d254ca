"""Reader for LeRobot sets, versions 2.0 to 3.0: a folder of Parquet files, described by `meta/info.json`.

    v2.1   data/chunk-000/episode_000000.parquet   one file per episode
    v3.0   data/chunk-000/file-000.parquet         many episodes per file

A row is a frame: what was observed, the action taken then, and where there are any, its reward and end mark. The state
after an episode's last action is not recorded, so the last frame only serves as the final state.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vmg.base.arguments import checked
from vmg.base.errors import VMGError
from vmg.base.files import read_json
from vmg.base.types import Bools, Int64s
from vmg.data.contents import left_out, warn_of_images
from vmg.data.episodes import Episodes
from vmg.data.fields import Fields
from vmg.data.keys import Shapes, check_keys, choose_keys, join_leaves, key_fields, leaf_of
from vmg.data.readers.base import READERS, Reader
from vmg.data.readers.parquet_arrays import read_parquet
from vmg.data.steps import StepLog, assemble

OBSERVED = "observation."
BOOKKEEPING = ("episode_index", "frame_index", "timestamp", "index", "task_index")
MARKS = ("next.reward", "next.done", "next.truncated")


@checked
def read_lerobot(name: str | Path, *, keys: Sequence[str] | None = None) -> Episodes:
    """Read a LeRobot set: a folder, or the id of one that LeRobot or the Hugging Face hub keep on this machine.

    `keys` are features that make the state; by default every vector under "observation." that is no goal. Names that
    the set gives to single numbers become fields. An episode whose last frame is marked `next.done`, and not
    `next.truncated`, counts as terminated. The step before the last frame earns that frame's
    reward if it has none.
    """
    source = f"lerobot:{name}"
    folder = _folder(str(name), source)
    features, n_frames = _features(folder / "meta" / "info.json")
    shapes = _shapes(features)
    observed = {each: shape for each, shape in shapes.items() if each.startswith(OBSERVED)}
    chosen = choose_keys(observed, keys, source=source)
    check_keys(shapes, chosen, source)
    if keys is None:
        warn_of_images(shapes, source)
    rows = _rows(folder, [leaf_of(key)[0] for key in chosen], features, n_frames)
    beside = {each: shape for each, shape in shapes.items() if each not in ("action", *BOOKKEEPING, *MARKS)}
    episodes = assemble(_log(rows, chosen, _fields(features, shapes, chosen), source), keep_last_reward=True)
    return replace(episodes, left_out=left_out(beside, chosen))


READERS.add("lerobot", Reader(read_lerobot, example="lerobot:my_robot/pick_up", takes_keys=True))


def _folder(name: str, source: str) -> Path:
    for folder in _places(name):
        if (folder / "meta" / "info.json").is_file():
            return folder
    raise VMGError(
        f"{source}: there is no LeRobot set in that folder (no meta/info.json), and none of that name among those that "
        "LeRobot and the Hugging Face hub keep on this machine. Fetch one with: "
        f"hf download --repo-type dataset {name}"
    )


def _places(name: str) -> Iterator[Path]:
    """Yield the folders in which a set of that name may lie: itself, LeRobot's, the newest snapshots of its hub's."""
    yield Path(name).expanduser()
    home = Path(os.environ.get("HF_HOME", "~/.cache/huggingface")).expanduser()
    own = Path(os.environ.get("HF_LEROBOT_HOME", home / "lerobot")).expanduser()
    yield own / name
    for hub in (own / "hub", Path(os.environ.get("HF_HUB_CACHE", home / "hub")).expanduser()):
        snapshots = (hub / f"datasets--{name.replace('/', '--')}" / "snapshots").glob("*")
        yield from sorted(snapshots, key=lambda folder: folder.stat().st_mtime, reverse=True)


def _features(path: Path) -> tuple[dict[str, dict[str, Any]], int]:
    """Return the set's features and its number of frames, as info.json tells them."""
    info = read_json(path)
    version = info.get("codebase_version") if isinstance(info, dict) else None
    if not str(version).startswith(("v2.", "v3.")):
        raise VMGError(
            f"{path}: sets of version 2.0 to 3.0 can be read, not {version!r}. Convert it with LeRobot first."
        )
    features, n_frames = info.get("features"), info.get("total_frames")
    if not isinstance(features, dict) or not isinstance(n_frames, int) or "action" not in features:
        raise VMGError(f"{path} is damaged: a set has features, an 'action' among them, and total_frames.")
    return features, n_frames


def _shapes(features: Mapping[str, Mapping[str, Any]]) -> Shapes:
    """Return the shape of every feature that is numbers or images; texts are no part of a state."""
    return {
        name: tuple(feature.get("shape") or (1,))
        for name, feature in features.items()
        if feature.get("dtype") != "string"
    }


def _rows(folder: Path, leaves: list[str], features: Mapping[str, Any], n_frames: int) -> dict[str, NDArray[Any]]:
    marks = [name for name in MARKS if name in features]
    wanted = dict.fromkeys(["episode_index", "frame_index", "action", *marks, *leaves])
    files = sorted(folder.glob("data/*/*.parquet"))
    rows = read_parquet(files, list(wanted)) if files else {}
    if missing := [name for name in wanted if len(rows.get(name, ())) != n_frames]:
        raise VMGError(
            f"{folder}: the set is incomplete: its Parquet files hold {len(rows.get(missing[0], ())):,} of the "
            f"{n_frames:,} frames of {missing[0]!r}. Fetch it again."
        )
    order = np.lexsort((rows["frame_index"], rows["episode_index"]))
    return {name: values[order] for name, values in rows.items()}


def _log(rows: Mapping[str, NDArray[Any]], chosen: Sequence[str], fields: Fields, source: str) -> StepLog:
    actions, ends = rows["action"], _ends(rows["episode_index"])
    rewards, done, cut = (rows[name].ravel() if name in rows else np.zeros(len(ends)) for name in MARKS)
    terminals = ends & (done != 0) & (cut == 0)
    return StepLog(
        observations=join_leaves(dict(rows), chosen, batch=True),
        actions=actions.reshape(len(actions), -1),
        rewards=rewards,
        terminals=terminals,
        timeouts=ends & ~terminals,
        next_observations=None,
        source=source,
        fields=fields,
    )


def _ends(episode: Int64s) -> Bools:
    return np.append(episode[1:] != episode[:-1], True)


def _fields(
    features: Mapping[str, Mapping[str, Any]], shapes: Shapes, chosen: Sequence[str]
) -> dict[str, tuple[int, ...]]:
    """Return the columns of each key, and of each number that has a name; a name that two keys use is told apart."""
    fields = key_fields(shapes, chosen)
    named = {key: _names(features[leaf_of(key)[0]])[leaf_of(key)[1]] for key in chosen}
    all_names = [name for names in named.values() for name in names]
    for key, names in named.items():
        for name, column in zip(names, fields[key], strict=False):
            fields.setdefault(name if all_names.count(name) == 1 else f"{key}.{name}", (column,))
    return fields


def _names(feature: Mapping[str, Any]) -> list[str]:
    """Return the name of each number in a feature, listed plainly or under a heading; nothing if they do not fit."""
    told = feature.get("names")
    lists = [told] if isinstance(told, list) else list(told.values()) if isinstance(told, dict) else []
    names = [str(name) for each in lists if isinstance(each, list) for name in each]
    return names if len(names) == int(np.prod(feature.get("shape") or (1,))) else []
