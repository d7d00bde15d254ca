"""A reader of somebody else's: one file outside this package, named in VMG_EXTENSIONS."""

import os
import subprocess
import sys

import pytest

READER = '''
import csv
from pathlib import Path

from vmg.data import READERS, Episodes, Reader, from_arrays


def read_csv(path: str, *, step: float = 1.0, label: str = "walk", keys=None) -> Episodes:
    """One episode: a position and a force per row; the last row's force is never carried out."""
    with open(path, newline="") as file:
        rows = [[float(number) for number in row] for row in csv.reader(file)]
    observations = [[step * position] * len(keys or ["x"]) for position, _ in rows]
    return from_arrays(observations, [[force] for _, force in rows], lengths=[len(rows)], source=f"csv:{label}")


class Room:
    def __init__(self, name, size):
        self.name, self.size = name, size


READERS.add(
    "csv",
    Reader(
        read_csv,
        example="csv:walk.csv",
        options={"step": float, "label": str},
        takes_keys=True,
        environment=Room,
        looks_like="*.csv",
    ),
)
'''
ROWS = "0,1\n1,-1\n2,0\n"


@pytest.fixture
def run(tmp_path):
    """Run a program that knows the reader only by the environment variable, in a folder with a file it can read."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "csv_reader.py").write_text(READER)
    (tmp_path / "walk.csv").write_text(ROWS)
    known = {**os.environ, "VMG_EXTENSIONS": str(tmp_path / "elsewhere" / "csv_reader.py")}

    def run(*lines):
        program = "\n".join(["import vmg, vmg.data", *lines])
        command = [sys.executable, "-c", program]
        return subprocess.run(command, cwd=tmp_path, env=known, check=True, capture_output=True, text=True).stdout

    return run


def refused(call):
    return ["try:", f"    {call}", "except vmg.VMGError as error:", "    print(error)"]


def test_its_data_is_loaded_by_name(run):
    said = run(
        "episodes = vmg.load('csv:walk.csv')",
        "print(episodes.observations.ravel(), episodes.actions.ravel(), episodes.lengths, episodes.source)",
    )
    assert said == "[0. 1. 2.] [ 1. -1.] [2] csv:walk\n"


def test_its_options_stand_in_the_name_or_beside_it(run):
    said = run(
        "for episodes in (vmg.load('csv:walk.csv?step=0.5&label=long_walk'), vmg.load('csv:walk.csv', step=0.5)):",
        "    print(episodes.observations.ravel(), episodes.source)",
    )
    assert said.splitlines() == ["[0.  0.5 1. ] csv:long_walk", "[0.  0.5 1. ] csv:walk"]


def test_options_it_has_not_are_refused(run):
    said = run(*refused("vmg.load('csv:walk.csv?speed=3')"), *refused("vmg.load('csv:walk.csv', step='far')"))
    assert said.splitlines() == [
        "csv:walk.csv?speed=3: 'speed' is not an option of this source. Its options: step, label.",
        "csv:walk.csv: step must be a number, not 'far'.",
    ]


def test_it_is_listed_with_the_others_and_suggests_itself(run):
    said = run(*refused("vmg.load('hugging:face')"), *refused("vmg.load('runs/walk.csv')"))
    listed, suggested = said.splitlines()
    assert "for example d4rl:hopper_medium-v2.hdf5" in listed
    assert listed.endswith(", csv:walk.csv.")
    assert "Did you mean csv:runs/walk.csv?" in suggested


def test_it_says_itself_whether_it_takes_keys_and_brings_an_environment(run):
    said = run(
        "print(vmg.data.takes_keys('csv:walk.csv'), vmg.data.brings_environment('csv:walk.csv'))",
        "print(vmg.load('csv:walk.csv', keys=['x', 'y']).observation_size)",
        "room = vmg.data.make_environment('csv:walk.csv?step=2', size=3)",
        "print(room.name, room.size)",
        *refused("vmg.load('npz:a.npz', keys=['x'])"),
    )
    assert said.splitlines() == [
        "True True",
        "2",
        "walk.csv 3",
        'npz:a.npz: the observation is one plain vector: leave keys out, or name parts of it, "[0:9]".',
    ]


def test_without_the_variable_it_is_not_there(run):
    said = run("import os; del os.environ['VMG_EXTENSIONS']", *refused("vmg.load('csv:walk.csv')"))
    assert said.startswith("'csv' is not a source of data")
