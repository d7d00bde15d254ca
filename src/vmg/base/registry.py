"""Registries: what others can add, each thing under one name, without changing this package.

An *extension* is a Python file or an importable module that registers something when it is imported:

    from vmg.data import READERS, Reader

    READERS.add("mine", Reader(read_mine, example="mine:log.csv"))   # from now on vmg.load("mine:NAME") works

From Python, import it. For the commands, and for the processes they start, name it in `VMG_EXTENSIONS` (several are
separated as in PATH) or with `vmg COMMAND --extension FILE`; installed packages can name a module in the entry point
group `vmg.extensions`. An extension is run: name only files you trust. A saved agent never names one.
"""

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

from vmg.base.errors import VMGError
from vmg.base.lazy import LazyModule

metadata = LazyModule("importlib.metadata")  # slow to import, and `vmg --help` needs none of it

VARIABLE = "VMG_EXTENSIONS"
GROUP = "vmg.extensions"

T = TypeVar("T")
Class = TypeVar("Class", bound=type[Any])


class Registry(Generic[T]):
    """Things of one kind by name. Extensions are loaded when a name is not known, and before all names are listed."""

    def __init__(self, what: str) -> None:
        self.what = what
        """What one of them is, in words: "reader"."""
        self._found: dict[str, T] = {}

    def register(self, name: str) -> Callable[[T], T]:
        """Return a decorator that adds what it decorates under this name."""

        def add(thing: T) -> T:
            self.add(name, thing)
            return thing

        return add

    def add(self, name: str, thing: T) -> None:
        """Add something under a name; a name that is taken by something else is refused."""
        there = self._found.get(name)
        if there is not None and not _same_source(there, thing):
            raise VMGError(f"The {self.what} {name!r} exists already. Register yours under another name.")
        self._found[name] = thing

    def find(self, name: str) -> T:
        """Return what has this name, or say which names there are."""
        if name not in self:
            raise VMGError(
                f"There is no {self.what} {name!r}. There are: {', '.join(self._found)}. If an extension brings it, "
                f"name the extension in {VARIABLE}."
            )
        return self._found[name]

    def __contains__(self, name: object) -> bool:
        if name not in self._found:
            load_extensions()
        return name in self._found

    def __iter__(self) -> Iterator[str]:
        load_extensions()
        return iter(list(self._found))

    def items(self) -> list[tuple[str, T]]:
        """Return every name with what it stands for, those of extensions too."""
        load_extensions()
        return list(self._found.items())


class ClassRegistry(Registry[Class]):
    """A registry of classes, each of which knows its name in it as `kind`: what is saved names its kind."""

    def add(self, name: str, thing: Class) -> None:
        """Add a class and tell it its name; a class that calls itself something else is refused."""
        if (own := vars(thing).get("kind", name)) != name:
            raise VMGError(f"The {self.what} {name!r} calls itself {own!r}: register it under its own name, and once.")
        super().add(name, thing)
        thing.kind = name


def load_extensions() -> None:
    """Import every extension that the environment variable or an installed package names; each once."""
    named = os.environ.get(VARIABLE, "").split(os.pathsep)
    for place in (*named, *_installed()):
        if place and place not in _loaded:
            _loaded.add(place)  # at once: an extension may look something up while it is imported
            try:
                load_extension(place)
            except BaseException:
                _loaded.discard(place)  # so that whoever asks next is told as well
                raise


def load_extension(place: str) -> None:
    """Import one extension: a file that ends in .py, or a module by its name."""
    if place.endswith(".py"):
        import_file(place)
        return
    try:
        importlib.import_module(place)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{place}.".startswith(f"{error.name}."):
            raise  # the extension is there: it is something that it imports which is not
        raise VMGError(f"There is no module {place!r} to import. A file is named by its path, FILE.py.") from error


def import_file(place: str) -> ModuleType:
    """Import a Python file, so that what it defines can be found by the processes it is sent to. The file is run."""
    file = Path(place).expanduser().resolve()
    if not file.is_file():
        raise VMGError(f"The file {place} does not exist: name a Python file that does.")
    if str(file.parent) not in sys.path:
        sys.path.append(str(file.parent))
    module = importlib.import_module(file.stem)
    if Path(module.__file__ or "").resolve() != file:
        raise VMGError(f"{place} cannot be imported: another module is called {file.stem}. Rename the file.")
    return module


_loaded: set[str] = set()


@cache
def _installed() -> tuple[str, ...]:
    """Modules that installed packages name; looked up once, since that takes milliseconds."""
    return tuple(point.module for point in metadata.entry_points(group=GROUP))


def _same_source(one: object, other: object) -> bool:
    """Say whether two things are one definition, imported twice."""
    names = [(getattr(each, "__module__", None), getattr(each, "__qualname__", None)) for each in (one, other)]
    return one is other or (names[0] == names[1] and None not in names[0])
