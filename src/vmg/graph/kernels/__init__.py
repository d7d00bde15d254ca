"""The hot loops of the graph, compiled: they take arrays, know no classes and check nothing.

Every kernel has a slow, obvious twin in the tests and must equal it on random input. Nothing here is needed to act
with a saved agent, so each module is imported when it is first used. Each calls only its own functions: what is
compiled is kept on disk, and made again when its own file changes, not when another does.
"""

from typing import TYPE_CHECKING

from vmg.base.lazy import lazy_names

if TYPE_CHECKING:
    from vmg.graph.kernels import edges, extending, merging, orders, paths, program, recordings, values

__all__ = ["edges", "extending", "merging", "orders", "paths", "program", "recordings", "values"]

__getattr__ = lazy_names(__name__, {f"{__name__}.{name}": [name] for name in __all__})
