"""The commands that a report names make the same run again."""

import shlex
from dataclasses import replace
from pathlib import Path

import maze_settings
import pytest

from vmg.cli.main import main
from vmg.envs import find_task
from vmg.runs import stages
from vmg.runs.commands import run_commands
from vmg.runs.run import Run
from vmg.runs.stages import EvaluateTrial


def run_of(task, data, preset, **changes):
    config = find_task(task).preset(preset)
    return Run(data=data, config=config, folder=Path("runs/x"), **changes)


MAZE = run_of("pointmaze-umaze", "pointmaze:umaze?steps=500", "paper")
KITCHEN = run_of("kitchen-partial", "minari:D4RL/kitchen/partial-v2", "program", keys=("observation",), seeds=(0, 1))
FEW_COLUMNS = replace(KITCHEN.config.learn.low_level, columns=(0, 2))
RUNS = [
    MAZE,
    replace(MAZE, config=replace(MAZE.config, learn=maze_settings.MAZE.learn)),
    replace(MAZE, validation=0.1, seeds=(3, 4), keys=("observation[0:2]",)),
    replace(MAZE, config=replace(MAZE.config, learn=replace(MAZE.config.learn, steps=300, contrastive=False))),
    replace(MAZE, data="npz:maze.npz", task="pointmaze-umaze"),
    KITCHEN,
    replace(KITCHEN, config=find_task("kitchen-partial").preset("paper")),
    replace(KITCHEN, config=replace(KITCHEN.config, learn=replace(KITCHEN.config.learn, low_level=FEW_COLUMNS))),
]


@pytest.mark.parametrize("run", RUNS, ids=range(len(RUNS)))
def test_the_command_to_train_makes_the_same_run(run, monkeypatch):
    made = []
    monkeypatch.setattr(stages, "train", lambda run, **_: made.append(run))
    command = run_commands(run, None)[0]
    assert main(shlex.split(command)[1:]) == 0
    assert made == [run]


def test_later_stages_name_only_what_was_changed():
    graph, act = replace(MAZE.config.graph, radius=1.5), replace(MAZE.config.act, keep_path=True)
    run = replace(MAZE, config=replace(MAZE.config, graph=graph, act=act))
    trial = EvaluateTrial(n_episodes=20, first_seed=1000, baselines=True)
    _, build, solve, evaluate = run_commands(run, trial)
    assert build == "vmg build runs/x --graph.radius 1.5"
    assert solve == "vmg solve runs/x"
    assert evaluate == "vmg evaluate runs/x --act.keep-path --episodes 20 --first-seed 1000 --baselines"
