"""Which parts of a structured observation make the state.

Goal environments hand out a dict (of dicts, or tuples) where this project needs one vector. Every array in it is a
*leaf* with a dotted path as its name, "achieved_goal.kettle", and *keys* are the leaves that make the state, in order:

    {"achieved_goal": (2,), "desired_goal": (2,), "observation": (27,)}
    keys ("achieved_goal", "observation")  →  (29,)

A key can name a part of a leaf, "observation[0:9]": the numbers 0 to 8 of it. A plain array is its own single leaf,
called "", so "[0:9]" names a part of that. Data and evaluation use the same two functions, so a policy sees in the
environment what it saw in the data.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vmg.base.errors import VMGError
from vmg.data.fields import field_columns

Shapes = Mapping[str, tuple[int, ...]]
GOAL_WORDS = frozenset({"goal", "goals", "desired"})


def choose_keys(
    names: Iterable[str], keys: Sequence[str] | None = None, *, source: str = "observation"
) -> tuple[str, ...]:
    """Return the leaves that make the state: `keys` if they all exist, else the default.

    The default is "observation", with "achieved_goal" before it where that is one array (a maze's position) and not a
    dict (the kitchen's objects). Without an "observation", every leaf in sorted order but goals (see `is_goal`) and,
    where `names` maps each leaf to its array or its shape, images.
    """
    there = sorted(names)
    vectors = [name for name in there if not (isinstance(names, Mapping) and _is_image(names[name]))]
    if keys is None:
        return _default_keys(vectors) or _refuse_nothing(there, source)
    chosen = _of_the_only_leaf((keys,) if isinstance(keys, str) else tuple(keys), vectors)
    missing = [key for key in chosen if leaf_of(key)[0] not in there]
    if missing and there == [""]:
        raise VMGError(f'{source}: the observation is one plain vector: leave keys out, or name parts of it, "[0:9]".')
    if missing or not chosen:
        what = f"has no {', '.join(map(repr, missing))}" if missing else "needs at least one key"
        raise VMGError(f"{source}: the observation {what}. Choose keys from: {', '.join(there)}.")
    return chosen


def _of_the_only_leaf(keys: tuple[str, ...], vectors: list[str]) -> tuple[str, ...]:
    """Name the leaf of parts of a plain vector, "[0:9]", where a single one makes the state: it is that vector."""
    default = _default_keys(vectors)
    if "" in vectors or len(default) != 1 or any(leaf_of(key)[0] for key in keys):
        return keys
    return tuple(f"{default[0]}{key}" for key in keys)


def is_goal(name: str) -> bool:
    """Say whether a leaf or column holds what is wanted rather than what is: "desired_goal", "goal_x", "target".

    "goal", "goals" or "desired" is one of the words of its name, or its name is "target" and nothing more: what is
    called "target_level" may be read off an instrument. Where it never changes within an episode, a check says so.

    A goal is no part of the state: an agent that sees it learns from what its demonstrators wanted, and an objective
    of one's own would contradict it. What was reached, "achieved_goal", is part of it.
    """
    words = set(re.findall(r"[a-z]+", name.lower()))
    return "achieved" not in words and (bool(words & GOAL_WORDS) or name.lower().rpartition(".")[2] == "target")


def join_leaves(observation: Any, keys: Sequence[str], *, batch: bool = False) -> NDArray[Any]:
    """Put the chosen leaves of an observation side by side: one vector, or with `batch` one per row."""
    parts = []
    for key in keys:
        name, wanted = leaf_of(key)
        part = np.asarray(_leaf(observation, name))
        parts.append((part.reshape(len(part), -1) if batch else part.reshape(-1))[..., wanted])
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-1)


def check_keys(shapes: Shapes, keys: Sequence[str], source: str) -> None:
    """Refuse keys that name anything but vectors, or numbers that a leaf does not have."""
    for key in keys:
        name, wanted = leaf_of(key)
        size = int(np.prod(shapes[name]))
        if len(shapes[name]) > 1:
            raise VMGError(
                f"{source}: {name!r} holds images or other arrays, of the shape {shapes[name]}. Only vectors of "
                "numbers are supported: leave it out of keys, or encode images into vectors first."
            )
        if not 0 <= (wanted.start or 0) < (size if wanted.stop is None else wanted.stop) <= size:
            raise VMGError(
                f"{source}: {key!r} asks for numbers that are not there: that leaf has {size}, 0 to {size - 1}."
            )


def key_fields(shapes: Shapes, keys: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Return the columns of the state that each key makes, given the shape of its leaf; a plain vector has no name."""
    parts = [(key, *leaf_of(key)) for key in keys]
    return field_columns(
        (key if name else "", len(range(int(np.prod(shapes[name])))[wanted])) for key, name, wanted in parts
    )


@cache
def leaf_of(key: str) -> tuple[str, slice]:
    """Split "observation[0:9]" into the leaf's name and the numbers wanted of it; without brackets, all."""
    found = re.fullmatch(r"(.*)\[(\d*):(\d*)\]", key)
    if not found:
        return key, slice(None)
    name, begin, end = found.groups()
    return name, slice(int(begin) if begin else None, int(end) if end else None)


def leaves(structure: Any) -> dict[str, Any]:
    """Name everything that is neither a dict nor a tuple by its dotted path, "" for a structure that is one leaf."""
    found: dict[str, Any] = {}
    _add_leaves(found, structure, "")
    return found


def _leaf(structure: Any, name: str) -> Any:
    """Return the leaf of that name; where it lies at the top, without naming all others."""
    leaf = structure.get(name) if isinstance(structure, Mapping) else structure if name == "" else None
    if leaf is None or isinstance(leaf, Mapping | tuple):
        return leaves(structure)[name]
    return leaf


def _add_leaves(found: dict[str, Any], structure: Any, path: str) -> None:
    if isinstance(structure, Mapping):
        below: Iterable[tuple[Any, Any]] = structure.items()
    elif isinstance(structure, tuple):
        below = enumerate(structure)
    else:
        found[path] = structure
        return
    for name, value in below:
        _add_leaves(found, value, f"{path}.{name}" if path else str(name))


def _is_image(leaf: Any) -> bool:
    """Say whether a leaf, an array or the shape of one, has more than one dimension."""
    return len(leaf if isinstance(leaf, tuple) else getattr(leaf, "shape", None) or ()) > 1


def _default_keys(vectors: list[str]) -> tuple[str, ...]:
    if "observation" not in vectors:
        return tuple(name for name in vectors if not is_goal(name))
    return ("achieved_goal", "observation") if "achieved_goal" in vectors else ("observation",)


def _refuse_nothing(there: list[str], source: str) -> tuple[str, ...]:
    raise VMGError(
        f"{source}: nothing in it makes a state by itself: there are only goals, images and other arrays. Choose with "
        f"keys from: {', '.join(there)}."
    )
