"""Functions that users bring: called, held to what they must give, and named with their file where they fail."""

import inspect
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from vmg.base.arguments import numbers_of
from vmg.base.errors import VMGError
from vmg.base.settings import shown
from vmg.base.types import Float64s


class OwnFunctionError(VMGError):
    """A function that a user brought has failed, or given what cannot be used."""


@dataclass(frozen=True)
class Form:
    """What a function gets and must give, in words, and whether infinite numbers will do."""

    gets: str
    gives: str
    each: str
    """What it gives a number for."""
    infinite: bool = False


REWARD = Form("o_t, a_t and o_{t+1}, whole arrays with one row per step", "one finite number per step", "steps")
REWARDS = Form("Episodes", "one finite number per recorded step", "steps")
DISTANCE = Form("observations, one per row", "one number per observation, nan excepted", "observations", infinite=True)


def predicate_form(fields: tuple[str, ...]) -> Form:
    """What a predicate over these fields gets and must give."""
    gets = f"a dict of arrays, one row per observation, with the fields {', '.join(map(repr, fields)) or 'of none'}"
    return Form(gets, "one true or false per observation", "observations")


def numbers_from(function: Callable[..., Any], arguments: tuple[Any, ...], n: int, form: Form) -> Float64s:
    """Return the n numbers that a function gives, or say which function in which file did what instead."""
    found = called(function, arguments, form)
    try:
        numbers = numbers_of(found, "What it gave")
    except VMGError:
        raise _refused(function, f"gave {shown(found)}", form) from None
    if numbers.shape != (n,):
        raise _refused(function, f"gave an array of the shape {numbers.shape} for {n:,} {form.each}", form)
    bad = np.flatnonzero(np.isnan(numbers) if form.infinite else ~np.isfinite(numbers))
    if len(bad):
        what = f"gave {numbers[bad[0]]:g} in row {bad[0]:,} and such numbers in {len(bad):,} of {n:,} rows"
        raise _refused(function, what, form)
    return numbers


def called(function: Callable[..., Any], arguments: tuple[Any, ...], form: Form) -> Any:
    """Call a function; an exception of its own is told with the line of its file."""
    try:
        return function(*arguments)
    except VMGError:
        raise
    except Exception as error:  # it is the user's, and may raise anything
        raise _refused(function, f"raised {_raised(error, _file_of(function))}", form) from error


def cannot_be_run(file: str, error: BaseException) -> OwnFunctionError:
    """Return what to say of a user's file that cannot be run."""
    line = f" in line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    raised = f"{type(error).__name__}{line}: {text}" if line else _raised(error, file)
    return OwnFunctionError(f"{file} cannot be run: {raised.rstrip('.')}. Mend that file.")


def is_ours(function: Any) -> bool:
    """Say whether a function is one of this package's own, of which nothing needs to be checked."""
    return str(getattr(function, "__module__", "")).startswith("vmg.")


def _refused(function: Callable[..., Any], did: str, form: Form) -> OwnFunctionError:
    file = _file_of(function)
    where = f" of {file}" if file else ""
    return OwnFunctionError(
        f"The function {_name_of(function)}{where} {did.rstrip('.')}. It gets {form.gets}, and must give {form.gives}: "
        "mend it there."
    )


def _raised(error: BaseException, file: str) -> str:
    """Name an exception and, where it went through the file, the line in it."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if file and frame.filename == file]
    place = f" in line {lines[-1]}" if lines else ""
    return f"{type(error).__name__}{place}: {error}" if str(error) else f"{type(error).__name__}{place}"


def _name_of(function: Any) -> str:
    name = getattr(function, "__name__", None) or getattr(_plain(function), "__name__", None)
    return str(name or type(function).__name__)


def _file_of(function: Any) -> str:
    plain = _plain(function)
    called = plain if hasattr(plain, "__code__") else type(plain).__dict__.get("__call__")
    return str(getattr(getattr(called, "__code__", None), "co_filename", ""))


def _plain(function: Any) -> Any:
    """The function itself, where it is wrapped in others."""
    while isinstance(function, partial) or hasattr(function, "__wrapped__"):
        function = function.func if isinstance(function, partial) else inspect.unwrap(function)
    return function
