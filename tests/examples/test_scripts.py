"""Every example is run as a reader runs it, and ends with what it promises."""

import io
import json
import os
import re
import runpy
import shutil
import sys
from contextlib import redirect_stdout
from pathlib import Path

import matplotlib as mpl
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOK = EXAMPLES / "tour.ipynb"


def run(folder, script, *arguments):
    """Run a script in a folder, with arguments, and return what it prints."""
    printed, patch = io.StringIO(), pytest.MonkeyPatch()
    with patch.context() as there, redirect_stdout(printed):
        there.chdir(folder)
        there.setattr(sys, "argv", [script, *arguments])
        there.setattr(sys, "path", [os.path.dirname(EXAMPLES / script), *sys.path])
        runpy.run_path(str(EXAMPLES / script), run_name="__main__")
    return printed.getvalue()


def numbers(text):
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", text)]


@pytest.fixture(scope="module", autouse=True)
def _no_windows():
    mpl.use("agg")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Logs of the robot among rocks."""
    folder = tmp_path_factory.mktemp("examples")
    assert "400 episodes" in run(folder, "robots/obstacles.py", "logs.npz")
    return folder


@pytest.fixture(scope="module")
def first(folder):
    """What the first script prints; its agent is what the others use."""
    return run(folder, "own_logs.py", "logs.npz", "agent")


def test_own_logs_become_an_agent_that_drives_to_the_charger(first):
    assert "It can be done" in first
    assert "At the charger after" in first


@pytest.mark.usefixtures("first")
def test_a_new_reward_earns_more_than_the_best_log(folder):
    recorded, earned = run(folder, "new_reward.py", "logs.npz", "agent").splitlines()
    assert numbers(earned)[0] > numbers(recorded)[1]


@pytest.mark.usefixtures("first")
def test_a_region_is_avoided_and_drawn(folder):
    short, around = run(folder, "avoid.py", "logs.npz", "agent").splitlines()
    assert numbers(short)[1] > 0
    assert numbers(around)[1] == 0
    assert numbers(around)[0] < 200
    assert (folder / "avoid.png").stat().st_size > 10_000


@pytest.mark.usefixtures("first")
def test_a_sequence_is_done_in_order(folder):
    last = run(folder, "sequence.py", "agent").splitlines()[-1]
    assert re.fullmatch(r"All three corners in \d+ of 10 episodes\.", last)
    assert numbers(last)[0] >= 8


def test_an_environment_of_ones_own(folder):
    last = run(folder, "own_environment.py").splitlines()[-1]
    assert last.startswith("Reached the pier in")
    assert numbers(last)[0] >= 90


def test_the_notebook_runs_from_its_first_cell_to_its_last(tmp_path, monkeypatch, capsys):
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    monkeypatch.chdir(tmp_path / "examples")
    for module in ("obstacles", "own_logs", "recording"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "examples"), str(tmp_path / "examples" / "robots"), *sys.path])
    namespace = {"__name__": "__main__"}
    for number, cell in enumerate(cells("code")):
        exec(compile("".join(cell["source"]), f"{NOTEBOOK.name}, code cell {number}", "exec"), namespace)
    printed = capsys.readouterr().out
    assert "It can be done" in printed
    assert "there: True" in printed


def test_the_notebook_is_kept_without_outputs():
    assert not any(cell["outputs"] or cell["execution_count"] for cell in cells("code"))
    assert json.loads(NOTEBOOK.read_text(encoding="utf-8"))["nbformat"] == 4


def cells(kind):
    return [cell for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == kind]


def test_every_script_is_run_here():
    tested = Path(__file__).read_text(encoding="utf-8")
    scripts = [script.name for script in EXAMPLES.glob("*.py")]
    assert scripts
    assert all(f'"{script}"' in tested for script in scripts)
