"""`vmg reproduce ogbench` on small files recorded on the spot."""

import json
import shlex

import pytest

pytest.importorskip("ogbench")

from ogbench_files import point_maze

from vmg.cli.main import main
from vmg.envs import task_of
from vmg.runs import load_run
from vmg.studies import study_table
from vmg.studies.ogbench import SETS
from vmg.studies.ogbench_paper import METHODS, PUBLISHED, best_published

pytestmark = pytest.mark.filterwarnings("ignore:Nothing reaches this goal")  # little is recorded
NAMES = ("pointmaze-medium-navigate", "pointmaze-medium-stitch")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ogbench")
    for seed, name in enumerate(NAMES):
        point_maze(folder / f"{name}-v0.npz", 5, 100 * seed)
    options = ["--seeds", "3", "--episodes", "5", "--steps", "20", "--workers", "1", "--data", str(folder)]
    options += ["--presets", "paper", "--out", str(folder / "out")]
    command = ["reproduce", "ogbench", "--tasks", *NAMES, "scene-play", *options]
    assert main(command) == 0
    return folder / "out", command


def test_every_data_set_has_its_row_and_those_without_a_file_say_how_to_get_it(study):
    folder, _ = study
    *rows, missing = json.loads((folder / "ogbench.json").read_text())
    assert [row["task"] for row in rows] == [*NAMES]
    for row in rows:
        assert len(row["models"]) == 1
        assert list(row["by_task"]) == ["1", "2", "3", "4", "5"]
        assert sum(row["endings"].values()) == 5
        assert row["training"]["models"] == 2
        assert row["decide_ms"] > 0
        assert shlex.split(row["command"])[:5] == ["vmg", "reproduce", "ogbench", "--tasks", row["task"]]
    assert rows[0]["data"]["digest"] != rows[1]["data"]["digest"]
    assert "ogbench.download_datasets(['scene-play-v0'])" in missing["missing"]
    table = (folder / "ogbench.md").read_text()
    assert table == study_table([*rows, missing])
    assert "| scene-play, `paper` | not measured yet |" in table


def test_called_again_it_runs_nothing_and_finds_what_others_scored_on_the_same_file(study, capsys):
    folder, command = study
    before = json.loads((folder / "ogbench.json").read_text())
    peer = {"task": NAMES[0], "method": "HIQL", "score": 12.0, "interval": [1.0, 23.0], "gpu_seconds": 77.0}
    same, other = ({**peer, "data": {"digest": digest}} for digest in (before[0]["data"]["digest"], "another"))
    (folder / "ogbench-peers.json").write_text(json.dumps([same, {**other, "method": "QRL"}]))
    assert main([*command, "--only", "evaluate"]) == 0
    after = json.loads((folder / "ogbench.json").read_text())
    assert after[0].pop("peers") == {"HIQL": same}
    assert {**after[0], "peers": {}} == before[0]
    assert "| 12.0 (1.0 – 23.0) |" in capsys.readouterr().out


def test_settings_come_from_the_data_where_no_preset_is_named(study, tmp_path, monkeypatch):
    monkeypatch.setattr("vmg.agent.auto.imagination.STARTS", 5)
    _, command = study
    few = ["reproduce", "ogbench", "--tasks", NAMES[0], *command[command.index("--seeds") : command.index("--presets")]]
    assert main([*few, "--out", str(tmp_path)]) == 0
    (row,) = json.loads((tmp_path / "ogbench.json").read_text())
    chosen = load_run(tmp_path / NAMES[0] / "auto").chosen()
    assert row["preset"] == "auto"
    assert [each["value"] for each in row["choices"]] == [each.value for each in chosen.choices]
    assert row["settings"]["graph"]["radius"] == chosen.config.graph.radius
    assert row["settings"]["learn"]["steps"] == 20
    assert (tmp_path / "ogbench.md").read_text().count(f"| {NAMES[0]} |") == 2


def test_an_unknown_data_set_is_refused(tmp_path, capsys):
    assert main(["reproduce", "ogbench", "--tasks", "antmaze-tiny", "--out", str(tmp_path)]) == 2
    assert "has no data set 'antmaze-tiny'. It has: pointmaze-medium-navigate" in capsys.readouterr().err


def test_every_data_set_has_a_task_and_published_scores():
    for name in SETS:
        assert name.startswith(task_of(f"ogbench:{name}-v0.npz").name.removeprefix("ogbench-"))
        assert tuple(PUBLISHED[name]) == METHODS
    assert best_published("antmaze-giant-navigate") == ("HIQL", 65.0, 5.0)
