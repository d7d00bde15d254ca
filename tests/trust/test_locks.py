"""Two processes in one folder: the second says who is there and stops, and what a dead one held is free."""

import signal
import socket
import subprocess
import sys

import pytest

from vmg.agent.settings import AgentConfig
from vmg.base.errors import VMGError
from vmg.base.files import replacing
from vmg.base.locks import LOCK, held
from vmg.cli.main import main
from vmg.runs import Run, save_run

HOLD = """
import sys, time
from pathlib import Path
from vmg.base.files import replacing
from vmg.base.locks import held

folder = Path(sys.argv[1])
with held(folder), replacing(folder / "kept") as beside:
    print("held", flush=True)
    time.sleep(100)
"""


@pytest.fixture
def holder(tmp_path):
    """A process that holds a folder and writes to a file in it."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, tmp_path / "run"], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_the_second_process_says_who_is_there(holder, tmp_path):
    who = rf"process {holder.pid} on {socket.gethostname()}"
    with pytest.raises(VMGError, match=rf"run is being written to by {who}\. Wait until it has ended"):
        held(tmp_path / "run").__enter__()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_what_a_dead_process_held_is_free_and_what_it_left_is_removed(holder, tmp_path, number):
    folder = tmp_path / "run"
    holder.send_signal(number)
    holder.wait()
    assert len(list(folder.glob(".kept.*.part"))) == 1
    with held(folder):
        assert [file.name for file in folder.iterdir()] == [LOCK]
    assert list(folder.iterdir()) == []


def test_a_file_that_another_process_is_writing_is_left_to_it(holder, tmp_path):
    file = tmp_path / "run" / "kept"
    with replacing(file) as beside:
        beside.write_text("ours")
    assert file.read_text() == "ours"
    assert len(list(file.parent.glob(".kept.*.part"))) == 1


WRITING = {
    "train": ["pointmaze:umaze?steps=200", "--preset", "paper", "--out"],
    "build": [],
    "solve": [],
    "evaluate": [],
    "retask": ["--goal", "position=1,1"],
    "reproduce": ["auto", "--tasks", "pointmaze-umaze", "--out"],
}


def test_every_command_that_writes_to_a_run_stops_and_one_that_reads_does_not(holder, tmp_path, capsys):
    folder = tmp_path / "run"
    save_run(Run("pointmaze:umaze?steps=200", AgentConfig(), folder=folder))
    before = (folder / "run.json").read_bytes()
    for name, options in WRITING.items():
        assert main([name, *options, str(folder)]) == 2
        assert f"is being written to by process {holder.pid}" in " ".join(capsys.readouterr().err.split())
    assert main(["info", str(folder)]) == 0
    assert {file.name for file in folder.iterdir() if file.suffix != ".part"} == {LOCK, "run.json"}
    assert (folder / "run.json").read_bytes() == before


def test_a_process_may_hold_a_folder_twice_and_lets_go_at_the_end(tmp_path):
    with held(tmp_path):
        with held(tmp_path / ".." / tmp_path.name):
            assert (tmp_path / LOCK).exists()
        assert (tmp_path / LOCK).exists()
    assert not (tmp_path / LOCK).exists()


@pytest.mark.parametrize("written", [True, False])
def test_a_folder_stays_only_where_something_was_written_or_it_was_there_before(tmp_path, written):
    before, new = tmp_path / "before", tmp_path / "new"
    before.mkdir()
    for folder in (before, new):
        with held(folder):
            if written:
                (folder / "kept").write_text("kept")
    assert (before.exists(), new.exists()) == (True, written)
