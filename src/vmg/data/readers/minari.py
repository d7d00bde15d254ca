"""Reader for Minari sets on this machine: box observations, and dict or tuple ones of any nesting."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vmg.base.arguments import checked
from vmg.base.console import progress_bar
from vmg.base.errors import VMGError, require
from vmg.base.files import check_file
from vmg.data.contents import left_out, warn_of_images
from vmg.data.episodes import Episodes
from vmg.data.keys import check_keys, choose_keys, join_leaves, key_fields, leaf_of, leaves
from vmg.data.readers.base import READERS, Reader


@checked
def read_minari(dataset_id: str, *, keys: Sequence[str] | None = None) -> Episodes:
    """Read a local Minari set; `keys` names the leaves of a dict observation that make the state (see `vmg.data.keys`).

    An episode counts as terminated (truncated) if any of its steps does.
    """
    source = f"minari:{dataset_id}"
    dataset = _open(dataset_id, source)
    _refuse_other_actions(dataset.action_space, source)
    spaces = _leaf_spaces(dataset.observation_space)
    chosen = choose_keys(spaces, keys, source=source)
    for name, _ in map(leaf_of, chosen):
        _refuse_other_observations(name, spaces[name], source)
    shapes = {name: tuple(space.shape or ()) for name, space in spaces.items()}
    check_keys(shapes, chosen, source)
    if keys is None:
        warn_of_images(shapes, source)
    with progress_bar(f"Reading {dataset_id}", dataset.total_episodes) as advance:
        parts = []
        for i, episode in enumerate(_iterate(dataset, source)):
            parts.append(_episode(episode, chosen))
            advance(i + 1)
    episodes = Episodes.from_list(parts, source=source, fields=key_fields(shapes, chosen))
    return replace(episodes, left_out=left_out(shapes, chosen))


def recover_environment(dataset_id: str, **options: Any) -> Any:
    """Make the environment that a local Minari set names for evaluation."""
    dataset = _open(dataset_id, f"minari:{dataset_id}")
    return dataset.recover_environment(eval_env=True, disable_env_checker=True, **options)


READERS.add(
    "minari",
    Reader(
        read_minari,
        example="minari:D4RL/door/human-v2",
        takes_keys=True,
        environment=recover_environment,
        looks_like="*/*",
    ),
)


def _open(dataset_id: str, source: str) -> Any:
    minari = require("minari", "envs")
    try:
        _check_files(Path(require("minari.storage", "envs").get_dataset_path(dataset_id)))
        return minari.load_dataset(dataset_id)
    except FileNotFoundError as error:
        raise VMGError(
            f"{source}: this set is not on this machine. Fetch it with: minari download {dataset_id} "
            "(`minari list local` shows what is here, `minari list remote` what there is)."
        ) from error
    except Exception as error:  # what is raised at damaged files has no base class
        raise _damaged(source, dataset_id, error) from error


def _check_files(folder: Path) -> None:
    """Refuse what would be read without an end: a pipe or a device in place of a file."""
    for path in (folder / "data").glob("*.*"):
        check_file(path)


def _iterate(dataset: Any, source: str) -> Iterator[Any]:
    try:
        yield from dataset.iterate_episodes()
    except Exception as error:  # as above
        raise _damaged(source, dataset.id, error) from error


def _damaged(source: str, dataset_id: str, error: Exception) -> VMGError:
    what = f"{type(error).__name__}: {error}"
    return VMGError(
        f"{source}: the set is damaged or incomplete ({what}). Delete it and fetch it again with: "
        f"minari download {dataset_id}"
    )


def _episode(
    episode: Any, keys: Sequence[str]
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float64], bool, bool]:
    with np.errstate(over="ignore"):  # too large for float32 becomes infinite, which Episodes reports with its place
        return (
            join_leaves(episode.observations, keys, batch=True).astype(np.float32),
            np.asarray(episode.actions).reshape(len(episode.rewards), -1).astype(np.float32),
            np.asarray(episode.rewards, dtype=np.float64),
            bool(np.any(episode.terminations)),
            bool(np.any(episode.truncations)),
        )


def _leaf_spaces(space: Any) -> dict[str, Any]:
    def unwrap(space: Any) -> Any:
        inner = getattr(space, "spaces", None)
        if isinstance(inner, tuple | list):
            return tuple(unwrap(each) for each in inner)
        if inner is not None:
            return {name: unwrap(each) for name, each in inner.items()}
        return space

    return leaves(unwrap(space))


def _refuse_other_actions(space: Any, source: str) -> None:
    if not _is_vector(space):
        raise VMGError(
            f"{source}: the actions are {_in_words(space)}. Only continuous actions that are one vector are "
            "supported; discrete and structured ones are not."
        )


def _refuse_other_observations(key: str, space: Any, source: str) -> None:
    if not _is_vector(space):
        name = f"the observation's leaf {key!r} is" if key else "the observations are"
        raise VMGError(
            f"{source}: {name} {_in_words(space)}. Only vectors of numbers are supported: leave such leaves out with "
            "keys, or encode images into vectors first."
        )


def _is_vector(space: Any) -> bool:
    return type(space).__name__ == "Box" and len(space.shape) <= 1


def _in_words(space: Any) -> str:
    kind = type(space).__name__
    if kind != "Box":
        return f"of the kind {kind}"
    looks_like = "images" if space.dtype == np.uint8 or len(space.shape) == 3 else "arrays"
    return f"{looks_like} of the shape {tuple(space.shape)}"
