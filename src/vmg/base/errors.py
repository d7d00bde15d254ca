"""The one exception users see, and the one way to ask for an optional package."""

import importlib
from types import ModuleType

PACKAGE = "value-memory-graph"


class VMGError(ValueError):
    """Something the user can mend: a whole sentence that names what is wrong, where, and the cure."""


def require(module: str, extra: str) -> ModuleType:
    """Import an optional module, or say which extra brings it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise
        raise VMGError(
            f"This needs the package {error.name!r}, which is not installed. Install it with: "
            f"pip install '{PACKAGE}[{extra}]'"
        ) from error
