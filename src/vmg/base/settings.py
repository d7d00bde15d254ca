"""Settings: frozen dataclasses that are checked when they are made and read back from JSON, all by one mechanism.

A field's type says what it may be. Beyond Python's own types:

    Annotated[float, Bounds(0, 1, open_high=True)]     a number in [0, 1)
    Annotated[str, Named(REGISTRY)]                    a name in a registry
    Annotated[Base, Kinds(REGISTRY)]                   settings of one of several kinds; JSON names it as "kind"
"""

import reprlib
import sys
import textwrap
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from math import inf, isfinite
from numbers import Integral, Real
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from vmg.base.errors import VMGError
from vmg.base.files import read_json
from vmg.base.registry import Registry

Record = TypeVar("Record")
LARGEST = sys.float_info.max
_MAKE_AGAIN = "Restore the file from a copy, or delete it and make it again."


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Base of all settings: wrong values are refused in a sentence when the settings are made."""

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(self, field.name, value := immutable(getattr(self, field.name)))
            if must_be := problem_of(_hints(type(self))[field.name], value):  # type: ignore[arg-type]
                raise VMGError(f"{field.name} must be {must_be}, not {shown(value)}.")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}

    @classmethod
    def from_dict(cls, values: Any, *, place: str) -> Self:
        """Undo `to_dict`; anything missing, unknown or of the wrong type is said with its place."""
        return read_record(cls, values, place=place)


@dataclass(frozen=True)
class Bounds:
    """What a number may be: from `low` to `high`, without an end that is open."""

    low: float = -inf
    high: float = inf
    open_low: bool = False
    open_high: bool = False

    def problem(self, value: Any) -> str:
        """Say what the number must be; nothing if it is."""
        above = value > self.low if self.open_low else value >= self.low
        below = value < self.high if self.open_high else value <= self.high
        return "" if above and below and -inf < value < inf else self.in_words()

    def in_words(self) -> str:
        if isfinite(self.low) and isfinite(self.high):
            ends = "(" if self.open_low else "[", ")" if self.open_high else "]"
            return f"a number in {ends[0]}{self.low:g}, {self.high:g}{ends[1]}"
        if isfinite(self.low):
            return f"a finite number {'above' if self.open_low else 'of at least'} {self.low:g}"
        if isfinite(self.high):
            return f"a finite number {'below' if self.open_high else 'of at most'} {self.high:g}"
        return "a finite number"


@dataclass(frozen=True)
class Named:
    """A string that names something in a registry."""

    registry: Registry[Any]

    def problem(self, value: Any) -> str:
        return "" if value in self.registry else f"one of {', '.join(map(repr, self.registry))}"


@dataclass(frozen=True)
class Kinds:
    """Settings of any kind that a registry knows."""

    registry: Registry[Any]

    def problem(self, value: Any) -> str:
        kind = getattr(value, "kind", None)
        known = isinstance(kind, str) and kind in self.registry and type(value) is self.registry.find(kind)
        return "" if known else f"settings of a {self.registry.what}: of {' or '.join(map(repr, self.registry))}"

    def read(self, values: Any, place: str) -> Any:
        if not isinstance(values, Mapping) or not isinstance(values.get("kind"), str):
            raise VMGError(f"{place} must be an object that names its kind, not {shown(values)}.")
        try:
            kind = self.registry.find(values["kind"])
        except VMGError as error:
            raise VMGError(f"{place}: {error}") from error
        return read_record(kind, {name: value for name, value in values.items() if name != "kind"}, place=place)


def read_record(kind: type[Record], values: Any, *, place: str) -> Record:
    """Make a dataclass of JSON values, strictly: nothing unknown, nothing missing, nothing of another type."""
    if not isinstance(values, Mapping):
        raise VMGError(f"{place} must be an object with named values, not {shown(values)}.")
    hints = _hints(kind)  # type: ignore[arg-type]  # mypy does not see that a class can be hashed
    if unknown := sorted(set(values) - set(hints)):
        raise VMGError(f"{place} has the unknown entry {unknown[0]!r}: it was written by another version.")
    read = {name: _read(hints[name], value, f"{place}.{name}") for name, value in values.items()}
    try:
        return kind(**read)
    except TypeError as error:
        raise VMGError(f"{place} is incomplete: {error}.") from error
    except VMGError as error:
        raise VMGError(f"{place}: {error}") from error


def read_entries(path: Path, needed: Mapping[str, Any]) -> dict[str, Any]:
    """Read a JSON object that must have these entries, each of its type, and may have others."""
    content = read_json(path)
    check_entries(content, needed, place=path)
    return dict(content)


def check_entries(values: Any, needed: Mapping[str, Any], *, place: Path) -> None:
    """Refuse values of a file which are no object with these entries, each of its type."""
    if not isinstance(values, Mapping):
        raise VMGError(f"{place} must hold named values, not {shown(values)}. {_MAKE_AGAIN}")
    for name, hint in needed.items():
        if words := problem_of(hint, immutable(values.get(name))):
            raise VMGError(f"{place}: {name} must be {words}, not {shown(values.get(name))}. {_MAKE_AGAIN}")


def shown(value: Any) -> str:
    """Return a value as it is written, cut where it is long: it may be anything."""
    return textwrap.shorten(text, 200, placeholder=" ...") if len(text := reprlib.repr(value)) > 200 else text


@cache
def _hints(kind: type) -> dict[str, Any]:
    names = {field.name for field in fields(kind)}
    return {name: hint for name, hint in get_type_hints(kind, include_extras=True).items() if name in names}


def _read(hint: Any, value: Any, place: str) -> Any:
    base, marks = (get_args(hint)[0], get_args(hint)[1:]) if get_origin(hint) is Annotated else (hint, ())
    kinds = next((mark for mark in marks if isinstance(mark, Kinds)), None)
    if kinds is not None:
        return kinds.read(value, place)
    if get_origin(base) in (types.UnionType, Union):
        choices = [choice for choice in get_args(base) if choice is not types.NoneType]
        if value is None or len(choices) > 1:
            return value
        return _read(choices[0], value, place)
    if is_dataclass(base):
        return read_record(base, value, place=place)  # type: ignore[arg-type]
    if get_origin(base) is tuple and isinstance(value, list):
        value = tuple(_read_item(get_args(base)[0], item, f"{place}[{i}]") for i, item in enumerate(value))
    if must_be := problem_of(hint, value):
        raise VMGError(f"{place} must be {must_be}, not {shown(value)}.")
    return value


def _read_item(hint: Any, item: Any, place: str) -> Any:
    """Read an entry of a list that is a record or a list itself; what else it may be is seen in the whole list."""
    return _read(hint, item, place) if is_dataclass(hint) or get_origin(hint) is tuple else item


_WORDS: dict[Any, str] = {
    bool: "true or false", int: "a whole number", float: "a number", str: "a text", Path: "a path",
    Callable: "a function",
}  # fmt: skip


def problem_of(hint: Any, value: Any) -> str:
    """Say what a value of this type must be; nothing if it is one, or if the type says too little."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        marks = [mark for mark in arguments[1:] if hasattr(mark, "problem")]
        outer = "" if any(isinstance(mark, Kinds) for mark in marks) else problem_of(arguments[0], value)
        return outer or next((words for mark in marks if (words := mark.problem(value))), "")
    if origin is Literal:
        return "" if type(value) is str and value in arguments else f"one of {', '.join(map(repr, arguments))}"
    if origin in (types.UnionType, Union):
        problems = [problem_of(choice, value) for choice in arguments]
        return "" if "" in problems else " or ".join(words for words in problems)
    if hint is types.NoneType:
        return "" if value is None else "None"
    if origin is tuple:
        return _tuple_problem(arguments, value)
    if hint is bool:
        return "" if isinstance(value, bool | np.bool_) else _WORDS[bool]
    if hint in (int, float):
        number = isinstance(value, Integral if hint is int else Real) and not isinstance(value, bool)
        return "" if number and (hint is int or not LARGEST < abs(value) < inf) else _WORDS[hint]
    if origin is Sequence:
        return _sequence_problem(arguments, value)
    if origin is Callable:
        return "" if callable(value) else _WORDS[Callable]
    if origin in (Mapping, dict):
        return _mapping_problem(arguments, value)
    plain = isinstance(hint, type) and origin is None and hint is not Any and not getattr(hint, "_is_protocol", False)
    return _WORDS.get(hint, _with_article(hint.__name__)) if plain and not isinstance(value, hint) else ""


def _sequence_problem(arguments: tuple[Any, ...], value: Any) -> str:
    numbers = isinstance(value, np.ndarray) and value.ndim > 0 and arguments[0] in (int, float)
    if not numbers and (not isinstance(value, Sequence) or isinstance(value, str | bytes)):
        return "a list"
    problems = (problem_of(arguments[0], item) for item in value)
    return next((f"a list in which each is {words}" for words in problems if words), "")


def _mapping_problem(arguments: tuple[Any, ...], value: Any) -> str:
    if not isinstance(value, Mapping):
        return "a dict"
    entries = (zip(arguments, map(immutable, pair), strict=True) for pair in value.items())
    problems = (problem_of(hint, item) for entry in entries for hint, item in entry)
    return next((f"a dict in which each is {words}" for words in problems if words), "")


def _with_article(name: str) -> str:
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"


def _tuple_problem(arguments: tuple[Any, ...], value: Any) -> str:
    if not isinstance(value, tuple):
        return "a list"
    each = arguments[:1] * len(value) if arguments[-1] is Ellipsis else arguments
    if len(each) != len(value):
        return f"a list of {len(each)}"
    problems = (problem_of(hint, item) for hint, item in zip(each, value, strict=True))
    return next((f"a list in which each is {words}" for words in problems if words), "")


def immutable(value: Any) -> Any:
    """Return numpy's numbers as Python's, and lists as tuples: settings are hashed, compared and written as JSON."""
    if isinstance(value, np.generic):
        return value.item()
    return tuple(map(immutable, value)) if isinstance(value, list | tuple) else value


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return value.to_dict() if isinstance(value, Settings) else value
