"""A task in a file of one's own, outside of the package: found by its place, evaluated by any number of workers."""

import sys

import pytest
from acting_cases import LITTLE

import vmg
from vmg.base.errors import VMGError
from vmg.envs import TASKS

MINE = '''
import gymnasium
import numpy as np

import vmg


class Meadow(gymnasium.Env):
    """A point that moves by its action; the goal is another one in every episode."""

    observation_space = gymnasium.spaces.Dict(
        {"observation": gymnasium.spaces.Box(-9, 9, (2,)), "hill": gymnasium.spaces.Box(-9, 9, (2,))}
    )
    action_space = gymnasium.spaces.Box(-1, 1, (2,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.hill = self.np_random.uniform(-1, 1, 2), self.np_random.uniform(-4, 4, 2)
        return self._seen(), {}

    def step(self, action):
        self.at = self.at + 0.5 * np.clip(action, -1, 1)
        there = bool(np.linalg.norm(self.at - self.hill) < 0.6)
        return self._seen(), float(there), there, False, {"success": there}

    def _seen(self):
        return {"observation": self.at.astype(np.float32), "hill": self.hill.astype(np.float32)}


def walked(n=60, seed=0):
    """Episodes from one random place straight to another."""
    rng, episodes = np.random.default_rng(seed), []
    for _ in range(n):
        at, goal, seen, moves = rng.uniform(-4, 4, 2), rng.uniform(-4, 4, 2), [], []
        for _ in range(25):
            seen.append(at)
            moves.append(np.clip(2 * (goal - at), -1, 1))
            at = at + 0.5 * moves[-1]
        episodes.append((np.array([*seen, at]), np.array(moves), np.zeros(25), False, True))
    return vmg.Episodes.from_list(episodes, source="walked")


meadow = vmg.Task(
    name="meadow",
    environment=Meadow,
    keys=("observation",),
    horizon=40,
    goal=vmg.TaskGoal(columns=(0, 1), tolerance=0.6, key="hill"),
    fields={"place": (0, 1)},
    presets={"mine": vmg.AgentConfig(graph=vmg.GraphConfig(radius=0.3))},
    protocol="Reach the hill.",
)
not_a_task = 3
'''


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    file = tmp_path_factory.mktemp("mine") / "my_meadow.py"
    file.write_text(MINE)
    return file


class Straight:
    """Goes where it is told."""

    def begin(self, observation, objective):
        self.goal = objective.place.numbers

    def act(self, state):
        return 2 * (self.goal - state)


def test_it_is_found_and_evaluated_by_one_worker_and_by_two(file):
    task = vmg.find_task(f"{file}:meadow")
    alone = vmg.evaluate(Straight(), task, n_episodes=4, workers=1)
    assert alone == vmg.evaluate(Straight(), task, n_episodes=4, workers=2)
    assert (alone.task, alone.protocol, alone.success_rate) == ("meadow", "Reach the hill.", 100)
    assert "meadow" not in TASKS


def test_an_agent_learns_from_its_data_and_plans_for_the_goals_it_names(file):
    """The whole road, with nothing of it in the package: data, preset, goals in every episode, two workers."""
    task = vmg.find_task(f"{file}:meadow")
    episodes = sys.modules["my_meadow"].walked()
    config = task.preset("mine")
    assert config.graph.goal_columns == (0, 1)
    (agent,) = vmg.Agent.fit(episodes, vmg.AgentConfig(learn=LITTLE, graph=config.graph))
    policy = agent.build(episodes).policy()
    alone = vmg.evaluate(policy, task, n_episodes=4, workers=1)
    assert alone == vmg.evaluate(policy, task, n_episodes=4, workers=2)
    assert policy.plan.objective.place.columns == (0, 1)


def test_its_fields_and_goal_make_objectives(file):
    task = vmg.find_task(f"{file}:meadow")
    assert task.objective("place=1,2").tolerance == 0.6
    assert task.objective_of({"observation": [0, 0]}) is None
    assert task.objective_of({"hill": [1, 2]}).place.numbers.tolist() == [1, 2]


def test_what_is_no_task_is_said(file, tmp_path):
    with pytest.raises(VMGError, match=r"my_meadow\.py has no task 'forest': define `forest = vmg\.Task"):
        vmg.find_task(f"{file}:forest")
    with pytest.raises(VMGError, match=r"has no task 'not_a_task'"):
        vmg.find_task(f"{file}:not_a_task")
    with pytest.raises(VMGError, match=r"The file .*nowhere\.py does not exist"):
        vmg.find_task(f"{tmp_path / 'nowhere.py'}:meadow")
    other = tmp_path / "my_meadow.py"
    other.write_text(MINE)
    with pytest.raises(VMGError, match=r"another module is called my_meadow\. Rename the file"):
        vmg.find_task(f"{other}:meadow")
