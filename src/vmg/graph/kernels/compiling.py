"""How kernels are compiled: once per machine, without Python's lock."""

import numba

jit = numba.njit(cache=True, nogil=True)
