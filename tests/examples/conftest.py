"""The examples are found as the commands find them, whatever other modules of their names a test imported before."""

import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True, scope="module")
def _modules_of_the_examples(_extensions_end_with_their_module):
    """Let their folders come first, and hand the names back afterwards."""
    names = [file.stem for file in EXAMPLES.rglob("*.py")]
    others = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    sys.path[:0] = [str(EXAMPLES), str(EXAMPLES / "robots")]
    yield
    for name in names:
        sys.modules.pop(name, None)
    sys.modules.update(others)
