"""How much memory is free, and refusing what would not fit into it."""

import os
from contextlib import suppress
from pathlib import Path

from vmg.base.errors import VMGError

GB = 1e9


def free_memory() -> int:
    """Return the bytes that can be had without swapping; in a container, no more than its limit leaves."""
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        available = 1024 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
        return min(available, _left_to_container(available))
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def check_memory(needed: int, what: str, cure: str) -> None:
    """Refuse work that needs more memory than is free."""
    free = free_memory()
    if needed > free:
        raise VMGError(f"{what} needs {in_words(needed)} of memory, and {in_words(free)} are free. {cure}")


def in_words(size: int) -> str:
    """Say how many bytes these are."""
    return f"{size / GB:.1f} GB" if size >= GB else f"{size / 1e6:.0f} MB"


def _left_to_container(otherwise: int) -> int:
    """Return what the limit of a container leaves; files that are cached give way."""
    folder = Path("/sys/fs/cgroup")
    with suppress(OSError, ValueError):
        limit, used = (int((folder / name).read_text(encoding="ascii")) for name in ("memory.max", "memory.current"))
        cached = (line.split() for line in (folder / "memory.stat").read_text(encoding="ascii").splitlines())
        return limit - used + next(int(size) for name, size in cached if name == "file")
    return otherwise
