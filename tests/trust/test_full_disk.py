"""A full disk: one sentence, exit code 2, nothing lost, and the same command goes on once there is room."""

import json
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import maze_settings
import pytest
from evaluation_cases import LINE, Walker

import vmg
from vmg.base.errors import VMGError
from vmg.base.files import write_json
from vmg.cli.main import main
from vmg.evaluation import evaluate
from vmg.runs import Run
from vmg.runs.notes import Measured, Trial

DATA = "pointmaze:umaze?steps=600"
LEARN = [*maze_settings.TRAIN, "--learn.steps", "60", "--learn.checkpoint-every", "20", "--learn.hidden-units", "8"]
EPISODES = ["--episodes", "2", "--executor", "here"]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What came of each command, on a disk that is full at some file."""
    place, patch = tmp_path_factory.mktemp("full"), pytest.MonkeyPatch()
    (place / "nothing").mkdir()
    (place / "trained").mkdir()
    patch.chdir(place / "trained")
    train = ["train", DATA, "--out", "run", *LEARN]
    assert main(train) == 0
    shutil.copytree(place / "trained", place / "solved")
    patch.chdir(place / "solved")
    assert main(["build", "run", "--graph.radius", "0.5"]) == 0
    assert main(["solve", "run"]) == 0
    shutil.copytree(place / "solved", place / "evaluated")
    patch.chdir(place / "evaluated")
    assert main(["evaluate", "run", *EPISODES]) == 0
    nothing, trained, solved, evaluated = (str(place / each) for each in ("nothing", "trained", "solved", "evaluated"))
    cases = {
        "data save": [nothing, ["data", "save", DATA, "data.npz"], 5000],
        "train": [nothing, train, 5000],
        "build": [trained, ["build", "run", "--graph.radius", "0.2"], ["run/seed_0/weights.safetensors", 0]],
        "build again": [evaluated, ["build", "run", "--graph.radius", "0.2"], ["run/seed_0/graph.npz", -1]],
        "solve again": [evaluated, ["solve", "run", "--solve.discount", "0.5"], ["run/seed_0/graph.npz", -1]],
        "evaluate": [solved, ["evaluate", "run", *EPISODES], 100],
        "retask": [solved, ["retask", "run", "--goal", "position=1,1", "--episodes", "0"], 200],
    }
    write_json(place / "cases.json", list(cases.values()))
    subprocess.run([sys.executable, Path(__file__).with_name("full_disk.py"), place / "cases.json"], check=True)
    yield dict(zip(cases, json.loads((place / "cases.found").read_text()), strict=True))
    patch.undo()


def test_every_command_ends_in_a_sentence_and_goes_on_once_there_is_room(found):
    for name, came in found.items():
        assert came["code"] == 2, (name, came)
        assert came["said"].count("could not be written: File too large") == 1, (name, came)
        assert "Traceback" not in came["said"], (name, came)
        assert came["again"] == 0, (name, came)


def test_nothing_that_was_there_is_lost_and_nothing_half_written_is_left(found):
    for name, came in found.items():
        assert came["lost"] == came["left"] == [], (name, came)
        assert came["changed"] == [], (name, came)


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 200 kB, where one may be made."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", place], capture_output=True)
    if mounted.returncode:
        pytest.skip("No disk can be mounted here.")
    yield place
    subprocess.run(["umount", place], check=True)


@pytest.mark.parametrize("room", [0, 9000])  # for not even the weights; for all but the graph
def test_an_agent_stays_what_it_was_when_a_larger_one_finds_no_room(small_disk, room):
    episodes = vmg.load(DATA)
    config = vmg.AgentConfig(learn=vmg.LearnConfig(steps=10, hidden_units=8), graph=vmg.GraphConfig(radius=0.1))
    (agent,) = vmg.Agent.fit(episodes, config, show_progress=False)
    agent.build(episodes).solve().save(small_disk / "agent")
    before = {file.name: file.read_bytes() for file in (small_disk / "agent").iterdir()}
    free = os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_bsize
    (small_disk / "other").write_bytes(b"\0" * (free - room))
    larger = agent.build(vmg.load("pointmaze:umaze?steps=3000")).solve()
    with pytest.raises(VMGError, match=r"could not be written: .*No space left on device"):
        larger.save(small_disk / "agent")
    assert {file.name: file.read_bytes() for file in (small_disk / "agent").iterdir()} == before
    (small_disk / "other").unlink()
    larger.save(small_disk / "agent")
    assert vmg.Agent.load(small_disk / "agent").built.n_vertices == larger.built.n_vertices


class Filling(Walker):
    """Fills a disk when the third episode begins, once."""

    def __init__(self, file):
        self.file, self.begun = file, 0

    def begin(self, observation, objective):
        super().begin(observation, objective)
        self.begun += 1
        if self.begun == 3:
            with suppress(OSError), open(self.file, "wb", buffering=0) as file:
                while True:
                    file.write(b"\0" * 1000)


def test_episodes_that_were_noted_count_when_there_is_room_again(small_disk):
    measured = Measured(Run("made up", vmg.AgentConfig(), folder=small_disk), LINE, "VMG", 0, {})
    trial = Trial(n_episodes=40, executor="here")
    with pytest.raises(VMGError, match=r"jsonl could not be written: No space left on device"):
        measured.scores(Filling(small_disk / "filling"), trial)
    noted = measured.path.read_text().splitlines()
    assert len(noted) > 2
    (small_disk / "filling").unlink()
    ran = Filling(small_disk / "unused")
    ran.begun = 3
    assert measured.scores(ran, trial) == evaluate(Walker(), LINE, n_episodes=40, executor="here")
    assert ran.begun - 3 <= 40 - (len(noted) - 2)
