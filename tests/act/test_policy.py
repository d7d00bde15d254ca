from dataclasses import replace

import numpy as np
import pytest
from acting_cases import agent, episodes

from vmg.act.settings import ActConfig
from vmg.base.errors import VMGError
from vmg.envs import find_task
from vmg.goals import near
from vmg.networks import encode, translate

MAZE = find_task("pointmaze-umaze")


def to_place(place):
    return near(place, columns=(0, 1), tolerance=0.45)


@pytest.fixture(scope="module")
def observations():
    rng = np.random.default_rng(0)
    rows = rng.choice(len(episodes().observations), 40, replace=False)
    return episodes().observations[rows] + rng.normal(0, 0.05, (40, 4)).astype(np.float32)


def test_a_decision_is_algorithm_2_step_by_step(observations):
    graph, routes = agent().built, agent().routes
    decisions = agent().policy(ActConfig(subgoal_steps=3, paid_states=False)).decide(observations)
    features = encode(agent().weights, observations)
    for row, feature in enumerate(features):
        distances = np.linalg.norm(graph.features - feature, axis=1)
        decision = decisions[row]
        assert decision.vertex == np.argmin(distances)
        assert decision.distance == pytest.approx(distances.min(), rel=1e-4, abs=1e-5)
        assert decision.off_graph == (decision.distance > graph.radius)
        assert decision.target == routes.targets[decision.vertex]
        assert (decision.path[0], decision.path[-1]) == (decision.vertex, decision.target)
        assert decision.subgoal == decision.path[min(3, len(decision.path) - 1)]
        expected = translate(agent().weights, observations[row][None], graph.states[decision.subgoal][None])[0]
        low, high = agent().data.action_low, agent().data.action_high
        assert decision.action == pytest.approx(np.clip(expected, low, high), abs=1e-4)


def test_a_batch_equals_its_rows(observations):
    policy = agent().policy()
    together = policy.decide(observations)
    for row, observation in enumerate(observations):
        alone = policy.decide(observation)[0]
        assert alone.vertex == together[row].vertex
        assert alone.subgoal == together[row].subgoal
        assert policy.act(observation) == pytest.approx(together.actions[row], abs=1e-5)
    assert policy.act(observations[:0]).shape == (0, 2)


def test_one_plan_per_row_equals_each_alone(observations):
    plans = [agent().plan(to_place(place)) for place in episodes().observations[[5, 500, 1500], :2]]
    per_row = [plans[row % 3] for row in range(len(observations))]
    policy = agent().policy()
    together = policy.decide(observations, per_row)
    assert list(together.plans) == per_row
    for row, observation in enumerate(observations):
        alone = policy.decide(observation, per_row[row])[0]
        assert (alone.target, alone.subgoal) == (together[row].target, together[row].subgoal)
        assert alone.path == together[row].path


def test_an_episode_is_planned_for_the_goal_the_environment_names(observations):
    policy = agent().policy()
    goal = episodes().observations[700, :2]
    first = {"observation": observations[0], "desired_goal": goal}
    policy.begin(first, MAZE.objective_of(first))
    plan = agent().plan(to_place(goal))
    assert plan.known
    decided = policy.decide(observations)
    assert decided.targets.tolist() == plan.routes.targets[decided.vertices].tolist()
    assert plan.goal_vertices[decided.targets].mean() > 0.5  # most of a connected maze can reach it


def test_an_episode_without_a_goal_goes_on_with_the_plan_there_is(observations):
    policy = agent().policy()
    assert MAZE.objective_of(observations[0]) is None
    assert MAZE.objective_of({"observation": observations[0]}) is None
    policy.begin(observations[0], None)
    assert policy.plan.routes is agent().routes


def test_a_goal_nobody_recorded_is_replaced_by_the_nearest_and_said():
    plan = agent().plan(to_place([100.0, 100.0]))
    assert not plan.known
    assert plan.distance > 100
    assert plan.goal_vertices.sum() == 1
    assert (plan.routes.targets == np.flatnonzero(plan.goal_vertices)[0]).any()


def test_a_goal_that_nothing_reaches_is_said_when_an_episode_begins():
    starts = episodes().observations[episodes().first_observation[:-1]]
    objectives = [near(start, columns=(0, 1, 2, 3), tolerance=1e-6) for start in starts]
    unentered = next(each for each in objectives if not agent().plan(each).entered)
    with pytest.warns(UserWarning, match=r"Nothing reaches this goal: no recorded step leads from elsewhere to it"):
        agent().policy().begin(None, unentered)


def test_kept_paths_are_followed_until_they_end(observations):
    policy = agent().policy(ActConfig(subgoal_steps=1, keep_path=True, paid_states=False))
    path = longest_path()
    assert len(path) > 4
    policy.begin()
    visited = [int(policy.decide(agent().built.states[v]).subgoals[0]) for v in path]
    assert visited == [path[min(i + 1, len(path) - 1) if i else 2] for i in range(len(path))]


def test_a_stuck_policy_looks_farther_ahead_then_plans_again():
    policy = agent().policy(ActConfig(subgoal_steps=1, keep_path=True, paid_states=False))
    path = longest_path()
    subgoals = [int(policy.decide(agent().built.states[path[0]]).subgoals[0]) for _ in range(12)]
    ahead = [path[min(1 + waited, len(path) - 1)] for waited in range(1, 11)]
    assert subgoals[:10] == ahead
    assert subgoals[10:] == ahead[:2]


def longest_path():
    return max((agent().routes.path(vertex) for vertex in range(agent().built.n_vertices)), key=len)


@pytest.mark.parametrize(
    ("observation", "sentence"),
    [
        (np.zeros(3), r"An observation of this agent is 4 numbers .* but the shape given is \(3,\)"),
        (np.zeros((2, 3, 4)), r"but the shape given is \(2, 3, 4\)"),
        (np.array([0, np.nan, 0, 0]), r"The observation in row 0 has nan in column 1\."),
    ],
)
def test_bad_observations_are_answered_with_a_sentence(observation, sentence):
    with pytest.raises(VMGError, match=sentence):
        agent().policy().act(observation)


def test_what_is_missing_is_said():
    bare = replace(agent(), routes=None)
    with pytest.raises(VMGError, match=r"This agent has no plan yet: solve it first"):
        bare.policy().act(np.zeros(4))
    with pytest.raises(VMGError, match=r"This agent has no plan yet: solve it first"):
        _ = bare.own_plan
    with pytest.raises(VMGError, match=r"This agent has no graph yet: build it first"):
        replace(bare, graph=None).policy()
    with pytest.raises(VMGError, match=r"There are 2 observations but 1 plans: give one, or one per row"):
        agent().policy().act(np.zeros((2, 4)), [agent().own_plan])
    for place, sentence in (
        ([0, 0, 0], r"A place in 2 columns has as many numbers, not the shape \(3,\)"),
        ([0, np.inf], r"A place and its tolerance are finite numbers"),
    ):
        with pytest.raises(VMGError, match=sentence):
            MAZE.objective_of({"desired_goal": place})
