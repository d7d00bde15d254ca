"""The whole walk by commands, on a real small maze: from data to a score, in one folder."""

import json
import shutil
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from maze_settings import BUILD, EVALUATE, SOLVE, TRAIN

from vmg.agent.agent import Agent
from vmg.cli.main import main
from vmg.runs import load_run
from vmg.view.gallery import gather
from vmg.view.sections import recipe

DATA = "pointmaze:umaze?steps=20000"


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("walk") / "run"
    train = ["train", DATA, "--out", str(folder), *TRAIN, "--validation", "0.1", "--learn.steps", "4000"]
    assert main([*train, "--learn.hidden-units", "64"]) == 0
    assert main(["build", str(folder), *BUILD]) == 0
    assert main(["solve", str(folder), *SOLVE]) == 0
    assert main(["evaluate", str(folder), *EVALUATE, "--episodes", "20", "--baselines"]) == 0
    return folder


def test_the_walk_ends_with_a_good_score_and_beats_cloning(run):
    scores = json.loads((run / "scores.json").read_text())
    by_method = {method: rows[0]["score"] for method, rows in scores["scores"].items()}
    assert scores["checkpoint"] == "last"
    assert by_method.keys() == {"VMG", "BC", "GCBC"}
    assert by_method["VMG"] >= 80
    assert by_method["VMG"] > by_method["BC"]


def test_every_episode_is_noted_with_how_it_ended(run):
    for method in ("VMG", "BC", "GCBC"):
        lines = (run / "evaluations" / f"pointmaze-umaze_{method}_seed_0.jsonl").read_text().splitlines()
        episodes = [json.loads(line) for line in lines[1:]]
        assert sorted(e["seed"] for e in episodes) == list(range(20))
        assert all((e["ended"] == "success") == e["success"] for e in episodes)


def test_the_agent_in_the_run_is_complete(run):
    agent = Agent.load(run / "seed_0")
    assert agent.graph is not None
    assert agent.routes is not None
    card = (run / "seed_0" / "README.md").read_text()
    assert "pointmaze-umaze: **" in card
    assert "20 episodes with fixed seeds" in card
    losses = np.genfromtxt(run / "seed_0" / "metrics.csv", delimiter=",", names=True)
    assert losses["step"][-1] == 4000
    assert losses["contrastive"][-1] < losses["contrastive"][0]
    assert np.isfinite(losses["validation_translator"]).all()


def test_info_tells_of_runs_and_agents_in_words_and_in_json(run, capsys):
    for folder, words in (
        (run, ["pointmaze:umaze", "score, VMG", "vertices"]),
        (run / "seed_0", ["radius", "vertices"]),
    ):
        assert main(["info", str(folder)]) == 0
        said = capsys.readouterr().out
        assert all(word in said for word in words)
        assert "\t" not in said
        assert main(["info", str(folder), "--json"]) == 0
        json.loads(capsys.readouterr().out)


def test_evaluating_again_runs_nothing_again_and_prints_the_same_scores(run, capsys):
    before = (run / "scores.json").read_text()
    assert main(["evaluate", str(run), "--episodes", "20", "--baselines", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (run / "scores.json").read_text() == before
    assert printed["VMG"][0]["n_episodes"] == 20


def test_fewer_episodes_of_those_measured_do_not_replace_the_headline(run, tmp_path, capsys):
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    files = [copy / "scores.json", copy / "seed_0" / "scores.json"]
    before = [file.read_text() for file in files]
    for first in ("0", "7"):
        capsys.readouterr()
        assert main(["evaluate", str(copy), "--episodes", "3", "--first-seed", first, "--json"]) == 0
        printed = capsys.readouterr()
        assert json.loads(printed.out)["VMG"][0]["n_episodes"] == 3
        assert "The headline stays what was measured with 20 episodes" in printed.err
        assert [file.read_text() for file in files] == before
    assert main(["evaluate", str(copy), "--episodes", "3", "--first-seed", "18"]) == 0  # two of them are new
    assert json.loads(files[0].read_text())["scores"]["VMG"][0]["n_episodes"] == 3


def test_other_settings_are_measured_anew(run, capsys):
    assert main(["evaluate", str(run), "--episodes", "3", "--act.subgoal-steps", "1", "--json"]) == 0
    nearer = json.loads(capsys.readouterr().out)["VMG"][0]
    assert nearer["n_episodes"] == 3
    assert Agent.load(run / "seed_0").config.act.subgoal_steps == 1
    assert main(["evaluate", str(run), "--episodes", "20", "--act.subgoal-steps", "4", "--baselines"]) == 0


def test_a_wider_radius_is_built_anew_and_needs_solving_again(run, tmp_path, capsys):
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    before = Agent.load(copy / "seed_0").built.n_vertices
    assert main(["build", str(copy), "--graph.radius", "3"]) == 0
    assert "of the episodes held out it covers" in capsys.readouterr().err
    wider = Agent.load(copy / "seed_0")
    assert wider.built.n_vertices < before
    assert wider.routes is None
    assert main(["build", str(copy)]) == 0  # the radius is remembered
    assert "has this graph already" in capsys.readouterr().err


def test_where_the_run_stands_among_the_options_does_not_matter(run, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    assert main(["solve", "--solve.discount", "0.9", str(copy)]) == 0
    settings = Agent.load(copy / "seed_0").config.solve
    assert (settings.discount, settings.ties) == (0.9, "nearest")
    assert not (copy / "seed_0" / "scores.json").exists()  # they were measured with another discount
    assert "Not evaluated yet" in (copy / "seed_0" / "README.md").read_text()


def again(folder, capsys):
    """What training once more says is next."""
    train = ["train", DATA, "--out", str(folder), *TRAIN, "--validation", "0.1", "--learn.steps", "4000"]
    assert main([*train, "--learn.hidden-units", "64"]) == 0
    return capsys.readouterr().err.strip().splitlines()[-1]


def test_training_again_names_what_the_run_lacks(run, tmp_path, capsys):
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    assert again(copy, capsys) == f"Next: vmg report {copy}"
    assert main(["solve", str(copy), "--solve.discount", "0.9"]) == 0
    assert again(copy, capsys) == f"Next: vmg evaluate {copy}"
    assert main(["build", str(copy), "--graph.radius", "3"]) == 0
    assert again(copy, capsys) == f"Next: vmg solve {copy}"
    for name in ("graph.npz", "routes.npz"):
        (copy / "seed_0" / name).unlink(missing_ok=True)
    assert again(copy, capsys) == f"Next: vmg build {copy}"


def test_the_recipe_makes_every_episode_in_its_tables(run, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    assert main(["evaluate", str(copy), "--episodes", "2", "--first-seed", "1000"]) == 0
    (code, *_) = recipe(gather(load_run(copy), replays=0))
    evaluating = [line for line in unescape(code).splitlines() if "vmg evaluate" in line]
    assert "--episodes 20" in evaluating[0]
    assert "--first-seed" not in evaluating[0]
    assert evaluating[1].endswith("--episodes 2 --first-seed 1000")
    assert len(evaluating) == 2


def test_training_into_another_run_is_refused(run, capsys):
    assert main(["train", DATA, "--out", str(run), *TRAIN, "--learn.steps", "5000"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "holds another run" in said
    assert "steps is 4000 there and 5000 now" in said


def test_data_info_and_save(tmp_path, capsys):
    file = tmp_path / "maze.npz"
    assert main(["data", "save", "pointmaze:umaze?steps=500", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"file": str(file), "episodes": 5, "steps": 500}
    assert main(["data", "info", f"npz:{file}", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["steps"] == 500
    assert main(["data", "info", f"npz:{file}"]) == 0
    said = capsys.readouterr().out
    assert "500" in said
    assert "\t" not in said


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ([], 0, "vmg evaluate"),
        (["--help"], 0, "`vmg COMMAND --help`"),
        (["fly"], 2, "There is no command `vmg fly`"),
        (["data"], 2, "data info, data save"),
        (["build", "/nowhere"], 2, "is not a run: there is no run.json in it"),
        (["info", "/nowhere"], 2, "does not exist"),
        (["data", "info", "nonsense"], 2, "A data set is called source:name"),
        (["train", "pointmaze:umaze", "--out", "/nowhere/x", "--preset", "best"], 2, "has no preset 'best'"),
        (["train", "pointmaze:umaze", "--out", "/nowhere/x", "--task", "chess"], 2, "There is no task 'chess'"),
    ],
)
def test_exit_codes_and_sentences(arguments, code, words, capsys):
    assert main(arguments) == code
    said = capsys.readouterr()
    assert words in " ".join((said.out + said.err).split())


@pytest.mark.parametrize(
    "command",
    ["demo", "data info", "data save", "train", "build", "solve", "evaluate", "info", "retask", "draw", "report"],
)
def test_every_command_explains_itself(command, capsys):
    with pytest.raises(SystemExit) as ended:
        main([*command.split(), "--help"])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert f"usage: vmg {command}" in said
    assert "--json" in said


def test_a_command_without_arguments_explains_what_is_missing(capsys):
    for command in ("train", "build", "evaluate"):
        with pytest.raises(SystemExit) as ended:
            main([command])
        assert ended.value.code == 2


def test_help_shows_the_defaults_of_the_data_named(capsys):
    with pytest.raises(SystemExit):
        main(["train", "pointmaze:medium", "--preset", "program", "--help"])
    assert "(default: program)" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["train", "--out", "runs/x", "minari:D4RL/kitchen/partial-v2", "--help"])
    assert "800000" in capsys.readouterr().out
