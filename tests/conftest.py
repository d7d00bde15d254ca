"""What every test module can rely on: no extension of another one is there."""

import sys

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

REGISTRIES = (READERS, LOW_LEVELS, EDGE_SOURCES, ROUTES, TASKS, EXECUTORS, FIGURES)


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
