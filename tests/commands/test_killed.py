"""Every command, killed with SIGKILL at a random moment and called again, ends where it would have without."""

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from vmg.cli import main

DATA = "pointmaze:umaze?steps=3000"
TRAIN = ["--learn.steps", "6000", "--learn.hidden-units", "16", "--learn.checkpoint-every", "500"]


def vmg(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "vmg.cli", *map(str, arguments)]


def kill_during(command: list[str], longest: float) -> None:
    """Start the command and kill it, at moments drawn anew until it was still running when it was killed."""
    for _ in range(20):
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        try:
            process.wait(random.uniform(0.5, longest))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            return
    pytest.fail(f"{command} always ended before it could be killed")


def contents(folder: Path, *names: str) -> dict[str, bytes]:
    """The arrays of .npz files, the bytes of all others."""
    found = {}
    for name in names:
        if name.endswith(".npz"):
            with np.load(folder / name) as file:
                found |= {f"{name}:{key}": file[key].tobytes() for key in file.files}
        else:
            found[name] = (folder / name).read_bytes()
    return found


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """A run that nobody killed."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    assert main(["train", DATA, "--out", str(folder), *TRAIN]) == 0
    assert main(["build", str(folder), "--graph.radius", "0.3"]) == 0
    assert main(["solve", str(folder)]) == 0
    return folder


def test_train(whole, tmp_path):
    folder = tmp_path / "run"
    command = vmg("train", DATA, "--out", folder, *TRAIN)
    for _ in range(2):
        kill_during(command, 7)
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    names = ("weights.safetensors", "metrics.csv", "config.json")
    settled = contents(folder / "seed_0", *names)
    for name in ("weights.safetensors", "metrics.csv"):
        assert settled[name] == contents(whole / "seed_0", name)[name], name


@pytest.mark.parametrize(("command", "file"), [("build", "graph.npz"), ("solve", "solution.npz")])
def test_build_and_solve(whole, tmp_path, command, file):
    folder = tmp_path / "run"
    shutil.copytree(whole, folder)
    again = vmg(command, folder, *(["--graph.radius", "0.4"] if command == "build" else ["--solve.discount", "0.8"]))
    reference = tmp_path / "reference"
    shutil.copytree(whole, reference)
    subprocess.run([word.replace(str(folder), str(reference)) for word in again], check=True, stderr=subprocess.DEVNULL)
    kill_during(again, 2.5)
    subprocess.run(again, check=True, stderr=subprocess.DEVNULL)
    assert contents(folder / "seed_0", file) == contents(reference / "seed_0", file)
    assert contents(reference / "seed_0", file) != contents(whole / "seed_0", file)
    assert not list(folder.rglob("*.part"))


def test_evaluate(whole, tmp_path):
    folder, reference = tmp_path / "run", tmp_path / "reference"
    for copy in (folder, reference):
        shutil.copytree(whole, copy)
    options = ["--episodes", "12", "--workers", "1", "--json"]
    expected = subprocess.run(vmg("evaluate", reference, *options), check=True, capture_output=True).stdout
    kill_during(vmg("evaluate", folder, *options), 6)
    ended = subprocess.run(vmg("evaluate", folder, *options), check=True, capture_output=True).stdout
    assert json.loads(ended) == json.loads(expected)


def test_an_interrupted_command_says_how_to_go_on(tmp_path):
    process = subprocess.Popen(vmg("train", DATA, "--out", tmp_path / "run"), stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "run" / "training" / "training_state.safetensors").exists():
        assert process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Call the same command again to go on" in said
    assert "Traceback" not in said
