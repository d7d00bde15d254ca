"""Ablations by command, on a small maze: what they train, what they share, what they measure, what they write."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from vmg.agent.agent import Agent
from vmg.cli.main import main
from vmg.data import load, save
from vmg.envs import find_task
from vmg.networks import load_weights
from vmg.runs import Run, load_run, stages
from vmg.runs.notes import Measured, Trial
from vmg.studies import STUDIES, Study, study_table
from vmg.studies.ablations import Bench, ablations_of, bench
from vmg.studies.held_out import HELD_OUT
from vmg.studies.main import MAIN, TABLES
from vmg.studies.paper import CLUSTERS, RATIOS, SCORES
from vmg.studies.reproduce import TITLES
from vmg.studies.variants import ABLATIONS, BASELINE, METRIC, THREE, TRAININGS, TRANSLATOR, learning

pytest.importorskip("gymnasium_robotics")
MAZE = "pointmaze-umaze"


def options(data, out, *others):
    common = ["--tasks", MAZE, "--data", f"{MAZE}=npz:{data}", "--out", str(out), "--workers", "1"]
    return [*common, "--seeds", "0", "1", "--episodes", "1", "--steps", "30", *others]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    file = tmp_path_factory.mktemp("data") / "maze.npz"
    save(load("pointmaze:umaze?steps=1500"), file)
    return file


@pytest.fixture(scope="module")
def study(data, tmp_path_factory):
    """Trained in one call and evaluated in another, as on two machines."""
    out = tmp_path_factory.mktemp("study") / "study"
    assert main(["reproduce", "ablations", *options(data, out, "--only", "train")]) == 0
    assert not list(out.glob("*.json"))
    assert {folder.name for folder in (out / MAZE).iterdir()} == {"paper", *TRAININGS} - {BASELINE}
    assert main(["reproduce", "ablations", *options(data, out, "--only", "evaluate")]) == 0
    return out


def test_every_study_has_rows_a_table_and_figures(study):
    together = json.loads((study / "ablations.json").read_text())
    assert list(together) == list(TITLES)
    for name, rows in together.items():
        assert (study / f"{name}.md").read_text() == study_table(rows)
        assert rows == json.loads((study / f"{name}.json").read_text())
        for theme in ("light", "dark"):
            assert all((study / f"{name}_{theme}.{kind}").stat().st_size > 1000 for kind in ("png", "svg"))
        assert TITLES[name] in (study / "ablations.md").read_text()
        for row in rows:
            assert row["task"] == MAZE
            assert row["seeds"] == [0, 1]
            assert row["checkpoint"] == "step 30"
            assert row["versions"]["numpy"] == np.__version__


@pytest.mark.parametrize("name", ABLATIONS)
def test_an_ablation_measures_every_variant_against_the_preset(study, name):
    rows = json.loads((study / f"{name}.json").read_text())
    config = find_task(MAZE).preset("paper")
    possible = [variant for variant in ABLATIONS[name].variants if variant.of(MAZE, config)]
    assert [row["variant"] for row in rows] == [variant.name for variant in possible]
    assert any(row["baseline"] for row in rows)
    (baseline,) = {tuple(row["models"]) for row in rows if row["baseline"]}
    for row in rows:
        assert len(row["models"]) == len(row["graphs"]) == 2
        expected = np.mean(row["models"]) - np.mean(baseline)
        assert row["difference"]["mean"] == pytest.approx(expected)
        low, high = row["difference"]["interval"]
        assert low <= expected <= high
        assert row["difference"]["within_spread"] == (low <= 0 <= high)


def test_settings_differ_from_the_preset_in_one_stage_alone(study):
    for name in ABLATIONS:
        rows = json.loads((study / f"{name}.json").read_text())
        (baseline, *_) = [row["settings"] for row in rows if row["baseline"]]
        for row in rows:
            changed = [stage for stage in baseline if row["settings"][stage] != baseline[stage]]
            assert len(changed) == (0 if row["baseline"] else 3 if "recordings" in row["variant"] else 1)


def test_called_again_nothing_is_measured_or_built_twice(study, data, monkeypatch):
    before = json.loads((study / "ablations.json").read_text())
    monkeypatch.setattr("vmg.evaluation.evaluation.run_episode", None)
    monkeypatch.setattr(Agent, "build", None)
    assert main(["reproduce", "ablations", *options(data, study)]) == 0
    after = json.loads((study / "ablations.json").read_text())
    for name in ABLATIONS:
        assert [row["models"] for row in after[name]] == [row["models"] for row in before[name]]


def test_notes_carry_the_version_and_count_for_no_other(study, monkeypatch):
    (file,) = (study / MAZE / "paper" / "evaluations").glob("*_VMG_seed_0.jsonl")
    first, *episodes = map(json.loads, file.read_text().splitlines())
    assert first["version"]
    assert len(episodes) == 1
    run = load_run(study / MAZE / "paper")
    measured = Measured(run, run.find_task(), "VMG", 0, first["settings"])
    assert measured.known_scores(Trial(n_episodes=1)).episodes[0].seed == 0
    monkeypatch.setattr("vmg.runs.notes.package_version", lambda: "another")
    assert measured.known_scores(Trial(n_episodes=1)) is None


def on_bench(study, data, name="margin"):
    asked = Study(seeds=(0, 1), steps=30, data=(f"{MAZE}=npz:{data}",), out=study)
    return bench(name, asked, find_task(MAZE), ABLATIONS[name].variants)


def test_a_variant_takes_its_networks_from_where_they_were_learned(study, data):
    def learned(name):
        return load_weights(study / MAZE / name / "seed_1" / "weights.safetensors")

    for name, metric, translator in (
        ("margin", "margin-0.5_horizon-5", "paper"),
        ("horizon", "paper", "margin-0.5_horizon-5"),
        ("dimension", "dimension-5", "paper"),
    ):
        found = on_bench(study, data, name)
        agent = found.agent(ABLATIONS[name].variants[0].of(MAZE, found.config), 1)
        assert np.array_equal(agent.weights["state_encoder"]["w0"], learned(metric)["state_encoder"]["w0"])
        assert np.array_equal(agent.weights["translator"]["w0"], learned(translator)["translator"]["w0"])


def test_every_variant_can_be_put_together_from_the_trainings():
    task = find_task("kitchen-partial")
    config = task.preset("paper")
    every = {name: Run("", replace(config, learn=learning(config.learn, each))) for name, each in TRAININGS.items()}
    used = set()
    for ablation in ABLATIONS.values():
        for variant in ablation.variants:
            used |= {id(run) for run in Bench(Study(), task, every).needed(variant.of(task.name, config))}
    assert len(used) == len(TRAININGS)
    for learn in TRAININGS.values():
        assert sum(name in METRIC for name in learn) <= 1
        assert sum(name in TRANSLATOR for name in learn) <= 1


@pytest.fixture(scope="module")
def of_the_program(data, tmp_path_factory):
    out = tmp_path_factory.mktemp("study") / "study"
    for name in ("margin", "horizon"):
        assert main(["reproduce", name, *options(data, out, "--presets", "program")]) == 0
    return out


def test_the_programs_preset_can_be_the_baseline(of_the_program):
    assert {folder.name.partition("_")[0] for folder in (of_the_program / MAZE).iterdir()} == {"program"}
    preset = json.loads(json.dumps(find_task(MAZE).preset("program").to_dict()))
    for row in (
        row for name in ("margin", "horizon") for row in json.loads((of_the_program / f"{name}.json").read_text())
    ):
        learn, low_level = row["settings"]["learn"], row["settings"]["learn"]["low_level"]
        assert row["settings"]["solve"]["paths"] == "program"
        assert (learn["decoder_output"], learn["margins"]) == ("sampled", "program")
        assert (low_level["squashed"], low_level["past_end"]) == (True, "around")
        assert "--presets program" in row["command"]
        changed = [
            stage for stage, its in preset.items() if without_steps(row["settings"][stage]) != without_steps(its)
        ]
        assert len(changed) == (not row["baseline"])
    assert f"{MAZE}, `program`" in (of_the_program / "margin.md").read_text()


def test_ablations_of_the_program_are_those_it_has_a_choice_in():
    assert ablations_of(Study()) == list(ABLATIONS)
    programs = ablations_of(Study(presets=("program",)))
    assert programs == [name for name in ABLATIONS if name not in ("search", "choices")]
    task = find_task("antmaze-medium-play-d4rl")
    config = task.preset("program")
    for variant in (variant for name in programs for variant in ABLATIONS[name].variants):
        changed = variant.of(task.name, config)
        assert changed is not None
        assert changed.solve.paths == "program"


def without_steps(settings):
    return {name: value for name, value in settings.items() if name not in ("steps", "checkpoint_every")}


def test_a_baseline_is_one_preset_that_the_study_can_change(data, tmp_path, capsys):
    for name, presets, said in (
        ("choices", ["program"], "leave out --presets"),
        ("rewards", ["paper", "program"], "ask for --presets paper, or --presets program"),
        ("rewards", ["auto"], "not of auto"),
    ):
        assert main(["reproduce", name, *options(data, tmp_path, "--presets", *presets)]) == 2
        assert said in capsys.readouterr().err


def test_a_run_with_more_seeds_and_updates_serves(data, tmp_path, capsys):
    config = find_task(MAZE).preset("paper")
    learn = replace(config.learn, steps=40, checkpoint_every=20, hidden_units=256)
    paper = Run(f"npz:{data}", replace(config, learn=learn), (0, 1, 2), MAZE, folder=tmp_path / MAZE / "paper")
    stages.train(paper)
    asked = ["reproduce", "discount", *options(data, tmp_path)]
    capsys.readouterr()
    assert main([*asked, "--steps", "20"]) == 0
    rows = json.loads((tmp_path / "discount.json").read_text())
    assert {row["checkpoint"] for row in rows} == {"step 20"}
    assert load_run(paper.folder).seeds == (0, 1, 2)
    assert main([*asked, "--steps", "25"]) == 0
    assert "holds no networks of 25 updates (checkpoints there: 20, 40)" in (tmp_path / "discount.md").read_text()
    assert main([*asked, "--steps", "50"]) == 2
    assert "steps is 40 there and 50 now" in capsys.readouterr().err


def test_what_is_not_trained_or_not_there_is_said(study, data, tmp_path):
    out = shutil.copytree(study, tmp_path / "study")
    shutil.rmtree(out / MAZE / "dimension-5")
    assert main(["reproduce", "dimension", *options(data, out, "--only", "evaluate")]) == 0
    rows = json.loads((out / "dimension.json").read_text())
    assert "dimension-5 holds no networks of 30 updates (checkpoints there: none)" in rows[0]["missing"]
    assert [row["variant"] for row in rows if "missing" not in row] == ["dimension 10", "dimension 20"]
    nowhere = ["--tasks", "pen-human", "--data", "pen-human=npz:nowhere.npz", "--out", str(tmp_path / "none")]
    assert main(["reproduce", "curves", *nowhere]) == 0
    assert "minari download D4RL/pen/human-v2" in (tmp_path / "none" / "curves.md").read_text()


def test_the_papers_numbers_fit_its_main_table():
    for name, ablation in ABLATIONS.items():
        for task in THREE:
            config = find_task(task).preset("paper")
            baselines = [variant for variant in ablation.variants if variant.of(task, config) == config]
            assert baselines, (name, task)
            for variant in baselines:
                reported = variant.paper.get(task)
                m_of_the_kitchen = (name, task) == ("margin", "kitchen-partial")  # 64.5 there, 68.8 everywhere else
                assert reported in (None, SCORES[task][0]) or m_of_the_kitchen
    assert set(RATIOS) == set(MAIN)
    assert set(CLUSTERS) < set(MAIN)
    assert set(TITLES) | set(TABLES) | set(HELD_OUT) | {"ablations", "fidelity", "grow", "ogbench"} == set(STUDIES)
