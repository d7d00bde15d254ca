"""What a data set holds beside the state, in words: goals, images, and whatever `keys` do not name."""

import warnings
from collections.abc import Sequence

import numpy as np

from vmg.data.keys import Shapes, is_goal, leaf_of


class DataWarning(UserWarning):
    """Part of the data was left out or read in a way worth knowing."""


def left_out(shapes: Shapes, keys: Sequence[str]) -> dict[str, str]:
    """Describe every leaf, given its shape, that these keys do not name, and what they leave of those they do."""
    used = dict.fromkeys(shapes, 0)
    for name, wanted in map(leaf_of, keys):
        used[name] += len(range(_size(shapes[name]))[wanted])
    words = {name: _in_words(name, shape, used[name]) for name, shape in shapes.items()}
    return {name: words[name] for name in sorted(words) if words[name]}


def warn_of_images(shapes: Shapes, source: str) -> None:
    """Say which leaves are images, and so no part of the state."""
    if images := sorted(name for name, shape in shapes.items() if len(shape) > 1):
        verb = "is" if len(images) == 1 else "are"
        warn(f"{source}: {', '.join(images)} {verb} left out: images and other arrays are no part of the state.")


def warn(sentence: str) -> None:
    """Warn of something about the data."""
    warnings.warn(sentence, DataWarning, stacklevel=2)


def _in_words(name: str, shape: tuple[int, ...], used: int) -> str:
    """Describe a leaf as far as it is left out; nothing if all of it is used."""
    size = _size(shape)
    if used >= size:
        return ""
    numbers = "1 number" if size == 1 else f"{size:,} numbers"
    if used:
        return f"{size - used:,} of its {numbers}"
    if len(shape) > 1:
        return f"{'images' if len(shape) > 2 else 'arrays'}, {' × '.join(map(str, shape))}"
    return f"a goal, {numbers}" if is_goal(name) else numbers


def _size(shape: tuple[int, ...]) -> int:
    return int(np.prod(shape))
