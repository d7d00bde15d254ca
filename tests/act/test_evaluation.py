import os
import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from acting_cases import agent

from vmg.act.evaluation import EpisodeScore, Scores, evaluate
from vmg.act.policy import Policy
from vmg.act.tasks import Task, far_goals, find_task, task_of
from vmg.data.mazes import corridor_distances, free_cells, maze_map
from vmg.errors import VMGError
from vmg.statistics import bootstrap_interval


class Line(gymnasium.Env):
    """A user's environment: a point on a line that moves by its action; past 3 it has won, below -3 it has fallen."""

    observation_space = gymnasium.spaces.Dict(
        {"place": gymnasium.spaces.Box(-9, 9, (1,)), "time": gymnasium.spaces.Box(0, 99, (1,))}
    )
    action_space = gymnasium.spaces.Box(-1, 1, (1,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.time = self.np_random.uniform(-0.5, 0.5), 0
        return self._observation(), {}

    def step(self, action):
        self.place, self.time = self.place + float(action[0]), self.time + 1
        won = self.place > 3
        return self._observation(), float(won), won or self.place < -3, False, {"is_success": won, "place": self.place}

    def _observation(self):
        return {"place": np.array([self.place]), "time": np.array([self.time])}


class Walker:
    """Acts by the state alone: runs to the side it started on."""

    def begin(self, observation):
        self.direction = np.sign(observation["place"][0])

    def act(self, state):
        assert state.shape == (1,)
        return np.array([0.5 * self.direction])


LINE = Task(name="line", environment=Line, keys=("place",), horizon=20, report=("place",))


def test_any_environment_of_the_users_is_scored():
    scores = evaluate(Walker(), LINE, episodes=30, workers=1)
    rng_says = [float(Line().reset(seed=seed)[0]["place"][0]) > 0 for seed in range(30)]
    assert [e.success for e in scores.episodes] == rng_says
    assert scores.endings == {how: n for how, n in (("success", sum(rng_says)), ("terminated", 30 - sum(rng_says)))}
    assert scores.score == pytest.approx(100 * np.mean(rng_says))
    assert scores.success_rate == scores.score
    assert all(e.report["place"] > 3 for e in scores.episodes if e.success)


def test_the_number_of_workers_changes_nothing():
    task = find_task("pointmaze-umaze")
    alone = evaluate(Policy(agent()), task, episodes=4, workers=1)
    together = evaluate(Policy(agent()), task, episodes=4, workers=2)
    assert alone == together


def test_a_longer_evaluation_begins_with_the_shorter_one_and_known_episodes_are_not_run_again():
    few = evaluate(Walker(), LINE, episodes=3, workers=1)
    ran = []
    more = evaluate(Walker(), LINE, episodes=8, workers=1, known=few.episodes, on_episode=ran.append)
    assert more.episodes[:3] == few.episodes
    assert [e.seed for e in ran] == [3, 4, 5, 6, 7]


def test_a_horizon_ends_an_episode():
    class Idle(Walker):
        def act(self, state):
            return np.zeros(1)

    scores = evaluate(Idle(), LINE, episodes=2, workers=1)
    assert scores.endings == {"time out": 2}
    assert {e.steps for e in scores.episodes} == {20}


def test_a_function_that_cannot_travel_is_said():
    task = Task(name="mine", environment=lambda: Line(), keys=("place",))
    with pytest.raises(VMGError, match=r"cannot be sent to other processes .* or workers=1\."):
        evaluate(Walker(), task, episodes=2, workers=2)


def test_a_state_function_replaces_keys():
    class Looks(Walker):
        def act(self, state):
            assert state.tolist() == [pytest.approx(2 * self.place[0], rel=1e-6)]
            return np.ones(1)

        def begin(self, observation):
            self.place = observation["place"]

    task = Task(name="mine", environment=Line, state=lambda observation: 2 * observation["place"], horizon=1)
    assert evaluate(Looks(), task, episodes=3, workers=1).endings == {"time out": 3}


def test_scores_are_normalised_and_their_interval_holds_the_mean():
    episodes = tuple(EpisodeScore(seed, 10, float(seed % 5), None, "time out") for seed in range(50))
    scores = Scores("x", "", (0.0, 4.0), episodes)
    assert scores.score == pytest.approx(50.0)
    low, high = scores.interval
    assert low < 50 < high
    assert scores.interval == Scores("x", "", (0.0, 4.0), episodes).interval
    assert scores.success_rate is None
    assert scores.to_dict()["endings"] == {"time out": 50}


def test_an_interval_over_models_is_wider_when_models_differ():
    alike, apart = [[0.0, 100.0] * 20] * 4, [[0.0] * 40, [0.0] * 40, [100.0] * 40, [100.0] * 40]
    narrow, wide = (np.ptp(bootstrap_interval(models)) for models in (alike, apart))
    assert wide > 2 * narrow
    assert bootstrap_interval([[3.0, 3.0]]) == (3.0, 3.0)


def test_processes_that_die_are_said():
    task = Task(name="mine", environment=os.abort)
    with pytest.raises(VMGError, match=r"could not start or died\. In a script, evaluate under"):
        evaluate(Walker(), task, episodes=2, workers=2)


def test_a_script_without_its_guard_is_told_so_however_large_its_policy(tmp_path):
    """Workers run such a script again and die of it; nothing may wait for them."""
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np, vmg\n"
        "class Large:\n"
        "    ballast = None\n"
        "    def begin(self, observation): pass\n"
        "    def act(self, state): return np.zeros(2)\n"
        "actor = Large()\n"
        "actor.ballast = np.zeros(1_000_000)\n"
        "vmg.evaluate(actor, vmg.find_task('pointmaze-umaze'), episodes=2, workers=2)\n"
    )
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert "evaluate under `if __name__" in ended.stderr


def test_far_goals_are_far_and_the_same_for_the_same_seed():
    cells = maze_map("medium")
    free, distances = free_cells(cells).tolist(), corridor_distances(cells)
    drawn = [far_goals("medium", 8, seed) for seed in range(50)]
    for options in drawn:
        start, goal = options["reset_cell"].tolist(), options["goal_cell"].tolist()
        assert start == [1, 1]
        assert distances[free.index(start), free.index(goal)] >= 8
    assert len({tuple(options["goal_cell"]) for options in drawn}) > 5
    assert (far_goals("medium", 8, 7)["goal_cell"] == drawn[7]["goal_cell"]).all()


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("minari:D4RL/kitchen/partial-v2", "kitchen-partial"),
        ("minari:lab/kitchen/complete-v0", "kitchen-complete"),
        ("minari:D4RL/antmaze/umaze-v1", "antmaze-umaze"),
        ("minari:D4RL/antmaze/umaze-diverse-v1", "antmaze-umaze-diverse"),
        ("minari:D4RL/pen/human-v2", "pen-human"),
        ("pointmaze:large?steps=5", "pointmaze-large"),
    ],
)
def test_data_finds_its_task(data, name):
    assert task_of(data).name == name


def test_unknown_tasks_are_answered_with_a_sentence():
    with pytest.raises(
        VMGError, match=r"No task is known for the data 'npz:x\.npz'\. Train with --task NAME, one of: pointmaze"
    ):
        task_of("npz:x.npz")
    with pytest.raises(VMGError, match=r"There is no task 'chess'\. There are: pointmaze-umaze"):
        find_task("chess")
    with pytest.raises(VMGError, match=r"has no preset 'best'\. It has: ours, paper"):
        find_task("pointmaze-umaze").preset("best")
    with pytest.raises(VMGError, match=r"at least one episode, not 0"):
        evaluate(Walker(), LINE, episodes=0)


@pytest.mark.parametrize("name", ["pointmaze-medium", "kitchen-partial", "pen-human", "door-human", "hammer-human"])
def test_environments_of_tasks_start_and_end_as_the_task_says(name):
    task = find_task(name)
    env = task.make()
    observation, _ = env.reset(seed=0)
    assert task.state_of(observation).dtype == np.float32
    assert env.spec.max_episode_steps == task.horizon
    env.close()
