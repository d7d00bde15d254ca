"""Arrays as bytes for the page: a length, JSON that says what follows, then array after array.

uint32 N | N bytes of JSON | arrays          all little endian, everything at multiples of four bytes
"""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

TYPES = {"f": "float32", "i": "int32", "b": "uint8", "u": "uint8"}
"""What arrays of each kind are sent as."""


def framed(facts: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> bytes:
    """Return facts and arrays in one block of bytes."""
    sent = {
        name: np.ascontiguousarray(array, np.dtype(_type(array)).newbyteorder("<")) for name, array in arrays.items()
    }
    listed = [{"name": name, "type": _type(array), "length": len(array)} for name, array in sent.items()]
    head = as_json({**facts, "arrays": listed})
    head += b" " * (-len(head) % 4)
    blocks = (array.tobytes() + bytes(-array.nbytes % 4) for array in sent.values())
    return b"".join([np.uint32(len(head)).astype("<u4").tobytes(), head, *blocks])


def unframed(content: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Undo `framed`."""
    n = int(np.frombuffer(content[:4], "<u4")[0])
    facts, place, arrays = json.loads(content[4 : 4 + n]), 4 + n, {}
    for each in facts.pop("arrays"):
        kind = np.dtype(each["type"])
        arrays[each["name"]] = np.frombuffer(content, kind, each["length"], place)
        place += each["length"] * kind.itemsize
        place += -place % 4
    return facts, arrays


def as_json(content: Any) -> bytes:
    """Return JSON; numbers that JSON has no word for become null."""
    return json.dumps(_plain(content), ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _type(array: np.ndarray) -> str:
    return TYPES[array.dtype.kind]


def _plain(content: Any) -> Any:
    if isinstance(content, Mapping):
        return {str(name): _plain(each) for name, each in content.items()}
    if isinstance(content, np.ndarray | np.generic):
        return _plain(content.tolist())
    if isinstance(content, list | tuple):
        return [_plain(each) for each in content]
    if isinstance(content, float):
        return content if np.isfinite(content) else None
    return content
