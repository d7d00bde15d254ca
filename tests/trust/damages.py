"""What can happen to a file, by name: its bytes changed, or something else in its place."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

FOREIGN = {
    "text": b"this is something else\n" * 20,
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(64),
    "a pickle": b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00\x8c\x08builtins\x94\x8c\x04eval\x94\x93\x94.",
    "a gzip": b"\x1f\x8b\x08" + bytes(40),
    "an empty zip": b"PK\x05\x06" + bytes(18),
    "an HDF5 signature": b"\x89HDF\r\n\x1a\n" + bytes(200),
    "a huge header": b"\xff\xff\xff\xff\xff\xff\xff\x7f" + b"{" * 64,
    "deep JSON": b"[" * 100_000,
    "a long number": b"1" * 100_000,
    "no UTF-8": bytes(range(128, 256)),
}


def flipped(content: bytes, place: int) -> bytes:
    """Return the bytes with one bit changed."""
    place %= 8 * len(content)
    changed = bytearray(content)
    changed[place // 8] ^= 1 << place % 8
    return bytes(changed)


def changed_bytes(content: bytes, seed: int, flips: int) -> dict[str, bytes]:
    """Return the bytes cut, flipped, spliced, zeroed, doubled and replaced."""
    rng, half = np.random.default_rng(seed), len(content) // 2
    cuts = {0, 1, 4, len(content) // 4, half, len(content) - 8, len(content) - 1}
    changed = {f"cut at {at}": content[: max(at, 0)] for at in sorted(cuts)}
    changed |= {f"bit {at} flipped": flipped(content, int(at)) for at in rng.integers(0, 8 * len(content), flips)}
    changed |= {"halves swapped": content[half:] + content[:half], "doubled": content + content}
    changed |= {"zeros in it": content[:half] + bytes(64) + content[half + 64 :], "zeros before": bytes(8) + content}
    return changed | FOREIGN


def _folder(path: Path) -> None:
    path.mkdir()


def _pipe(path: Path) -> None:
    os.mkfifo(path)


IN_ITS_PLACE: dict[str, Callable[[Path], None]] = {
    "nothing": lambda path: None,
    "a folder": _folder,
    "a pipe": _pipe,
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a link to nothing": lambda path: path.symlink_to("there is nothing"),
    "a device that never ends": lambda path: path.symlink_to("/dev/zero"),
}
"""What can lie where a file should be."""
