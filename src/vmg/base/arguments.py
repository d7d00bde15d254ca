"""What public functions are given: held against their signature, in one way for all.

    @checked
    def plan(objective: Objective, episodes: Episodes | None = None) -> Plan: ...

    plan(3)                VMGError: plan: objective must be an Objective, not 3.

Numbers go in as anything array-like, which no signature can tell from other things: `numbers_of` makes arrays of them.
"""

from collections.abc import Callable
from functools import cache, wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

from vmg.base.errors import VMGError
from vmg.base.settings import problem_of, shown

Given = ParamSpec("Given")
Result = TypeVar("Result")


def checked(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Return the function, with a sentence for every argument that is not what the signature says."""
    parameters = signature(function)

    @cache
    def hints() -> dict[str, Any]:  # at the first call: a method's class is not there before
        return get_type_hints(function, include_extras=True)

    @wraps(function)
    def call(*args: Given.args, **named: Given.kwargs) -> Result:
        for name, value in parameters.bind(*args, **named).arguments.items():
            if name in hints() and (must_be := problem_of(hints()[name], value)):
                raise VMGError(f"{function.__qualname__}: {name} must be {must_be}, not {shown(value)}.")
        return function(*args, **named)

    return call


def numbers_of(values: Any, what: str, dtype: type[np.floating[Any]] = np.float64) -> NDArray[Any]:
    """Return anything array-like as an array of numbers, or say that it is none; too large ones become infinite."""
    try:
        given = np.asarray(values)
        if given.dtype.kind not in "biuf" and given.size:
            raise VMGError(f"{what} must be numbers, not {shown(values)}.")
        with np.errstate(over="ignore"):
            return given.astype(dtype, copy=False)
    except VMGError:
        raise
    except Exception as error:  # whatever has its own way to become an array has its own errors
        raise VMGError(f"{what} must be an array of numbers: {error}.") from error
