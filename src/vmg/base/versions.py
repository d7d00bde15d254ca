"""What something was made with: this package, Python and the libraries that are installed."""

import platform

from vmg.base.errors import PACKAGE
from vmg.base.lazy import LazyModule

metadata = LazyModule("importlib.metadata")

LIBRARIES = ("numpy", "scipy", "numba", "jax", "optax", "gymnasium", "gymnasium-robotics", "mujoco", "minari")


def versions(*others: str) -> dict[str, str]:
    """Return the versions of Python, this package, its libraries and others, as far as they are installed."""
    found = {"python": platform.python_version(), "platform": platform.platform()}
    for name in (PACKAGE, *LIBRARIES, *others):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def package_version() -> str:
    """Return this package's version, or "unknown" where it runs from source without being installed."""
    return versions().get(PACKAGE, "unknown")
