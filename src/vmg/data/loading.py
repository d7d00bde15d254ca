"""`load("source:name")`: any data set by one string, the form commands, configurations and saved agents use."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from vmg.data.arrays import read_hdf5, read_npz
from vmg.data.d4rl import read_d4rl
from vmg.data.episodes import Episodes
from vmg.data.minari import read_minari
from vmg.data.ogbench import read_ogbench
from vmg.data.pointmaze import collect
from vmg.errors import VMGError


def load(name: str, *, keys: Sequence[str] | None = None, **options: Any) -> Episodes:
    """Read a data set by its id, "source:name", or "source:name?option=value&option=value".

        minari:D4RL/door/human-v2                       a Minari set on this machine; `keys` choose what makes the state
        d4rl:hopper_medium-v2.hdf5                      a D4RL file; option reward_on_arrival
        ogbench:pointmaze-medium-navigate-v0.npz        an OGBench file
        npz:episodes.npz, hdf5:episodes.hdf5            plain arrays (see `vmg.data.arrays`)
        pointmaze:medium?steps=20000&seed=1             made on the spot: umaze, medium or large

    Options can stand in the string or be given by name.
    """
    source, colon, rest = name.partition(":")
    if not colon or source not in SOURCES:
        raise VMGError(_unknown(name, source if colon else None))
    rest, written = _options(rest)
    if not rest:
        raise VMGError(f"{name!r} names no data after {source!r}. An example: {SOURCES[source].example}")
    given = _parsed(name, SOURCES[source], written | options)
    if keys is not None:
        if source != "minari":
            raise VMGError(f"{name}: only minari sets have keys to choose; leave keys out.")
        given["keys"] = keys
    return SOURCES[source].read(rest, **given)


@dataclass(frozen=True)
class Source:
    """A kind of data set: how to read one by its name, and which options that takes."""

    read: Callable[..., Episodes]
    example: str
    options: dict[str, type]


SOURCES = {
    "minari": Source(read_minari, "minari:D4RL/door/human-v2", {}),
    "d4rl": Source(read_d4rl, "d4rl:hopper_medium-v2.hdf5", {"reward_on_arrival": bool}),
    "ogbench": Source(read_ogbench, "ogbench:pointmaze-medium-navigate-v0.npz", {}),
    "npz": Source(read_npz, "npz:episodes.npz", {}),
    "hdf5": Source(read_hdf5, "hdf5:episodes.hdf5", {}),
    "pointmaze": Source(collect, "pointmaze:medium?steps=20000&seed=1", {"steps": int, "seed": int}),
}
SUFFIXES = {".hdf5": "d4rl", ".h5": "hdf5", ".npz": "npz"}


def _options(rest: str) -> tuple[str, dict[str, Any]]:
    """Cut "?a=1&b=2" off the end; a question mark in a file's name is no option."""
    front, mark, query = rest.rpartition("?")
    if not mark or "=" not in query:
        return rest, {}
    return front, dict(parse_qsl(query, keep_blank_values=True))


def _parsed(name: str, source: Source, given: dict[str, Any]) -> dict[str, Any]:
    for option in given:
        if option not in source.options:
            known = ", ".join(source.options) or "none"
            raise VMGError(f"{name}: {option!r} is not an option of this source. Its options: {known}.")
    return {option: _value(name, option, value, source.options[option]) for option, value in given.items()}


def _value(name: str, option: str, value: Any, kind: type) -> Any:
    if kind is bool:
        words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
        if str(value).lower() in words:
            return words[str(value).lower()]
    else:
        try:
            return kind(str(value).replace("_", ""))
        except ValueError:
            pass
    wanted = "true or false" if kind is bool else "a whole number"
    raise VMGError(f"{name}: {option} must be {wanted}, not {value!r}.")


def _unknown(name: str, source: str | None) -> str:
    listed = f"A data set is called source:name, for example {', '.join(each.example for each in SOURCES.values())}."
    suffix = next((end for end in SUFFIXES if name.partition("?")[0].endswith(end)), None)
    if source is None and suffix:
        return f"{name!r} does not say what kind of data it is. Did you mean {SUFFIXES[suffix]}:{name}? {listed}"
    if source is None and "/" in name:
        return f"{name!r} does not say what kind of data it is. Did you mean minari:{name}? {listed}"
    what = f"{source!r} is not a source of data" if source else f"{name!r} names no source of data"
    return f"{what}. {listed}"
