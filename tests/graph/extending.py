"""An extension, as somebody else would write it: a file outside the package that registers something."""

import os
import sys
from contextlib import contextmanager

import pytest

from vmg.base import registry


@contextmanager
def extension(file, source, *registries):
    """Name a file with this source in the environment; afterwards nothing is left of it in this process."""
    file.write_text(source, encoding="utf-8")
    known = [dict(each._found) for each in registries]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(registry.VARIABLE, f"{os.pathsep}{file}")
        patch.setattr(sys, "path", list(sys.path))
        patch.setattr(registry, "_loaded", set())
        yield
    sys.modules.pop(file.stem, None)
    for each, found in zip(registries, known, strict=True):
        each._found = found
