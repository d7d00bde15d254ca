"""Commands and evaluations that are interrupted or killed, as real processes; `trust/chaos.py` does it more often."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from evaluation_cases import __file__ as cases
from maze_settings import TRAIN

from vmg.__main__ import _came_of_ctrl_c
from vmg.base.console import stopping_on_interrupt
from vmg.networks.weights import read_tensors

DATA = "pointmaze:umaze?steps=3000"

LOADED = """
import sys
from vmg.__main__ import main

print("begun", flush=True)
sys.exit(main())
"""

EVALUATION = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from evaluation_cases import LINE, Walker
from vmg.evaluation import evaluate


class Slow(Walker):
    def act(self, state):
        Path(sys.argv[2]).touch()
        time.sleep(0.2)
        return super().act(state)


if __name__ == "__main__":
    evaluate(Slow(), LINE, n_episodes=1000, workers=2)
"""


def begun(*words: object) -> subprocess.Popen:
    """Start a command, and wait until Python has begun with it."""
    process = subprocess.Popen(
        [sys.executable, "-c", LOADED, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "begun\n"
    return process


def test_an_interrupted_command_keeps_its_state_and_says_how_to_go_on(tmp_path):
    folder = tmp_path / "run" / "training"
    process = begun("train", DATA, *TRAIN, "--out", tmp_path / "run")
    while not (folder / "training_state.safetensors").exists():
        assert process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert said.splitlines()[-1] == "Interrupted. Call the same command again to go on."
    assert "Traceback" not in said
    _, about = read_tensors(folder / "training_state.safetensors")
    last_row = (folder / "metrics.csv").read_text().splitlines()[-1]
    assert about["step"] == last_row.partition(",")[0]


def test_a_command_that_is_interrupted_while_it_is_loaded_says_no_more(tmp_path):
    processes = [begun("train", DATA, "--out", tmp_path / str(i)) for i in range(4)]
    for process in processes:
        time.sleep(random.uniform(0, 0.7))
        process.send_signal(signal.SIGINT)
    for process in processes:
        _, said = process.communicate(timeout=120)
        assert (process.returncode, "Traceback" in said) == (130, False), said
        assert said.count("Interrupted. Call the same command again to go on.\n") == 1


def test_an_interrupt_that_a_library_makes_another_error_of_is_still_one():
    loading, missing = ImportError("initialization failed"), RuntimeError("MuJoCo is not installed")
    loading.__cause__, missing.__cause__ = KeyboardInterrupt(), loading
    assert _came_of_ctrl_c(missing)
    assert not _came_of_ctrl_c(RuntimeError("another"))


def test_an_interrupt_is_heard_even_where_nobody_asks_for_it():
    with pytest.raises(KeyboardInterrupt), stopping_on_interrupt():
        os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_processes_of_an_evaluation_end_with_it(tmp_path, number):
    script, acting = tmp_path / "script.py", tmp_path / "acting"
    script.write_text(EVALUATION)
    process = subprocess.Popen(
        [sys.executable, script, Path(cases).parent, acting], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while not acting.exists():
        assert process.poll() is None
        time.sleep(0.05)
    (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)  # a terminal interrupts all of them
    _, said = process.communicate(timeout=60)
    assert said.count("Traceback") == (number == signal.SIGINT)  # its own, as of any script
    until = time.monotonic() + 60
    while in_group(process.pid):
        assert time.monotonic() < until
        time.sleep(0.1)


def in_group(number: int) -> list[str]:
    """The processes of a group that are still running."""
    listed = subprocess.run(["ps", "-A", "-o", "pgid=,stat=,args="], capture_output=True, text=True, check=True).stdout
    rows = (line.split(maxsplit=2) for line in listed.splitlines())
    return [row[-1] for row in rows if row[0] == str(number) and not row[1].startswith("Z")]
