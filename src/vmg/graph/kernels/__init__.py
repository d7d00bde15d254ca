"""The hot loops of the graph, compiled: they take arrays, know no classes and check nothing.

Every kernel has a slow, obvious twin in the tests and must equal it on random input. Nothing here is needed to act
with a saved agent, so these modules are imported where they are used and not before. Each calls only its own functions:
what is compiled is kept on disk, and made again when its own file changes, not when another does.
"""

import numba

jit = numba.njit(cache=True, nogil=True)
