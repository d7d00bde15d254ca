"""What importing a package must not bring along, each in a process of its own; and how the house is kept."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import vmg
from vmg.base.errors import VMGError, require

SOURCE = Path(vmg.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
LONGEST = 350
SIMULATORS = ["gymnasium", "gymnasium_robotics", "minari", "mujoco", "ogbench"]
DRAWING = ["rich", "matplotlib", "tyro", "tensorboard"]


@pytest.mark.parametrize(
    ("module", "forbidden"),
    [
        ("vmg", ["numpy", "jax", "numba", "scipy", "h5py", *SIMULATORS, *DRAWING]),
        ("vmg.base.settings", ["jax", "numba", "scipy", "h5py", *SIMULATORS, *DRAWING]),
        ("vmg.data", ["jax", "numba", "scipy", "h5py", *SIMULATORS, *DRAWING]),
        ("vmg.networks", ["jax", "numba", "scipy", "h5py", *SIMULATORS, *DRAWING]),
        ("vmg.learn", ["jax", "optax", "numba", "scipy", "h5py", *SIMULATORS, *DRAWING]),
        ("vmg.learn.training", ["numba", "scipy.sparse", "h5py", *SIMULATORS, *DRAWING]),
        ("vmg.graph", ["jax", "optax", "numba", "scipy", "h5py", *SIMULATORS, *DRAWING]),
        ("vmg.goals", ["jax", "numba", "scipy", "h5py", *SIMULATORS, *DRAWING]),
        ("vmg.act.policy", ["jax", "numba", "scipy", "h5py", *SIMULATORS, *DRAWING]),
        ("vmg.agent.agent", ["jax", "numba", "scipy", "h5py", *SIMULATORS, *DRAWING]),
        ("vmg.envs", ["jax", "numba", "scipy", "h5py", *SIMULATORS, *DRAWING]),
        ("vmg.evaluation", ["jax", "numba", "scipy", "h5py", *SIMULATORS, *DRAWING]),
        ("vmg.cli.main", ["jax", "numba", "scipy", "h5py", *SIMULATORS, "matplotlib", "tensorboard"]),
    ],
)
def test_a_package_brings_no_more_than_it_needs(module, forbidden):
    code = f"import sys, {module}; print([name for name in {forbidden} if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert ran.stdout.strip() == "[]"


def test_every_public_name_can_be_had():
    for name in vmg.__all__:
        assert getattr(vmg, name).__name__ == name
    assert set(dir(vmg)) == set(vmg.__all__)
    with pytest.raises(AttributeError, match="module 'vmg' has no attribute 'nonsense'"):
        _ = vmg.nonsense


def test_a_missing_extra_is_named():
    with pytest.raises(VMGError, match=r"needs the package 'no_such_module'.*pip install '\w.*'gymnasium>="):
        require("no_such_module", "envs")


def own_imports(function):
    """Modules of this package that a function imports in its body."""
    for node in ast.walk(function):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = ["vmg" if node.level else node.module or ""]
        else:
            continue
        yield from (f"line {node.lineno}: {name}" for name in names if name.partition(".")[0] == "vmg")


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_no_function_imports_a_module_of_our_own(file):
    functions = [
        n for n in ast.walk(ast.parse(file.read_text())) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert [found for function in functions for found in own_imports(function)] == []


def test_every_module_lies_in_a_package():
    found = {path.name for path in SOURCE.iterdir() if path.is_file()}
    assert found == {"__init__.py", "__main__.py", "py.typed"}
    folders = {path.parent for path in FILES}
    assert all((folder / "__init__.py").is_file() for folder in folders)


def test_no_file_is_long():
    assert {
        str(file.relative_to(SOURCE)): n for file in FILES if (n := len(file.read_text().splitlines())) > LONGEST
    } == {}
