"""Every command, killed with SIGKILL at a random moment and called again, ends where it would have without."""

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from vmg.cli.main import main
from vmg.networks.weights import read_tensors

DATA = "pointmaze:umaze?steps=3000"
TRAIN = ["--preset", "ours", "--learn.steps", "6000", "--learn.hidden-units", "16", "--learn.checkpoint-every", "500"]


def vmg(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "vmg.cli.main", *map(str, arguments)]


def ran(command: list[str]) -> float:
    """Run the command to its end and return the seconds it took."""
    began = time.monotonic()
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


def kill_during(command: list[str], longest: float, fresh: Callable[[], object] = lambda: None) -> None:
    """Start the command and kill it, from a fresh start each time, until it was still running when it was killed."""
    for _ in range(20):
        fresh()
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        try:
            process.wait(random.uniform(0.1, 1.0) * longest)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            return
    pytest.fail(f"{command} always ended before it could be killed")


def copied(source: Path, target: Path) -> Callable[[], object]:
    """Return what makes `target` a fresh copy of `source`."""

    def copy() -> None:
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target)

    return copy


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
    ran(command)
    names = ("weights.safetensors", "metrics.csv")
    assert contents(folder / "seed_0", *names) == contents(whole / "seed_0", *names)


@pytest.mark.parametrize(("command", "file"), [("build", "graph.npz"), ("solve", "solution.npz")])
def test_build_and_solve(whole, tmp_path, command, file):
    options = ["--graph.radius", "0.4"] if command == "build" else ["--solve.discount", "0.8"]
    folder, reference = tmp_path / "run", tmp_path / "reference"
    copied(whole, reference)()
    seconds = ran(vmg(command, reference, *options))
    kill_during(vmg(command, folder, *options), seconds, copied(whole, folder))
    ran(vmg(command, folder, *options))
    assert contents(folder / "seed_0", file) == contents(reference / "seed_0", file)
    assert contents(reference / "seed_0", file) != contents(whole / "seed_0", file)
    assert not list(folder.rglob(".*.part"))


def test_evaluate(whole, tmp_path):
    folder, reference = tmp_path / "run", tmp_path / "reference"
    options = ["--episodes", "12", "--workers", "1"]
    copied(whole, reference)()
    seconds = ran(vmg("evaluate", reference, *options))
    kill_during(vmg("evaluate", folder, *options), seconds, copied(whole, folder))
    ran(vmg("evaluate", folder, *options))
    scores, expected = (json.loads((each / "scores.json").read_text()) for each in (folder, reference))
    assert scores.pop("command").replace(str(folder), str(reference)) == expected.pop("command")
    assert scores == expected


def test_an_interrupted_command_keeps_its_state_and_says_how_to_go_on(tmp_path):
    folder = tmp_path / "run" / "training"
    process = subprocess.Popen(
        vmg("train", DATA, "--preset", "ours", "--out", tmp_path / "run"), stderr=subprocess.PIPE, text=True
    )
    while not (folder / "training_state.safetensors").exists():
        assert process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Call the same command again to go on" in said
    assert "Traceback" not in said
    _, about = read_tensors(folder / "training_state.safetensors")
    last_row = (folder / "metrics.csv").read_text().splitlines()[-1]
    assert about["step"] == last_row.partition(",")[0]
