"""What importing a room must not bring along; each in a process of its own."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("module", "forbidden"),
    [
        ("vmg", ["numpy", "jax", "numba", "scipy", "gymnasium"]),
        ("vmg.graph", ["jax", "optax", "gymnasium", "minari"]),
        ("vmg.learn.training", ["numba", "scipy.sparse", "gymnasium", "minari", "h5py"]),
        ("vmg.learn", ["numba", "scipy.sparse", "gymnasium", "minari", "h5py"]),
        ("vmg.data", ["jax", "numba", "scipy", "gymnasium", "minari", "h5py"]),
        ("vmg.cli.main", ["jax", "numba", "scipy", "gymnasium", "minari", "h5py"]),
        ("vmg.act.policy", ["jax", "numba", "scipy", "rich", "gymnasium", "minari"]),
    ],
)
def test_a_room_brings_no_more_than_it_needs(module, forbidden):
    code = f"import sys, {module}; print([name for name in {forbidden} if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert ran.stdout.strip() == "[]"


def test_every_public_name_can_be_had():
    import vmg

    for name in vmg.__all__:
        assert getattr(vmg, name).__name__ == name
    assert set(dir(vmg)) == set(vmg.__all__)
    with pytest.raises(AttributeError, match="module 'vmg' has no attribute 'nonsense'"):
        _ = vmg.nonsense


def test_a_missing_extra_is_named():
    from vmg.base.errors import VMGError, require

    with pytest.raises(VMGError, match=r"needs the package 'no_such_module'.*pip install 'value-memory-graph\[envs\]'"):
        require("no_such_module", "envs")
