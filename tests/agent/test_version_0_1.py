"""Folders that version 0.1 wrote: they load, and act as they did.

Each folder was written by 0.1; `expected.json` beside it holds what 0.1 then decided for a few observations.
"""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from vmg.agent.agent import Agent
from vmg.agent.folder import FORMAT
from vmg.base.errors import VMGError
from vmg.goals import near, reward_function
from vmg.graph import EdgeRoutes, RecordingRoutes

FOLDERS = Path(__file__).parent / "version_0_1"
MAZE, KITCHEN = "pointmaze-umaze", "kitchen-partial"
GOALS = {MAZE: ((0, 1), 0.45), KITCHEN: ((0, 1, 2), 0.2)}


def expected(name):
    return json.loads((FOLDERS / name / "expected.json").read_text())


def assert_decided(decisions, expected, *names):
    for name in ("vertices", "targets", "subgoals"):
        if name in names:
            assert getattr(decisions, name).tolist() == expected[name], name
    np.testing.assert_allclose(decisions.actions, expected["actions"], atol=1e-5)


@pytest.mark.parametrize("name", [MAZE, KITCHEN])
def test_it_loads_and_acts_as_it_did(name):
    agent, then = Agent.load(FOLDERS / name), expected(name)
    observations = np.array(then["observations"], np.float32)
    np.testing.assert_allclose(agent.routes.values, then["values"], rtol=1e-5, atol=1e-5)
    assert agent.routes.targets.tolist() == then["targets"]
    policy = agent.policy()
    policy.begin()
    decisions = policy.decide(observations)
    assert_decided(decisions, then, "vertices", "subgoals")
    assert [decisions[row].path for row in range(len(observations))] == then["paths"]


@pytest.mark.parametrize("name", [MAZE, KITCHEN])
def test_it_plans_for_a_goal_without_episodes_and_goes_the_way_it_did(name):
    agent, then = Agent.load(FOLDERS / name), expected(name)
    columns, tolerance = GOALS[name]
    plan = agent.plan(near(then["goal"]["place"], columns=columns, tolerance=tolerance))
    decisions = plan.policy().decide(np.array(then["observations"], np.float32))
    assert (
        decisions.vertices.tolist() == then["goal"]["vertices"]
    )  # at their end, 0.1 mixed states that nobody recorded
    assert decisions.targets.tolist() == then["goal"]["targets"]
    with pytest.raises(VMGError, match=r"needs the episodes the graph was built from"):
        agent.plan(reward_function(lambda o_t, a_t, o_tp1: a_t[:, 0]))


def test_its_settings_are_where_they_are_now():
    maze, kitchen = Agent.load(FOLDERS / MAZE), Agent.load(FOLDERS / KITCHEN)
    assert isinstance(maze.routes, EdgeRoutes)
    assert isinstance(kitchen.routes, RecordingRoutes)
    assert maze.config.graph.goal_columns == maze.graph.goal_columns == (0, 1)
    assert kitchen.config.graph.goal_columns == kitchen.graph.goal_columns == ()
    assert maze.config.learn.low_level.to_dict() == {
        "kind": "translator", "goal_horizon": 30, "inputs": "relative", "columns": (), "decay_rate": 0.0, "memory": 1,
        "squashed": False, "past_end": "next", "lead": None, "noise": 0.0, "noise_on": "both",
    }  # fmt: skip
    translator = kitchen.config.learn.low_level
    assert (translator.columns, translator.inputs) == (tuple(range(9)), "raw relative")
    assert (translator.decay_rate, translator.memory) == (0.01, 100_000)


@pytest.mark.parametrize("name", [MAZE, KITCHEN])
def test_saved_again_it_is_of_this_version_and_keeps_its_scores(name, tmp_path):
    folder = tmp_path / name
    shutil.copytree(FOLDERS / name, folder)
    (folder / "scores.json").write_text(json.dumps(SCORES))
    before = Agent.load(folder)
    before.save(folder)
    assert json.loads((folder / "config.json").read_text())["format"] == FORMAT
    assert (folder / "scores.json").exists()
    after, observations = Agent.load(folder), np.array(expected(name)["observations"], np.float32)
    assert after.config == before.config
    assert (after.policy().act(observations) == before.policy().act(observations)).all()


SCORES = {"task": "x", "score": 50.0, "interval": [40.0, 60.0], "n_episodes": 2, "endings": {}, "protocol": "p"}
