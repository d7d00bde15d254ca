"""How kernels are compiled: once per machine, without Python's lock."""

from typing import Any

import numba
from numba.core import event

from vmg.base.console import say

jit = numba.njit(cache=True, nogil=True)


class _Announced(event.Listener):
    """Says that something is compiled, when the first kernel of this package is: what is cached is not compiled."""

    said = False

    def on_start(self, event: Any) -> None:
        own = str(event.data["dispatcher"].py_func.__module__).startswith("vmg.")
        if own and not self.said:
            self.said = True
            say("Compiling the graph's loops, once per machine: some ten seconds.")

    def on_end(self, event: Any) -> None:
        """Nothing: what takes long is said when it begins."""


event.register("numba:compile", _Announced())  # type: ignore[no-untyped-call]
