"""`load("source:name")`: any data set by one string, the form commands, configurations and saved agents use."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import parse_qsl

from vmg.base.arguments import checked
from vmg.base.errors import VMGError
from vmg.data.contents import left_out
from vmg.data.episodes import Episodes
from vmg.data.fields import kept_fields
from vmg.data.keys import check_keys, choose_keys, leaf_of
from vmg.data.mapping import columns_of
from vmg.data.readers import READERS, Reader


@checked
def load(name: str, *, keys: Sequence[str] | None = None, **options: Any) -> Episodes:
    """Read a data set by its id, "source:name", or "source:name?option=value&option=value".

        minari:D4RL/door/human-v2                       a Minari set on this machine; `keys` choose what makes the state
        d4rl:hopper_medium-v2.hdf5                      a D4RL file; option reward_on_arrival
        ogbench:pointmaze-medium-navigate-v0.npz        an OGBench file
        npz:episodes.npz, hdf5:episodes.hdf5            plain arrays (see `vmg.data.readers.arrays`)
        lerobot:my_robot/pick_up                        a LeRobot set; `keys` as above
        robomimic:low_dim_v141.hdf5?split=train         a robomimic file; `keys` as above
        table:log.csv?episode=run&action=u_*            CSV or Parquet; most columns are known by their names
        pointmaze:medium?steps=20000&seed=1             made on the spot: umaze, medium or large

    The source names a reader in `READERS`; others can be added. Options can stand in the id or be given by name.
    Where observations are plain vectors, `keys` name parts of them: ["[0:4]", "[6:8]"].
    """
    reader = reader_of(name)
    if reader is None:
        raise VMGError(_unknown(name))
    source, bare, written = _parts(name)
    if not bare:
        raise VMGError(f"{name!r} names no data after {source!r}. An example: {reader.example}")
    given = _checked(name, reader, written | options)
    if keys is None or reader.takes_keys:
        return reader.read(bare, **given, **({"keys": keys} if reader.takes_keys else {}))
    parts = choose_keys([""], keys, source=name)
    return _columns_of(reader.read(bare, **given), parts)


@checked
def reader_of(data_id: str) -> Reader | None:
    """Return the reader of a data set; None where its id names none."""
    source, colon, _ = data_id.partition(":")
    return READERS.find(source) if colon and source in READERS else None


@checked
def takes_keys(data_id: str) -> bool:
    """Say whether `keys` can choose which parts of this data set's observations make the state."""
    reader = reader_of(data_id)
    return reader is not None and reader.takes_keys


@checked
def brings_environment(data_id: str) -> bool:
    """Say whether this data set brings an environment to evaluate in."""
    reader = reader_of(data_id)
    return reader is not None and reader.brings_environment


@checked
def make_environment(data_id: str, **options: Any) -> Any:
    """Make the environment that a data set brings; the options are the environment's."""
    reader = reader_of(data_id)
    if reader is None or reader.environment is None:
        raise VMGError(f"{data_id!r} brings no environment. Name a task, or an environment of gymnasium's.")
    return reader.environment(_parts(data_id)[1], **options)


def _columns_of(episodes: Episodes, parts: Sequence[str]) -> Episodes:
    """Return the episodes with these parts of their observations, "[0:9]", side by side."""
    shapes = {"": (episodes.observation_size,)}
    check_keys(shapes, parts, episodes.source)
    columns = [column for _, wanted in map(leaf_of, parts) for column in range(episodes.observation_size)[wanted]]
    beside = left_out(shapes, parts)
    return replace(
        episodes,
        observations=columns_of(episodes.observations, columns),
        fields=kept_fields(episodes.fields, columns),
        left_out={**episodes.left_out, **({"observation": beside[""]} if beside else {})},
    )


def _parts(data_id: str) -> tuple[str, str, dict[str, Any]]:
    """Split an id into source, name and options; a question mark in a file's name begins no option."""
    source, _, rest = data_id.partition(":")
    name, mark, query = rest.rpartition("?")
    if not mark or "=" not in query:
        return source, rest, {}
    return source, name, dict(parse_qsl(query, keep_blank_values=True))


def _checked(data_id: str, reader: Reader, given: Mapping[str, Any]) -> dict[str, Any]:
    for option in given:
        if option not in reader.options:
            known = ", ".join(reader.options) or "none"
            raise VMGError(f"{data_id}: {option!r} is not an option of this source. Its options: {known}.")
    return {option: _value(data_id, option, value, reader.options[option]) for option, value in given.items()}


_TRUTHS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
_IN_WORDS = {bool: "true or false", int: "a whole number", float: "a number"}


def _value(data_id: str, option: str, value: Any, kind: type) -> Any:
    """Return an option's value as its type; it may have been written as text."""
    try:
        return _TRUTHS[str(value).lower()] if kind is bool else kind(str(value))
    except (KeyError, ValueError) as error:
        wanted = _IN_WORDS.get(kind, f"a {kind.__name__}")
        raise VMGError(f"{data_id}: {option} must be {wanted}, not {value!r}.") from error


def _unknown(data_id: str) -> str:
    """Say that an id names no source, and which there are."""
    source, colon, _ = data_id.partition(":")
    examples = ", ".join(reader.example for _, reader in READERS.items())
    listed = f"A data set is called source:name, for example {examples}."
    if not colon and (likely := _likely_source(data_id)):
        return f"{data_id!r} does not say what kind of data it is. Did you mean {likely}:{data_id}? {listed}"
    what = f"{source!r} is not a source of data" if colon and source else f"{data_id!r} names no source of data"
    return f"{what}. {listed}"


def _likely_source(name: str) -> str:
    """Return the source whose names look most like this one, the latest among equals; nothing if none does."""
    bare = name.partition("?")[0]
    patterns = [(pattern, source) for source, reader in READERS.items() for pattern in reader.looks_like.split()]
    alike = [(len(pattern), i, source) for i, (pattern, source) in enumerate(patterns) if fnmatchcase(bare, pattern)]
    return max(alike, default=(0, 0, ""))[-1]
