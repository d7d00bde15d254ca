"""`vmg grow --online`: the agents act, what they record is kept, and their graphs know it."""

import json
from dataclasses import replace

import numpy as np
import pytest
from test_grow import assert_grown, made  # noqa: F401

from vmg.act.exploring import Explorer
from vmg.cli.main import main
from vmg.runs import load_run, save_run

TASK = """
import gymnasium
import numpy as np

from vmg.envs import Task


class Meadow(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-99, 99, (4,))
    action_space = gymnasium.spaces.Box(-1, 1, (2,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = self.np_random.normal(size=2)
        return self._observation(), {}

    def step(self, action):
        self.place = self.place + action
        return self._observation(), 0.0, False, False, {}

    def _observation(self):
        return np.concatenate([self.place, 0.1 * self.place])


meadow = Task(name="meadow", environment=Meadow, horizon=30)
"""


@pytest.fixture
def meadow(made, tmp_path):  # noqa: F811
    """A run whose task is to walk about in a meadow."""
    run, _ = made
    file = tmp_path / f"{tmp_path.name}.py"  # a module of its own in every test
    file.write_text(TASK)
    run = replace(run, task=f"{file}:meadow")
    save_run(run)
    return run


@pytest.mark.parametrize("explore", ["frontier", "random"])
def test_what_agents_record_is_kept_and_known(meadow, explore, capsys):
    words = ["grow", str(meadow.folder), "--explore", explore, "--every", "2"]
    assert main([*words, "--online", "3"]) == 0
    assert "3 new episodes, 90 steps" in capsys.readouterr().out
    assert main([*words, "--online", "5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["0"]["episodes"] == 2
    assert main([*words, "--online", "5"]) == 0
    assert "Every graph knows all episodes already." in capsys.readouterr().err
    assert_grown(meadow, 11)
    run = load_run(meadow.folder)
    assert [(each.online, each.episodes) for each in run.added] == [(True, 2), (True, 1), (True, 2)]
    episodes, _ = run.episodes()
    for episode in list(episodes)[6:]:
        assert (np.abs(episode.actions) <= 1).all()
        assert np.allclose(np.diff(episode.observations[:, :2], axis=0), episode.actions, atol=1e-5)


def test_a_number_of_episodes_that_cannot_be(meadow, capsys):
    with pytest.raises(SystemExit):
        main(["grow", str(meadow.folder), "--online", "3", "--every", "0"])
    assert "--every at least 1" in capsys.readouterr().err
    assert load_run(meadow.folder).added == ()


def test_the_explorer_sets_out_for_the_frontier_and_wanders_from_there(meadow):
    agent = load_run(meadow.folder).agent(0)
    explorer = Explorer(agent.body, agent.plan, "frontier", seed=0)
    explorer.begin(None, None)
    place, going = agent.built.states[0, :2].copy(), []
    for _ in range(400):
        action = explorer.act(np.concatenate([place, 0.1 * place]).astype(np.float32))
        going.append(explorer._policy is not None)
        place = place + action
    assert going[0]
    assert sum(not each for each in going) >= 60  # it wandered, once it was there or had been on its way for long
