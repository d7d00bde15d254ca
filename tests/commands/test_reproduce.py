"""Studies by command, on a made-up kitchen recording: the arm drifts, one object after the other ends in its place."""

import json
import shlex
import shutil

import numpy as np
import pytest

from vmg.cli.main import main
from vmg.data import Episodes, load, save
from vmg.envs import find_task
from vmg.envs.families.kitchen import KITCHEN_FIELDS
from vmg.runs import load_run
from vmg.studies import study_table
from vmg.studies.main import LOCOMOTION, MAIN, _logs_with, _sets_of_four, _subtasks_done, presets_of

pytest.importorskip("gymnasium_robotics")
PRESETS = ["--presets", "paper", "program"]
OPTIONS = ["--seeds", "0", "1", "--episodes", "1", "--steps", "30", "--workers", "1", "--choose"]


def kitchen_recording(seed: int) -> Episodes:
    from gymnasium_robotics.envs.franka_kitchen.kitchen_env import OBS_ELEMENT_GOALS

    rng = np.random.default_rng(seed)
    episodes = []
    for _ in range(3):
        observations = rng.normal(0, 0.1, (60, 59)).cumsum(0)
        for i, (name, place) in enumerate(OBS_ELEMENT_GOALS.items()):
            observations[10 + 5 * i :, KITCHEN_FIELDS[name]] = place
        episodes.append((observations, rng.uniform(-1, 1, (59, 9)), np.arange(59) // 10, False, True))
    return Episodes.from_list(episodes, source="made up")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    for seed, name in enumerate(("partial", "complete")):
        save(kitchen_recording(seed), folder / f"{name}.npz")
    save(kitchen_recording(0), folder / "copy.npz")
    return folder


@pytest.fixture(scope="module")
def study(data, tmp_path_factory):
    out = tmp_path_factory.mktemp("study") / "study"
    tasks = ["--tasks", "kitchen-partial", "kitchen-complete", "kitchen-mixed", *PRESETS, "--out", str(out)]
    sources = ["--data", *(f"kitchen-{kind}=npz:{data / kind}.npz" for kind in ("partial", "complete"))]
    sources.append("kitchen-mixed=npz:nowhere.npz")
    assert main(["reproduce", "main", *tasks, *sources, *OPTIONS]) == 0
    return out


def test_the_table_has_every_row_and_says_what_is_missing(study):
    rows = json.loads((study / "main.json").read_text())
    assert [(row["task"], row["preset"]) for row in rows] == [
        (f"kitchen-{kind}", preset) for kind in ("partial", "complete", "mixed") for preset in ("paper", "program")
    ]
    for row in rows[:4]:
        vmg = row["scores"]["VMG"]
        assert len(vmg["models"]) == len(row["seeds"]) == 2
        assert vmg["score"] == pytest.approx(np.mean(vmg["models"]))
        assert sum(vmg["endings"].values()) == 2
        assert ("BC" in row["scores"]) == (row["preset"] == "program")
        assert len(row["data"]["digest"]) >= 16
        assert row["versions"]["numpy"] == np.__version__
    for row in rows[4:]:
        assert "minari download D4RL/kitchen/mixed-v2" in row["missing"]
        assert "vmg reproduce main --tasks kitchen-mixed" in row["missing"]
    table = (study / "main.md").read_text()
    assert table == study_table(rows)
    assert table.count("\n") == 2 + len(rows)
    assert "68.8 ± 11.9" in table


def test_called_again_it_measures_nothing_twice(study, data, monkeypatch):
    before = (study / "main.json").read_text()
    monkeypatch.setattr("vmg.evaluation.evaluation.run_episode", None)
    tasks = ["--tasks", "kitchen-partial", "kitchen-complete", *PRESETS, "--out", str(study)]
    sources = ["--data", *(f"kitchen-{kind}=npz:{data / kind}.npz" for kind in ("partial", "complete"))]
    assert main(["reproduce", "main", *tasks, *sources, *OPTIONS]) == 0
    assert json.loads((study / "main.json").read_text())[0]["scores"] == json.loads(before)[0]["scores"]


def test_the_best_checkpoint_is_reported_beside_the_last(study, data, tmp_path, monkeypatch):
    study = shutil.copytree(study, tmp_path / "study")
    monkeypatch.setattr("vmg.studies.checkpoints.CHOSEN", (1, 30))
    monkeypatch.setattr("vmg.studies.checkpoints.CHOOSING", 2)
    tasks = ["--tasks", "kitchen-complete", "--presets", "paper", "--no-baselines", "--out", str(study)]
    sources = ["--data", f"kitchen-complete=npz:{data / 'complete.npz'}", "--only", "evaluate"]
    assert main(["reproduce", "main", *tasks, *sources, *OPTIONS, "kitchen-complete"]) == 0
    (row,) = json.loads((study / "main.json").read_text())
    assert row["chosen"]["steps"] == [30, 30]  # the only checkpoint is the last, so both columns agree
    assert row["chosen"]["models"] == row["scores"]["VMG"]["models"]
    assert row["chosen"]["chosen_on"] == 2
    assert "checkpoint chosen there" in (study / "main.md").read_text()


def test_a_study_is_split_over_two_machines_and_data_may_be_called_otherwise_there(data, tmp_path, capsys):
    common = ["--tasks", "kitchen-partial", "--presets", "paper", "--no-baselines", "--out", str(tmp_path), *OPTIONS]
    there = ["--data", f"kitchen-partial=npz:{data / 'partial.npz'}"]
    here = ["--data", f"kitchen-partial=npz:{data / 'copy.npz'}"]
    assert main(["reproduce", "main", *common, *there, "--only", "train"]) == 0
    assert not (tmp_path / "main.md").exists()
    assert main(["reproduce", "main", *common, *here]) == 0
    assert "kitchen-partial" in capsys.readouterr().out
    other = ["--data", f"kitchen-partial=npz:{data / 'complete.npz'}"]
    assert main(["reproduce", "main", *common, *other]) == 2
    assert "belongs to another run" in capsys.readouterr().err


def test_skills_are_scored_before_and_after_the_change(data, tmp_path):
    sources = ["--data", f"kitchen-partial=npz:{data / 'partial.npz'}", "--presets", "paper", "--out", str(tmp_path)]
    assert main(["reproduce", "skills", *sources, *OPTIONS, "--seeds", "0"]) == 0
    (row,) = json.loads((tmp_path / "skills.json").read_text())
    assert list(row["skills"]) == ["bottom burner", "top burner", "hinge cabinet"]
    for scores in row["skills"].values():
        assert {"before", "after", "paper"} == set(scores)
    assert (tmp_path / "skills.md").read_text().count("\n") == 5


def test_other_tasks_are_asked_of_the_same_graph(data, tmp_path):
    sources = ["--data", f"kitchen-partial=npz:{data / 'partial.npz'}", "--presets", "paper", "--out", str(tmp_path)]
    assert main(["reproduce", "other-tasks", *sources, *OPTIONS, "--seeds", "0"]) == 0
    (row,) = json.loads((tmp_path / "other-tasks.json").read_text())
    (other,) = row["others"]  # kitchen-mixed's four; any other set needs more logs than these three
    assert other["subtasks"] == ["bottom burner", "light switch", "microwave", "kettle"]
    assert (other["recorded"], len(other["models"])) == (3, 1)
    assert (tmp_path / "other-tasks.md").read_text() == study_table([row])


def test_every_other_set_of_four_is_asked_that_enough_logs_do(data, monkeypatch):
    monkeypatch.setattr("vmg.studies.main.LEAST_LOGS", 3)
    episodes = load(f"npz:{data / 'partial.npz'}")
    done = _subtasks_done(find_task("kitchen-partial"), episodes)
    found = _sets_of_four(episodes, done)
    assert len(found) == 34  # four of seven, but for the task's own: every log does all seven
    assert len({frozenset(names) for names in found}) == 34


def test_a_log_does_a_subtask_that_it_undoes_again():
    episodes = Episodes.from_list([(np.zeros((4, 1)), np.zeros((3, 1)), np.zeros(3), False, True)] * 2)
    done = {"a": np.array([0, 1, 0, 0] * 2, bool), "b": np.array([0, 0, 1, 0, 0, 0, 0, 0], bool)}
    assert _logs_with(("a",), episodes, done) == 2
    assert _logs_with(("a", "b"), episodes, done) == 1


def test_settings_are_compared_on_episodes_held_out(data, tmp_path):
    sources = ["--data", f"kitchen-partial=npz:{data / 'partial.npz'}", "--tasks", "kitchen-partial"]
    assert main(["reproduce", "decay", *sources, "--steps", "30", "--out", str(tmp_path)]) == 0
    rows = json.loads((tmp_path / "decay.json").read_text())
    assert [row["value"] for row in rows] == [0, 0.01, 0.1, 1]
    assert all(row["updates"] == 30 and set(row["held_out_error"]) == {"1", "3", "5", "10"} for row in rows)
    assert all(0 < error < 100 for row in rows for error in row["held_out_error"].values())
    assert (tmp_path / "decay.md").read_text() == study_table(rows)


def test_last_weights_and_their_average_come_from_one_training(data, tmp_path):
    sources = ["--data", f"kitchen-partial=npz:{data / 'partial.npz'}", "--tasks", "kitchen-partial"]
    assert main(["reproduce", "memory", *sources, "--steps", "40", "--seeds", "0", "1", "--out", str(tmp_path)]) == 0
    rows = json.loads((tmp_path / "memory.json").read_text())
    assert [(row["value"], row["seed"]) for row in rows] == [(1, 0), (1, 1), (100_000, 0), (100_000, 1)]
    assert rows[0]["held_out_error"] != rows[2]["held_out_error"]
    assert len(list((tmp_path / "kitchen-partial").iterdir())) == 1


def test_every_row_carries_a_command_that_makes_it_again(study, tmp_path, monkeypatch):
    row = json.loads((study / "main.json").read_text())[0]
    words = shlex.split(row["command"])
    assert words[:3] == ["vmg", "reproduce", "main"]
    monkeypatch.chdir(tmp_path)
    assert main([*words[1:], "--workers", "1", "--choose"]) == 0
    (again,) = json.loads((tmp_path / "runs" / "study" / "main.json").read_text())
    assert again == row


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--tasks", "pointmaze-medium"], "The study main has no task 'pointmaze-medium'"),
        (["--data", "partial.npz"], "does not say whose data it is"),
    ],
)
def test_mistakes_are_said(tmp_path, options, words, capsys):
    assert main(["reproduce", "main", "--out", str(tmp_path), *options]) == 2
    assert words in capsys.readouterr().err


def test_baselines_beside_settings_from_the_data_learn_as_long_as_those_say(tmp_path, monkeypatch):
    monkeypatch.setattr("vmg.agent.auto.imagination.STARTS", 5)
    save(load("pointmaze:umaze?steps=600"), tmp_path / "maze.npz")
    asked = [
        "--tasks",
        "pointmaze-umaze",
        "--data",
        f"pointmaze-umaze=npz:{tmp_path / 'maze.npz'}",
        "--disturb",
        "delay",
    ]
    size = ["--seeds", "0", "--episodes", "1", "--steps", "20", "--workers", "1", "--out", str(tmp_path)]
    assert main(["reproduce", "robustness", *asked, *size]) == 0
    row = json.loads((tmp_path / "robustness.json").read_text())[0]
    assert (row["preset"], list(row["scores"])) == ("auto", ["VMG", "BC", "GCBC"])
    chosen = load_run(tmp_path / "pointmaze-umaze" / "auto").chosen()
    assert [each["value"] for each in row["choices"]] == [each.value for each in chosen.choices]
    assert row["settings"]["graph"]["radius"] == chosen.config.graph.radius


def test_tables_that_compare_settings_have_all_and_others_those_from_the_data():
    assert {presets_of(name) for name in ("main", "auto", "locomotion")} == {("paper", "program", "auto")}
    assert {presets_of(name) for name in ("skills", "other-tasks", "robustness")} == {("auto",)}


def test_the_studies_are_the_papers_tables():
    assert len(MAIN) == 15
    assert len(LOCOMOTION) == 9
