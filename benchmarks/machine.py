"""Versions and hardware of a run: without them the numbers mean nothing."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from vmg.base.errors import PACKAGE

LIBRARIES = (
    PACKAGE,
    "numpy",
    "scipy",
    "numba",
    "jax",
    "optax",
    "torch",
    "networkx",
    "scikit-learn",
    "faiss-cpu",
    "rich",
)


def describe_machine() -> dict[str, Any]:
    """Return versions, cores, load, and the threads of every BLAS and OpenMP that is loaded."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "versions": {name: found for name in LIBRARIES if (found := _version(name))},
        "threads": [
            {"library": pool["prefix"], "version": pool["version"], "threads": pool["num_threads"]} for pool in _pools()
        ],
    }


def blas_threads() -> str:
    """Say how many threads each BLAS may use."""
    pools = [pool for pool in _pools() if pool["user_api"] == "blas"]
    return ", ".join(f"{pool['internal_api']} {pool['num_threads']}" for pool in pools) or "unknown"


def _pools() -> list[dict[str, Any]]:
    try:
        from threadpoolctl import threadpool_info
    except ModuleNotFoundError:  # a GPU machine needs only what learning needs
        return []
    return threadpool_info()  # type: ignore[no-any-return]


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor()
