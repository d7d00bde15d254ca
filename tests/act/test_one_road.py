"""One road from a goal to actions: whoever names it, and however its plan is handed over, the actions are the same."""

from dataclasses import replace

import numpy as np
import pytest
from acting_cases import agent, episodes, follower

from vmg.act.settings import ActConfig
from vmg.envs import find_task
from vmg.goals import near
from vmg.networks import translate

MAZE = find_task("pointmaze-umaze")
PLACE = episodes().observations[-1, :2] + np.float32(0.01)
FIRST = {"observation": episodes().observations[0], "desired_goal": PLACE}


@pytest.fixture(params=["edges", "recordings"])
def planner(request):
    return agent() if request.param == "edges" else follower()


def decisions(planner, observations, settings=None):
    """What is decided along each of the roads there are."""
    plan = planner.plan(near(PLACE, columns=(0, 1), tolerance=0.45))
    named, following = planner.policy(settings), planner.policy(settings)
    named.begin(FIRST, MAZE.objective_of(FIRST))
    following.follow(plan)
    handed = planner.policy(settings)
    others = {
        "the plan's own policy": plan.policy(settings).decide(observations),
        "the goal an episode names": named.decide(observations),
        "a plan that is followed": following.decide(observations),
        "an explicit plan": handed.decide(observations, plan),
        "an explicit plan per row": planner.policy(settings).decide(observations, [plan] * len(observations)),
    }
    return plan, others


def assert_all_the_same(others):
    first, *rest = others.values()
    for each in rest:
        for name in ("actions", "vertices", "distances", "off_graph", "targets", "subgoals", "entries"):
            assert np.array_equal(getattr(each, name), getattr(first, name)), name
        assert [each[i].path for i in range(len(each))] == [first[i].path for i in range(len(first))]


@pytest.mark.parametrize("keep", [False, True])
def test_all_roads_decide_the_same(planner, keep):
    observations = episodes().observations[::37]
    _, others = decisions(planner, observations, ActConfig(subgoal_steps=3, keep_path=keep))
    assert_all_the_same(others)


def test_all_roads_rejoin_from_where_nothing_leads_to_the_goal(planner):
    plan = planner.plan(near(PLACE, columns=(0, 1), tolerance=0.45))
    cut_off = np.flatnonzero(~plan.can_reach)
    assert len(cut_off)
    _, others = decisions(planner, plan.graph.states[cut_off])
    assert_all_the_same(others)
    explicit = others["an explicit plan"]
    assert plan.can_reach[explicit.vertices].all()
    assert (explicit.vertices != cut_off).all()
    assert plan.goal_vertices[explicit.targets].all()


def test_all_roads_end_at_recorded_states_that_fulfil_it(planner):
    plan, others = decisions(planner, episodes().observations[::11])
    assert_all_the_same(others)
    explicit = others["an explicit plan"]
    arriving = (explicit.subgoals == explicit.targets) & plan.goal_vertices[explicit.targets]
    assert arriving.any()
    assert not arriving.all()
    finals = plan.routes.finals
    assert plan.objective.reached(finals.states).all()
    low, high = planner.data.action_low, planner.data.action_high
    for row in np.flatnonzero(arriving):
        seen = np.repeat(episodes().observations[::11][row][None], len(finals.rows), axis=0)
        actions = np.clip(translate(planner.weights, seen, finals.states), low, high)
        assert np.abs(actions - explicit.actions[row]).max(axis=1).min() < 1e-5


def test_one_by_one_the_roads_stay_together(planner):
    """Observation after observation, with a path that is kept to and noise, as an episode goes."""
    settings = ActConfig(subgoal_steps=3, keep_path=True, noise=0.1)
    plan = planner.plan(near(PLACE, columns=(0, 1), tolerance=0.45))
    named, own, handed = planner.policy(settings), plan.policy(settings), planner.policy(settings)
    named.begin(FIRST, MAZE.objective_of(FIRST))
    own.begin(FIRST, MAZE.objective_of(FIRST))
    handed.begin(FIRST)
    for observation in episodes().observations[:40]:
        action = named.act(observation)
        assert np.array_equal(action, own.act(observation))
        assert np.array_equal(action, handed.act(observation, plan))


def test_a_plans_own_policy_does_not_heed_what_the_environment_names(planner):
    elsewhere = planner.plan(near(episodes().observations[5, :2], columns=(0, 1), tolerance=0.45))
    policy = elsewhere.policy()
    policy.begin(FIRST, MAZE.objective_of(FIRST))
    assert policy.plan is elsewhere


def test_the_task_says_how_its_goal_is_meant():
    staying = replace(MAZE, goal=replace(MAZE.goal, kind="stay", tolerance=0.2, key="aim"))
    objective = staying.objective_of({"aim": PLACE})
    assert (objective.kind, objective.tolerance, objective.place.columns) == ("stay", 0.2, (0, 1))
    assert objective.place.numbers.tolist() == PLACE.astype(np.float64).tolist()
    assert staying.objective_of(FIRST) is None
