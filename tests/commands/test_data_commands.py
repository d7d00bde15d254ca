"""`vmg data info` and `vmg data save` on a log of one's own."""

import json

import numpy as np
import pytest

from vmg.cli.main import main
from vmg.data import load


@pytest.fixture
def log(tmp_path):
    """A point that is pushed: place, speed, the place in other units, a goal, and what the data need not hold."""
    rng = np.random.default_rng(0)
    lines = ["episode,place_x,place_y,speed,centimetres,goal_x,note,a_0,a_1"]
    for episode in range(30):
        place, goal = rng.uniform(-3, 3, 2), rng.uniform(-3, 3)
        for _ in range(20):
            push = rng.uniform(-0.9, 0.9, 2)
            numbers = (*place, push[0], 100 * place[0], goal)
            lines.append(
                ",".join([str(episode), *map(repr, map(float, numbers)), "fine", *map(repr, map(float, push))])
            )
            place = place + 0.3 * push
    (tmp_path / "log.csv").write_text("\n".join(lines))
    return f"table:{tmp_path}/log.csv"


def test_info_lists_columns_and_what_was_left_out(log, capsys):
    assert main(["data", "info", log]) == 0
    lines = capsys.readouterr().out.splitlines()
    said = {line.split()[0]: line.split() for line in lines if line.strip()}
    assert " ".join(said["left"]) == "left out goal_x (a goal, 1 number), note (text)"
    assert " ".join(said["fields"]) == "fields place (0, 1)"
    assert said["0"][:2] == ["0", "place_x"]
    assert said["2"][-3:] == ["speed", "of", "place_x"]
    assert said["3"][-3:] == ["copy", "of", "place_x"]


def test_info_has_the_same_in_json(log, capsys):
    assert main(["data", "info", log, "--json", "--keys", "[0:3]"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["fields"] == {"place_x": [0], "place_y": [1], "speed": [2], "place": [0, 1]}
    assert told["left_out"]["observation"] == "1 of its 4 numbers"
    assert [each["remark"] for each in told["columns"]] == ["", "", "speed of place_x"]
    lowest = load(log).observations.min(0)
    assert [each["smallest"] for each in told["columns"]] == lowest[:3].tolist()


def test_a_saved_copy_keeps_the_content_and_the_names(log, tmp_path, capsys):
    assert main(["data", "save", log, str(tmp_path / "log.npz")]) == 0
    copy, original = load(f"npz:{tmp_path}/log.npz"), load(log)
    assert (copy.digest, copy.fields) == (original.digest, original.fields)
