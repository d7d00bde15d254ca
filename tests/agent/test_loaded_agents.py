"""What a loaded agent can plan for without the episodes it was built from, and what it says where it cannot."""

from dataclasses import replace

import numpy as np
import pytest
from acting_cases import agent, episodes, follower

from vmg.agent.agent import Agent
from vmg.base.errors import VMGError
from vmg.envs import find_task
from vmg.evaluation import scored_by
from vmg.goals import all_of, in_order, near, recorded_rewards, reward_function, step_rewards, where, within

CORNER = near([1.0, 1.0], columns=(0, 1), tolerance=0.45)
ACROSS = near([1.0], columns=(1,), tolerance=0.3)
FAST = where(lambda at: np.linalg.norm(at["velocity"], axis=1) > 1.5, {"velocity": (2, 3)}, name="fast")
REGION = within([0.5], [1.5], columns=(1,))
SPEED = reward_function(lambda o_t, a_t, o_tp1: np.abs(o_tp1[:, 2]), name="speed")


def loaded(original: Agent, folder) -> Agent:
    original.save(folder)
    return Agent.load(folder)


def without_goal_columns() -> Agent:
    graph = replace(agent().config.graph, goal_columns=())
    return replace(agent(), config=replace(agent().config, graph=graph)).build(episodes()).solve()


def assert_same(found, expected):
    observations = episodes().observations[::37]
    assert (found.policy().act(observations) == expected.policy().act(observations)).all()
    assert np.array_equal(found.values, expected.values)
    assert np.array_equal(found.goal_vertices, expected.goal_vertices)
    assert (found.distance, found.entered, found.tolerance) == (expected.distance, expected.entered, expected.tolerance)
    assert found.rewarded_steps == expected.rewarded_steps


@pytest.mark.parametrize("objective", [CORNER, ACROSS, CORNER.staying()], ids=["x and y", "y", "stay"])
def test_goals_in_its_goal_columns_need_no_episodes(tmp_path, objective):
    assert_same(loaded(agent(), tmp_path).plan(objective), agent().plan(objective))


def test_an_explanation_needs_no_episodes_either(tmp_path):
    found, expected = loaded(agent(), tmp_path).plan(CORNER), agent().plan(CORNER)
    for state in (*episodes().observations[::300], agent().built.states[np.flatnonzero(~expected.can_reach)[0]]):
        assert str(found.explain(state)) == str(expected.explain(state))
    far = near([50, 50], columns=(0, 1), tolerance=0.1)
    told, there = loaded(agent(), tmp_path).plan(far).explain(state), agent().plan(far).explain(state)
    assert (told.nearest.distance, told.nearest.episode) == (there.nearest.distance, there.nearest.episode)
    assert (told.nearest.observation == there.nearest.observation).all()


@pytest.mark.parametrize("objective", [CORNER, FAST, REGION, all_of([CORNER, REGION])], ids=lambda each: each.name)
@pytest.mark.parametrize("make", [agent, follower], ids=["with goal columns", "along recordings"])
def test_any_goal_needs_no_episodes(tmp_path, make, objective):
    assert_same(loaded(make(), tmp_path).plan(objective), make().plan(objective))


def test_a_sequence_in_its_goal_columns_needs_no_episodes(tmp_path):
    stages = in_order([CORNER, ACROSS])
    for found, expected in zip(loaded(agent(), tmp_path).plan(stages).stages, agent().plan(stages).stages, strict=True):
        assert_same(found, expected)


@pytest.mark.parametrize("objective", [FAST, REGION, SPEED, recorded_rewards(), near([0], columns=(2,), tolerance=1)])
def test_what_else_an_agent_along_edges_needs_is_said(tmp_path, objective):
    bare = loaded(without_goal_columns(), tmp_path)
    with pytest.raises(VMGError, match=r"needs the episodes the graph was built from, .* agent\.plan\(objective, epi"):
        bare.plan(objective)
    assert_same(bare.plan(objective, episodes()), without_goal_columns().plan(objective))


@pytest.mark.parametrize("objective", [SPEED, recorded_rewards(), step_rewards(episodes().rewards)])
def test_rewards_need_episodes_along_recordings_too(tmp_path, objective):
    bare = loaded(follower(), tmp_path)
    with pytest.raises(VMGError, match=r"needs the episodes the graph was built from"):
        bare.plan(objective)
    assert_same(bare.plan(objective, episodes()), follower().plan(objective))


def test_a_place_is_said_to_need_goal_columns(tmp_path):
    with pytest.raises(VMGError, match=r"Or build the graph with its columns as goal_columns, which are kept"):
        loaded(without_goal_columns(), tmp_path).plan(CORNER)


def test_solving_again_needs_the_episodes(tmp_path):
    bare = loaded(agent(), tmp_path)
    with pytest.raises(VMGError, match=r"'the recorded rewards' needs the episodes"):
        bare.solve()
    assert np.array_equal(bare.solve(episodes()).routes.following, agent().routes.following)


def test_its_own_plan_acts_but_tells_nothing_of_the_recorded_rewards(tmp_path):
    own, observation = loaded(agent(), tmp_path).own_plan, episodes().observations[0]
    assert (own.policy().act(observation) == agent().own_plan.policy().act(observation)).all()
    with pytest.raises(VMGError, match=r"'the recorded rewards' needs the episodes"):
        own.explain(observation)


def test_rewards_cannot_be_scored_without_the_episodes_they_are_held_against(tmp_path):
    plan = loaded(agent(), tmp_path).plan(CORNER)
    assert "reached in 300 steps counts" in scored_by(find_task("pointmaze-umaze"), plan).protocol
    paid = replace(loaded(agent(), tmp_path).own_plan, objective=SPEED)
    with pytest.raises(VMGError, match=r"'speed' is scored against the recorded episodes: give them to `plan`"):
        scored_by(find_task("pointmaze-umaze"), paid)
