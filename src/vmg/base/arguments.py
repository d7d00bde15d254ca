"""What public functions are given: held against their signature, in one way for all.

    @checked
    def plan(objective: Objective, episodes: Episodes | None = None) -> Plan: ...

    plan(3)                VMGError: plan: objective must be an Objective, not 3.

Numbers go in as anything array-like, which no signature can tell from other things: `numbers_of` makes arrays of them.
"""

from collections.abc import Callable
from dataclasses import fields
from functools import cache, wraps
from inspect import signature
from types import SimpleNamespace
from typing import Any, ParamSpec, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

from vmg.base.errors import VMGError
from vmg.base.settings import immutable, problem_of, shown

Given = ParamSpec("Given")
Result = TypeVar("Result")


def checked(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Return the function, with a sentence for every argument that is not what the signature says."""
    parameters = signature(function)

    @cache
    def hints() -> dict[str, Any]:  # at the first call: a method's class is not there before
        given = {name: hint for name, hint in function.__annotations__.items() if name != "return"}
        return get_type_hints(SimpleNamespace(__annotations__=given), function.__globals__, include_extras=True)

    @wraps(function)
    def call(*args: Given.args, **named: Given.kwargs) -> Result:
        for name, value in parameters.bind(*args, **named).arguments.items():
            if name in hints() and (must_be := problem_of(hints()[name], immutable(value))):
                raise VMGError(f"{function.__qualname__}: {name} must be {must_be}, not {shown(value)}.")
        return function(*args, **named)

    return call


def numbers_of(values: Any, what: str, dtype: type[np.floating[Any]] | None = np.float64) -> NDArray[Any]:
    """Return anything array-like as an array of numbers, or say that it is none; too large ones become infinite.

    `dtype` None: as they are.
    """
    try:
        given = np.asarray(values)
        if given.dtype.kind not in "biuf" and given.size:
            raise VMGError(f"{what} must be numbers, not {shown(values)}.")
        with np.errstate(over="ignore"):
            return given.astype(dtype or given.dtype, copy=False)
    except VMGError:
        raise
    except Exception as error:  # whatever has its own way to become an array has its own errors
        raise VMGError(f"{what} must be an array of numbers: {error}.") from error


def checked_number(number: object, n: int, what: str) -> int:
    """Return the number of one of n things, or say that there is none of that number."""
    if not isinstance(number, int | np.integer) or isinstance(number, bool) or not 0 <= number < n:
        raise VMGError(f"{what} of this graph is a whole number from 0 to {n - 1}, not {shown(number)}.")
    return int(number)


def check_fields(record: Any) -> None:
    """Refuse a dataclass with a field that is not what its type says; called where one is made by users."""
    for name, hint in _fields_of(type(record)).items():  # type: ignore[arg-type]
        if must_be := problem_of(hint, immutable(getattr(record, name))):
            raise VMGError(f"{type(record).__name__}: {name} must be {must_be}, not {shown(getattr(record, name))}.")


@cache
def _fields_of(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    return {field.name: hints[field.name] for field in fields(kind)}
