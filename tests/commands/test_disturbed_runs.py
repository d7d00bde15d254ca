"""Runs evaluated where the world is not as recorded: by commands, beside cloning, in file, table and report."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from vmg.base.errors import VMGError
from vmg.cli.main import main
from vmg.runs import load_run
from vmg.runs.robustness import known_robustness
from vmg.studies.options import OPTIONS
from vmg.view import FIGURES
from vmg.view.gallery import Gallery
from vmg.view.style import STYLES

WORDS = ["noise=0.1,0.5", "start=0.1+push=1"]


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Path:
    """The study on a small maze, which leaves a trained run with its baselines behind."""
    out = tmp_path_factory.mktemp("disturbed") / "study"
    asked = ["--tasks", "pointmaze-umaze", "--presets", "paper", "--seeds", "0", "--disturb", "noise=0.5", "delay=2"]
    asked += ["--variants", "as chosen", "observed"]
    data = ["--data", "pointmaze-umaze=pointmaze:umaze?steps=3000"]
    small = ["--steps", "100", "--episodes", "2", "--workers", "1", "--out", str(out)]
    assert main(["reproduce", "robustness", *asked, *data, *small]) == 0
    return out


@pytest.fixture(scope="module")
def run(study) -> Path:
    folder = study / "pointmaze-umaze" / "paper"
    assert main(["build", str(folder)]) == 0
    assert main(["solve", str(folder)]) == 0
    return folder


def test_the_study_has_a_row_for_each_disturbance_with_its_command_and_interval(study):
    rows = json.loads((study / "robustness.json").read_text())
    assert [row["disturbed"] for row in rows] == [{}, {"noise": 0.5}, {"delay": 2}] * 2
    assert [row["solved"] for row in rows] == ["as chosen"] * 3 + ["observed"] * 3
    assert [row["settings"]["solve"]["paths"] == "observed" for row in rows] == [False] * 3 + [True] * 3
    assert all(list(row["scores"]) == ["VMG", "BC", "GCBC"] for row in rows)
    assert all(len(summary["interval"]) == 2 for row in rows for summary in row["scores"].values())
    assert [row["command"].count("--disturb") for row in rows] == [1] * 6
    assert ["--disturb noise=0.5 --steps" in row["command"] for row in rows] == [False, True, False] * 2
    assert ["--variants observed" in row["command"] for row in rows] == [False] * 3 + [True] * 3
    assert all(row["seeds"] == [0] for row in rows)
    table = (study / "robustness.md").read_text()
    assert "| pointmaze-umaze | paper | delay 2 | **" in table
    assert "| pointmaze-umaze | paper, observed | delay 2 | **" in table
    assert (study / "robustness_dark.svg").exists()


def evaluate(run, *words):
    trial = ["--episodes", "2", "--workers", "1", "--baselines"]
    return main(["evaluate", str(run), *trial, *(["--disturb", *words] if words else [])])


def test_every_method_is_scored_under_every_disturbance(run, capsys):
    assert evaluate(run, *WORDS) == 0
    shown = capsys.readouterr().out
    assert "start 0.1 and push 1" in shown
    assert "m/s, normal, in x and in y, once." in " ".join(shown.split())
    found = json.loads((run / "robustness.json").read_text())
    assert [row["disturbed"] for row in found["rows"]] == [
        {}, {"noise": 0.1}, {"noise": 0.5}, {"start": 0.1, "push": 1.0}
    ]  # fmt: skip
    assert all(list(row["scores"]) == ["VMG", "BC", "GCBC"] for row in found["rows"])
    assert all(summary["episodes"] == 2 for row in found["rows"] for summary in row["scores"].values())
    assert (
        found["rows"][0]["scores"]["VMG"]["score"]
        == json.loads((run / "scores.json").read_text())["summary"]["VMG"]["score"]
    )
    assert found["command"].endswith("--baselines --disturb noise=0.1,0.5 start=0.1+push=1")
    notes = {path.name for path in (run / "evaluations").iterdir()}
    assert {f"pointmaze-umaze_start-0.1-and-push-1_{m}_seed_0.jsonl" for m in ("VMG", "BC", "GCBC")} <= notes


def test_evaluating_again_runs_nothing_again_and_says_the_same(run):
    before = {path: path.read_bytes() for path in run.rglob("*.json*")}
    assert evaluate(run, *WORDS) == 0
    assert {path: path.read_bytes() for path in run.rglob("*.json*")} == before


def test_an_unknown_disturbance_is_refused_before_anything_is_run(run, capsys):
    before = {path: path.stat().st_mtime_ns for path in run.rglob("*")}
    assert evaluate(run, "wind=3") == 2
    assert "Nothing called 'wind' disturbs pointmaze-umaze. What can: start (m, normal" in " ".join(
        capsys.readouterr().err.split()
    )
    assert {path: path.stat().st_mtime_ns for path in run.rglob("*")} == before


def test_the_report_has_the_curves_until_the_settings_change(run):
    gallery = Gallery(load_run(run), load_run(run).agent(0))
    for theme in STYLES:
        drawn = FIGURES.find("robustness").draw(gallery, theme)
        (panel,) = drawn.axes  # two at once are in the table alone
        assert panel.get_xlabel().startswith("noise, of half an action's range")
        assert [line.get_label() for line in panel.lines] == ["VMG", "BC", "GCBC"]
        assert panel.lines[0].get_xdata().tolist() == [0, 0.1, 0.5]
    assert main(["evaluate", str(run), "--episodes", "1", "--workers", "1", "--act.subgoal-steps", "2"]) == 0
    assert FIGURES.find("robustness").draw(Gallery(load_run(run), load_run(run).agent(0)), "light") is None


@pytest.mark.parametrize("damage", ["{}", "[]", '{"task": 3}', "not JSON", '{"task": "a", "kinds": {"noise": 3}}'])
def test_a_damaged_file_of_curves_is_said(run, damage):
    (run / "robustness.json").write_text(damage)
    with pytest.raises(VMGError, match=r"robustness\.json"):
        known_robustness(load_run(run))


def test_options_are_measured_beside_what_was_chosen(study, tmp_path):
    """Those that learn otherwise have a run of their own; all have the metric space of the run beside them."""
    out = tmp_path / "study"
    shutil.copytree(study, out)
    names = [name for name in OPTIONS if name not in ("recordings", "observed")]
    asked = ["--tasks", "pointmaze-umaze", "--presets", "paper", "--seeds", "0", "--disturb", "noise=0.5"]
    data = ["--data", "pointmaze-umaze=pointmaze:umaze?steps=3000", "--no-baselines", "--variants", *names]
    small = ["--steps", "100", "--episodes", "1", "--workers", "1", "--out", str(out)]
    assert main(["reproduce", "robustness", *asked, *data, *small]) == 0
    rows = json.loads((out / "robustness.json").read_text())
    assert [row["solved"] for row in rows] == [name for name in names for _ in range(2)]
    chosen = rows[0]["settings"]
    for name, row in zip(names, rows[::2], strict=True):
        changed = {stage for stage in chosen if row["settings"][stage] != chosen[stage]}
        option = OPTIONS[name]
        learns = option.kind or option.low_level or option.learn
        assert changed == {
            *(["learn"] if learns else []), *(["graph"] if option.graph else []), *(["solve"] if option.solve else [])
        }  # fmt: skip
        folder = out / "pointmaze-umaze" / (f"paper-{name.replace(' ', '-')}" if learns else "paper")
        weights = load_run(folder).agent(0).weights
        if not option.learn:
            own = load_run(out / "pointmaze-umaze" / "paper").agent(0).weights
            np.testing.assert_array_equal(weights["state_encoder"]["w0"], own["state_encoder"]["w0"])
    before = {path: path.read_bytes() for path in out.rglob("weights.safetensors")}
    assert main(["reproduce", "robustness", *asked, *data, *small]) == 0
    assert {path: path.read_bytes() for path in out.rglob("weights.safetensors")} == before


def test_an_option_that_is_not_there_is_refused_before_anything_is_learned(tmp_path, capsys):
    asked = ["--tasks", "pointmaze-umaze", "--variants", "magic", "--out", str(tmp_path / "study")]
    assert main(["reproduce", "robustness", *asked]) == 2
    assert "has no variant 'magic'. It has: as chosen, recordings, observed, noise" in capsys.readouterr().err
    assert not (tmp_path / "study").exists()
