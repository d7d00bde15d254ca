"""A small part of `make chaos`: commands stopped at random moments end as undisturbed ones do."""

import json
import subprocess
import sys
from pathlib import Path

CASES = ["data save", "train", "build", "solve", "evaluate", "build again"]


def test_commands_that_are_stopped_and_called_again_leave_what_undisturbed_ones_leave(tmp_path):
    file = tmp_path / "chaos.json"
    command = [sys.executable, Path(__file__).with_name("chaos.py"), "--kills", "14", "--seed", "5", "--json", file]
    ended = subprocess.run([*command, "--workers", "1", "--cases", *CASES], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    found = json.loads(file.read_text())
    assert found["failures"] == 0
    assert found["counts"]["commands stopped at a random moment"] >= 14
