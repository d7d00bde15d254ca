"""Names that are imported when they are first used, so that importing this package costs next to nothing."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any


def lazy_names(package: str, homes: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Return a package's `__getattr__`: `homes` says in which module each name lives; a submodule is its own home."""
    home = {name: module for module, names in homes.items() for name in names}

    def find(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(home[name])
        return module if home[name] == f"{package}.{name}" else getattr(module, name)

    return find


class LazyModule(ModuleType):
    """A module that is imported when something of it is used: `jnp = LazyModule("jax.numpy")`."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)
