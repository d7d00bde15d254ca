"""`vmg reproduce fidelity` on a made-up kitchen recording in D4RL's form."""

import json
import shlex
from dataclasses import replace

import numpy as np
import pytest

from vmg.agent.agent import Agent
from vmg.agent.settings import AgentConfig
from vmg.cli.main import main
from vmg.data import Episodes, save
from vmg.envs import TASKS, find_task
from vmg.studies import study_table
from vmg.studies.fidelity import VARIANTS, Variant

pytest.importorskip("gymnasium_robotics")


def measure(folder):
    data = f"kitchen-partial-d4rl=npz:{folder / 'kitchen-partial-d4rl.npz'}"
    asked = ["--variants", "program", "paper", "rounded data", "positions alone"]
    options = ["--seeds", "3", "--episodes", "1", "--steps", "20", "--workers", "1", "--choose", "--out", str(folder)]
    return main(["reproduce", "fidelity", "--tasks", "kitchen-partial", "--data", data, *asked, *options])


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("fidelity"), np.random.default_rng(0)
    walks = [
        (rng.normal(0, 0.1, (60, 60)).cumsum(0), rng.uniform(-1, 1, (59, 9)), np.arange(59) // 15) for _ in range(3)
    ]
    save(Episodes.from_list([(*walk, False, True) for walk in walks]), folder / "kitchen-partial-d4rl.npz")
    assert measure(folder) == 0
    return folder


def test_every_variant_has_its_row(study):
    rows = json.loads((study / "fidelity.json").read_text())
    named = {row["fidelity"]: row for row in rows}
    assert list(named) == ["program", "paper", "rounded data", "positions alone"]
    assert "benchmarks.d4rl_data kitchen-partial-positions" in named.pop("positions alone")["missing"]
    settings = AgentConfig.from_dict(named["program"]["settings"], place="row")
    program = find_task("kitchen-partial-d4rl").preset("program")
    assert settings == replace(program, learn=replace(program.learn, steps=20, checkpoint_every=20))
    assert named["rounded data"]["settings"] == named["paper"]["settings"]
    assert named["rounded data"]["data"]["digest"] != named["paper"]["data"]["digest"]
    for name, row in named.items():
        assert row["paper"] == [68.8, 11.9]
        assert ("difference" in row) == (name != "paper")
        assert shlex.split(row["command"])[5:7] == ["--variants", name]
    assert (study / "fidelity.md").read_text() == study_table(rows)


def test_what_was_noted_is_neither_measured_nor_built_again(study, monkeypatch):
    before = (study / "fidelity.json").read_text()
    monkeypatch.setattr("vmg.evaluation.evaluation.run_episode", None)
    monkeypatch.setattr(Agent, "build", None)
    assert measure(study) == 0
    assert (study / "fidelity.json").read_text() == before


def test_what_learns_alike_is_learned_once(study):
    folders = {path.name for path in (study / "kitchen-partial-d4rl").iterdir()}
    assert folders == {"fidelity-program", "fidelity-paper", "fidelity-rounded-data"}


def test_an_unknown_variant_is_refused(tmp_path, capsys):
    assert main(["reproduce", "fidelity", "--variants", "tail wind", "--out", str(tmp_path)]) == 2
    assert "has no variant 'tail wind'. It has: program, paper" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("name", [name for name in TASKS if name.endswith("d4rl")])
def test_variants_change_what_they_say_and_together_are_the_program(name):
    task = find_task(name)
    paper, program = task.preset("paper"), task.preset("program")
    assert Variant(networks=True, policy=True).config(task) == program
    assert Variant().config(task) == paper
    changed = {key for variant in VARIANTS.values() for key in variant.learn}
    differing = {key for key, value in vars(program.learn).items() if value != getattr(paper.learn, key)}
    assert changed == differing
