"""What every test module can rely on: no extension of another one is there, and little time goes into compiling."""

import os
import sys
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings

from vmg.base import registry
from vmg.data import READERS
from vmg.envs import TASKS
from vmg.evaluation import EXECUTORS
from vmg.graph import EDGE_SOURCES, ROUTES
from vmg.networks import LOW_LEVELS
from vmg.view import FIGURES

settings.register_profile("patient", deadline=None)  # a busy machine is no fault of the code
settings.load_profile("patient")

COMPILED = {
    "XLA_FLAGS": "--xla_backend_optimization_level=1",  # networks this small take longer to compile than to learn
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.3",
}
LONGEST = (
    "learn/test_side_by_side.py",
    "docs/test_code_blocks.py",
    "commands/test_reproduce.py",
    "agent/test_auto.py",
    "commands/test_killed.py",
    "commands/test_disturbed_runs.py",
    "commands/test_ablations.py",
    "commands/test_chosen_settings.py",
    "trust/test_full_disk.py",
    "view/test_film.py",
    "cluster/test_ray.py",
    "commands/test_walk.py",
    "learn/test_fit.py",
)

REGISTRIES = (READERS, LOW_LEVELS, EDGE_SOURCES, ROUTES, TASKS, EXECUTORS, FIGURES)


def pytest_configure(config):
    """Compile lightly, and once for all the processes that a worker starts; whoever sets XLA_FLAGS has their own."""
    kept = TemporaryDirectory(prefix="vmg-compiled-")
    config.add_cleanup(kept.cleanup)
    os.environ.update(COMPILED | os.environ | {"JAX_COMPILATION_CACHE_DIR": kept.name})


def pytest_collection_modifyitems(items):
    """Begin with the longest files, so that no worker is left with one of them when the others are done."""
    ends = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: ends.get("/".join(item.path.parts[-2:]), len(ends)))


@pytest.fixture(autouse=True, scope="module")
def _extensions_end_with_their_module(tmp_path_factory):
    """Forget what was registered, and the files and modules that did it."""
    patch, modules = pytest.MonkeyPatch(), set(sys.modules)
    for each in REGISTRIES:
        patch.setattr(each, "_found", dict(each._found))
    patch.setattr(registry, "_loaded", set(registry._loaded))
    patch.setattr(sys, "path", list(sys.path))
    patch.setenv(registry.VARIABLE, "")
    yield
    patch.undo()
    for name in set(sys.modules) - modules:
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(tmp_path_factory.getbasetemp())):
            del sys.modules[name]
