from dataclasses import replace

import numpy as np
import pytest
from acting_cases import agent
from evaluation_cases import LINE, Line, Walker

from vmg.base.errors import VMGError
from vmg.envs import Task, TaskGoal, find_task
from vmg.evaluation import evaluate


def test_any_environment_of_the_users_is_scored():
    scores = evaluate(Walker(), LINE, n_episodes=30, workers=1)
    rng_says = [float(Line().reset(seed=seed)[0]["place"][0]) > 0 for seed in range(30)]
    assert [e.success for e in scores.episodes] == rng_says
    assert scores.endings == {how: n for how, n in (("success", sum(rng_says)), ("terminated", 30 - sum(rng_says)))}
    assert scores.score == pytest.approx(100 * np.mean(rng_says))
    assert scores.success_rate == scores.score
    assert all(e.report["place"] > 3 for e in scores.episodes if e.success)


def test_a_longer_evaluation_begins_with_the_shorter_one_and_known_episodes_are_not_run_again():
    few = evaluate(Walker(), LINE, n_episodes=3, workers=1)
    ran = []
    more = evaluate(Walker(), LINE, n_episodes=8, workers=1, known=few.episodes, on_episode=ran.append)
    assert more.episodes[:3] == few.episodes
    assert [e.seed for e in ran] == [3, 4, 5, 6, 7]


def test_the_first_seed_says_which_episodes_are_run():
    scores = evaluate(Walker(), LINE, n_episodes=3, first_seed=5, workers=1)
    assert scores.episodes == evaluate(Walker(), LINE, n_episodes=8, workers=1).episodes[5:]


def test_a_horizon_ends_an_episode():
    class Idle(Walker):
        def act(self, state):
            return np.zeros(1)

    scores = evaluate(Idle(), LINE, n_episodes=2, workers=1)
    assert scores.endings == {"time out": 2}
    assert {e.steps for e in scores.episodes} == {20}


def test_a_state_function_replaces_keys():
    class Looks(Walker):
        def act(self, state):
            assert state.tolist() == [pytest.approx(2 * self.place[0], rel=1e-6)]
            return np.ones(1)

        def begin(self, observation, objective):
            self.place = observation["place"]

    task = Task(name="mine", environment=Line, state=lambda observation: 2 * observation["place"], horizon=1)
    assert evaluate(Looks(), task, n_episodes=3, workers=1).endings == {"time out": 3}


def test_an_actor_is_told_the_goal_that_its_task_names():
    class Hears(Walker):
        heard = None

        def begin(self, observation, objective):
            super().begin(observation, objective)
            self.heard = objective

    hears = Hears()
    evaluate(hears, LINE, n_episodes=1, workers=1)
    assert hears.heard is None
    named = replace(LINE, goal=TaskGoal(columns=(0,), tolerance=0.2, key="time"))
    evaluate(hears, named, n_episodes=1, workers=1)
    assert (hears.heard.place.numbers.tolist(), hears.heard.tolerance) == ([0.0], 0.2)


def test_a_policy_plans_for_the_goal_that_its_task_names():
    """In every episode another one, whether or not the agent was solved for the recorded rewards."""
    policy, task = agent().policy(), find_task("pointmaze-umaze")
    followed = []
    evaluate(policy, task, n_episodes=3, workers=1, on_episode=lambda episode: followed.append(policy.plan))
    env = task.make()
    for seed, plan in enumerate(followed):
        observation, _ = env.reset(seed=seed, options=dict(task.begin(seed)))
        assert plan.objective.place.numbers.tolist() == observation["desired_goal"].astype(np.float32).tolist()
        assert plan.objective.tolerance == task.goal.tolerance
    env.close()


def test_an_evaluation_of_nothing_is_refused():
    with pytest.raises(VMGError, match=r"at least one episode, not 0"):
        evaluate(Walker(), LINE, n_episodes=0)
