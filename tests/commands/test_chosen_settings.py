"""`vmg train` without a preset: settings come from the data, are said, kept and shown, and a given one stays."""

import json
import shutil
from dataclasses import asdict

import numpy as np
import pytest

from vmg.cli.main import main
from vmg.data import Episodes, save
from vmg.networks import Ensemble, Translator
from vmg.runs import load_run
from vmg.runs.commands import run_commands
from vmg.view.sections import _chosen


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder, patch = tmp_path_factory.mktemp("auto"), pytest.MonkeyPatch()
    patch.chdir(folder)
    patch.setattr("vmg.agent.auto.imagination.STARTS", 5)
    rng = np.random.default_rng(0)
    walks = [rng.normal(0, 0.1, (25, 2)).cumsum(0) for _ in range(8)]
    logs = [(walk, np.diff(walk, axis=0), np.zeros(24), False, True) for walk in walks]
    save(Episodes.from_list(logs), folder / "logs.npz")
    words = ["train", "npz:logs.npz", "--out", "run", "--learn.steps", "40", "--learn.hidden-units", "16"]
    assert main(words) == 0
    yield folder / "run", words
    patch.undo()


def test_what_was_chosen_is_kept_with_its_reasons(run):
    folder, _ = run
    kept, made = json.loads((folder / "auto.json").read_text()), load_run(folder)
    assert {choice["setting"] for choice in kept["choices"]} >= {"graph.radius", "act.subgoal-steps", "act.noise"}
    assert all(choice["why"].endswith(".") for choice in kept["choices"])
    assert made.config.graph.radius == kept["config"]["graph"]["radius"] > 0
    assert made.config.solve.paths == "observed"


def test_what_is_given_stays(run):
    learn = load_run(run[0]).config.learn
    assert (learn.steps, learn.hidden_units) == (40, 16)
    assert learn.margins == "program"  # and what is not given is chosen


def test_another_kind_of_translator_keeps_what_was_chosen_for_translators(run):
    folder, words = run
    other = folder.with_name("other")
    other.mkdir()
    shutil.copy(folder / "auto.json", other)
    given = ["--low-level", "ensemble", "--learn.low-level.members", "2", "--learn.low-level.goal-horizon", "7"]
    assert main([*words[:3], "other", *words[4:], *given]) == 0
    chosen, made = load_run(folder).config.learn.low_level, load_run(other).config.learn.low_level
    assert chosen.inputs != Translator().inputs
    assert made == Ensemble(**asdict(chosen) | {"members": 2, "goal_horizon": 7})
    assert "--low-level ensemble" in run_commands(load_run(other), None)[0]


def test_called_again_it_goes_on_and_chooses_nothing_anew(run, capsys):
    folder, words = run
    before = (folder / "auto.json").read_bytes()
    assert main(words) == 0
    assert (folder / "auto.json").read_bytes() == before
    assert "Choosing settings" not in capsys.readouterr().err


def test_the_report_and_the_recipe_know_it(run):
    made = load_run(run[0])
    shown = "".join(_chosen(made))
    assert "Settings chosen from the data" in shown
    assert "graph.radius" in shown
    train = run_commands(made, None)[0]
    assert "--preset" not in train
    assert "--learn.steps 40" in train  # what was given, nothing that was chosen
    assert "--learn.hidden-units 16" in train
    assert train.count("--learn") == 2


def test_other_presets_need_a_task(run, capsys):
    assert main(["train", "npz:logs.npz", "--out", "other", "--preset", "paper"]) == 2
    assert "Only a task has a preset 'paper'" in capsys.readouterr().err
