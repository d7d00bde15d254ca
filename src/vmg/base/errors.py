"""The one exception users see, and the one way to ask for an optional package."""

import importlib
from types import ModuleType

from vmg.base.lazy import LazyModule

metadata = LazyModule("importlib.metadata")  # slow to import, and needed only where something is missing

PACKAGE = "value-memory-graph"


class VMGError(ValueError):
    """Something the user can mend: a whole sentence that names what is wrong, where, and the cure."""


def require(module: str, extra: str) -> ModuleType:
    """Import an optional module, or say what to install for it and for all else that its extra brings."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise
        wanted = " ".join(f"'{each}'" for each in packages_of(extra) or [error.name])
        raise VMGError(
            f"This needs the package {error.name!r}, which is not installed. Install what the extra {extra!r} brings "
            f"with: pip install {wanted}"
        ) from error


def packages_of(extra: str) -> list[str]:
    """Return the packages that an extra brings, as pip takes them: that works wherever this package came from."""
    try:
        required = metadata.requires(PACKAGE) or []
    except metadata.PackageNotFoundError:
        return []
    parts = [each.partition(";") for each in required]
    return [name.strip() for name, _, marker in parts if f"extra == '{extra}'" in marker.replace('"', "'")]
