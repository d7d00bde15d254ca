"""`vmg grow`: a run that is given more episodes is the run that had them from the start."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from learning_cases import untrained
from test_extending import assert_same

import vmg
from vmg.agent.agent import Agent
from vmg.cli.main import main
from vmg.data.facts import DataFacts
from vmg.runs import Run, load_run, save_run
from vmg.runs.commands import run_commands
from vmg.view import sections

SEEDS = (0, 3)


def walks(n: int, seed: int) -> vmg.Episodes:
    rng = np.random.default_rng(seed)
    parts = []
    for _ in range(n):
        actions = rng.uniform(-1, 1, (12, 2))
        places = np.concatenate([rng.normal(size=(1, 2)), actions]).cumsum(0)
        parts.append(
            (np.concatenate([places, 0.1 * places], axis=1), actions, (np.arange(12) == 11) * 1.0, True, False)
        )
    return vmg.Episodes.from_list(parts, fields={"place": (0, 1)})


@pytest.fixture
def made(tmp_path):
    """A run of two agents that have not learned anything, solved, and scored once; and a log that came later."""
    vmg.data.save(walks(6, 0), tmp_path / "first.npz")
    vmg.data.save(walks(3, 1), tmp_path / "later.npz")
    data = f"npz:{tmp_path / 'first.npz'}"
    learn = vmg.LearnConfig(hidden_units=8, metric_dimension=3, batch_size=16, steps=1)
    config = vmg.AgentConfig(learn=learn, graph=vmg.GraphConfig(radius=0.1, goal_columns=(0, 1)))
    run = Run(data=data, config=config, seeds=SEEDS, folder=tmp_path / "run")
    episodes, _ = run.episodes()
    save_run(run)
    for seed in SEEDS:
        agent = Agent(config, DataFacts.of(episodes), seed, untrained(episodes, learn, seed))
        agent.build(episodes).solve().save(run.agent_folder(seed))
    return run, f"npz:{tmp_path / 'later.npz'}"


def assert_grown(run, n_episodes):
    """Hold every agent against the one that is built from all episodes."""
    run = load_run(run.folder)
    episodes, _ = run.episodes()
    assert len(episodes) == n_episodes
    for _, agent in run.agents():
        whole = replace(agent, graph=None).build(episodes).solve()
        assert_same(agent.built, whole.built)
        assert np.array_equal(agent.own_plan.values, whole.own_plan.values)


def test_a_grown_run_is_the_run_that_had_all_from_the_start(made, capsys):
    run, later = made
    assert main(["grow", str(run.folder), later]) == 0
    said = capsys.readouterr().out
    assert "Seed 0. 3 new episodes, 36 steps:" in said
    assert "Seed 3. 3 new episodes" in said
    assert_grown(run, 9)
    (note,) = json.loads((run.folder / "growth.json").read_text())
    assert set(note["growth"]) == {"0", "3"}
    assert note["growth"]["0"]["episodes"] == 3


def test_the_report_and_its_recipe_tell_of_what_came_later(made):
    run, later = made
    assert main(["grow", str(run.folder), later]) == 0
    grown = load_run(run.folder)
    said = "".join(sections.growth(SimpleNamespace(run=grown)))
    assert "Episodes that came later" in said
    assert later in said
    assert f"vmg grow {run.folder} {later}" in run_commands(grown, None)


def test_the_log_can_go_once_it_was_added(made, tmp_path, capsys):
    run, later = made
    assert main(["grow", str(run.folder), later]) == 0
    (tmp_path / "later.npz").unlink()
    assert main(["build", str(run.folder), "--graph.radius", "0.2"]) == 0
    assert main(["solve", str(run.folder)]) == 0
    assert_grown(run, 9)
    capsys.readouterr()
    assert main(["info", str(run.folder), "--json"]) == 0
    (added,) = json.loads(capsys.readouterr().out)["added"]
    assert (added["source"], added["episodes"], added["steps"]) == (later, 3, 36)


def test_the_same_log_twice_is_added_once_and_two_logs_are_both_added(made, tmp_path, capsys):
    run, later = made
    vmg.data.save(walks(2, 2), tmp_path / "third.npz")
    for data in (later, later, f"npz:{tmp_path / 'third.npz'}"):
        assert main(["grow", str(run.folder), data]) == 0
    said = capsys.readouterr().err
    assert f"has the 3 episodes of {later} already" in said
    assert "Every graph knows all episodes already." in said
    assert_grown(run, 11)


def test_scores_of_before_do_not_count_for_the_longer_data(made):
    run, later = made
    for folder in (run.folder, run.agent_folder(0)):
        (folder / "scores.json").write_text("{}")
    before = run.all_data
    assert main(["grow", str(run.folder), later]) == 0
    assert not (run.folder / "scores.json").exists()
    assert not (run.agent_folder(0) / "scores.json").exists()
    assert load_run(run.folder).all_data.startswith(f"{before} + {later} (")


def test_a_killed_growth_goes_on(made):
    run, later = made
    process = subprocess.Popen([sys.executable, "-m", "vmg", "grow", str(run.folder), later], stderr=subprocess.PIPE)
    while not (run.folder / "added" / "0.npz").exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert main(["grow", str(run.folder), later]) == 0
    assert_grown(run, 9)


def test_a_graph_that_was_left_behind_is_not_used(made, capsys):
    run, later = made
    before = (run.agent_folder(3) / "graph.npz").read_bytes(), (run.agent_folder(3) / "solution.npz").read_bytes()
    assert main(["grow", str(run.folder), later]) == 0
    for name, content in zip(("graph.npz", "solution.npz"), before, strict=True):
        (run.agent_folder(3) / name).write_bytes(content)
    capsys.readouterr()
    for command in ("build", "solve"):
        assert main([command, str(run.folder)]) == 2
        assert f"Let it go on: vmg grow {run.folder}" in capsys.readouterr().err
    assert main(["grow", str(run.folder)]) == 0
    assert_grown(run, 9)


def test_a_graph_that_is_not_there_is_built_from_all(made, capsys):
    run, later = made
    for name in ("graph.npz", "solution.npz"):
        (run.agent_folder(0) / name).unlink()
    assert main(["grow", str(run.folder), later]) == 0
    assert "seed_0 has no graph yet: it is built from all episodes." in capsys.readouterr().err
    assert_grown(run, 9)


def other_sizes(episodes):
    return replace(episodes, observations=episodes.observations[:, :3], fields={})


def other_actions(episodes):
    return replace(episodes, actions=episodes.actions[:, :1])


def other_order(episodes):
    return replace(episodes, fields={"place": (2, 3)})


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (other_sizes, "has observations of 3 numbers, but the agent learned from"),
        (other_actions, "has actions of 1 numbers, but the agent learned from"),
        (other_order, "place was 0, 1 and is 2, 3"),
    ],
)
def test_data_that_do_not_fit_change_nothing(made, tmp_path, capsys, spoil, sentence):
    run, _ = made
    vmg.data.save(spoil(walks(2, 5)), tmp_path / "other.npz")
    assert main(["grow", str(run.folder), f"npz:{tmp_path / 'other.npz'}"]) == 2
    assert sentence in capsys.readouterr().err
    assert not (run.folder / "added").exists()
    assert load_run(run.folder).added == ()


def test_what_cannot_be(made, capsys):
    run, later = made
    assert main(["grow", str(run.folder)]) == 2
    assert f"name the data to add, vmg grow {run.folder} DATA" in capsys.readouterr().err
    assert main(["grow", str(run.folder), later]) == 0
    vmg.data.save(walks(3, 7), run.folder / "added" / "0.npz")
    capsys.readouterr()
    assert main(["solve", str(run.folder)]) == 2
    assert f"does not hold the episodes of {later} that were added. Restore it." in capsys.readouterr().err
