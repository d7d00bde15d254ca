"""What a reader is: it makes `Episodes` of a data set, which it is given by name.

A reader of your own is one function and one registration:

    from vmg.data import READERS, Episodes, Reader

    def read_mine(name: str, *, gap: float = 1.0) -> Episodes: ...

    READERS.add("mine", Reader(read_mine, example="mine:log.csv", options={"gap": float}))

From then on `vmg.load("mine:log.csv?gap=0.5")` works, and every command takes such data (see `vmg.base.registry`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from vmg.base.registry import Registry
from vmg.data.episodes import Episodes


@dataclass(frozen=True)
class Reader:
    """How to read one kind of data set."""

    read: Callable[..., Episodes]
    """`read(name, **options)`, and `read(name, keys=None, **options)` where keys can be chosen. `name` is what stands
    between "source:" and the options."""
    example: str
    """A data set's whole id; error messages show it."""
    options: Mapping[str, type] = field(default_factory=dict)
    """The options that can stand in an id, each with its type: bool, int, float or str."""
    takes_keys: bool = False
    """Whether `keys` can choose which parts of an observation make the state (see `vmg.data.keys`)."""
    environment: Callable[..., Any] | None = None
    """`environment(name, **options)` makes the environment that such a data set brings; None if it brings none."""
    makes: bool = False
    """Whether the data are made on the spot; a run keeps them, so that they need not be made again."""
    looks_like: str = ""
    """Patterns of names, "*.csv *.parquet". Whoever writes such a name without a source is told of this one."""

    def __post_init__(self) -> None:
        # A reader counts as defined where its function is: so a file or a notebook's cell that is run again may
        # register its reader again (see `Registry.add`).
        for name in ("__module__", "__qualname__"):
            object.__setattr__(self, name, getattr(self.read, name, None))

    @property
    def brings_environment(self) -> bool:
        """Whether a data set of this kind brings an environment to evaluate in."""
        return self.environment is not None


def with_options(source: str, options: Mapping[str, Any]) -> str:
    """Return a data set's id with the options that were given; None: it was not."""
    given = {
        name: str(value).lower() if value is True else value for name, value in options.items() if value is not None
    }
    return f"{source}?{urlencode(given, safe='*,?[]/')}" if given else source


READERS: Registry[Reader] = Registry("reader")
