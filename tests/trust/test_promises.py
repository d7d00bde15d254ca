"""The page of promises: its counts are those of the commands, nothing failed, and all licences are allowed."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from licences import ALLOWED, EXTRAS, PACKAGE, dependencies, identifiers, licence, required

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
COUNTED = [file for file in sorted((ROOT / "results" / "trust").glob("*.json")) if file.stem != "licences"]


@pytest.mark.parametrize("file", COUNTED, ids=lambda file: file.stem)
def test_what_was_counted_held(file):
    found = json.loads(file.read_text(encoding="utf-8"))
    assert found.keys() >= {"command", "seed", "seconds", "versions", "counts", "failures"}
    assert found["command"].startswith(f"make {file.stem}")
    assert found["failures"] == 0
    assert all(isinstance(count, int | float) for count in found["counts"].values())


def test_every_command_and_test_that_the_page_names_is_there():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"`make ([\w-]+)", PAGE)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    for test in set(re.findall(r"`(tests/[\w/]+\.py)`", PAGE)):
        assert (ROOT / test).is_file(), test


@pytest.mark.parametrize("name", sorted(dependencies()))
def test_every_dependency_has_a_licence_that_is_allowed(name):
    assert set(licence(name)) <= ALLOWED


def test_a_licence_that_is_not_allowed_is_noticed():
    assert not set(identifiers("GPL-3.0-only")) <= ALLOWED


def test_the_table_of_licences_names_every_direct_dependency():
    listed = json.loads((ROOT / "results" / "trust" / "licences.json").read_text(encoding="utf-8"))["direct"]
    assert {name for name, _ in required(PACKAGE, EXTRAS)} == set(listed)


def test_the_lock_file_has_every_direct_dependency_with_hashes_and_no_addresses():
    lock = (ROOT / "requirements-dev.txt").read_text(encoding="utf-8")
    assert "://" not in lock
    entries = re.split(r"^(?=[a-z0-9])", lock, flags=re.MULTILINE)[1:]
    assert all("--hash=sha256:" in entry for entry in entries)
    locked = {re.match(r"[\w.-]+", entry)[0] for entry in entries}
    assert {name for name, _ in required(PACKAGE, ("dev",))} - {PACKAGE} <= locked


def test_every_dependency_has_a_lower_bound():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    for requirement in (*project["dependencies"], *(each for extra in extras for each in extra)):
        assert re.search(r">=|==|^value-memory-graph\[", requirement), requirement


def test_a_bill_of_materials_names_the_dependencies(tmp_path):
    pytest.importorskip("cyclonedx_py")
    command = [sys.executable, "-m", "cyclonedx_py", "environment", "--of", "JSON", "-o", str(tmp_path / "bom.json")]
    subprocess.run([*command, "--pyproject", str(ROOT / "pyproject.toml"), sys.executable], check=True)
    bill = json.loads((tmp_path / "bom.json").read_text(encoding="utf-8"))
    assert bill["bomFormat"] == "CycloneDX"
    assert bill["metadata"]["component"]["name"] == PACKAGE
    assert {"numpy", "jax", "numba"} <= {part["name"] for part in bill["components"]}
