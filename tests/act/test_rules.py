"""Regions that no way may pass, penalties on the way, and one goal or another; along edges and along recordings."""

from dataclasses import replace

import numpy as np
import pytest
from levers import Room, follow, place, walk, written_agent

from vmg.base.errors import VMGError
from vmg.data.episodes import Episodes
from vmg.goals import any_of, in_order, recorded_rewards, reward_function, weighted, within

START, GOAL = (0.0, 0.0), (3.0, 0.0)
DETOUR = [(0.0, 1.5), (3.0, 1.5)]
CORRIDOR = within([1.0, -0.5], [2.0, 0.5], columns=(0, 1), name="the corridor")
UPPER = within([1.0, 1.0], [2.0, 2.0], columns=(0, 1), name="the upper corridor")
KINDS = pytest.mark.parametrize("paths", ["edges", "recordings", "observed"])
goal = place(*GOAL, name="the goal")


def two_ways(paths, only_straight=False):
    """Recordings that go straight to the goal, others that go around, and one that goes back and forth elsewhere."""
    rng = np.random.default_rng(0)
    ways = [[(-1.0, -1.0), START]] + [[GOAL]] * 3 + [[*DETOUR, GOAL]] * (0 if only_straight else 3)
    episodes = [walk(way, rng, Room(places=())) for way in ways]
    return written_agent(Episodes.from_list(episodes, source="two ways"), paths)


def states_of(plan, steps=60):
    return follow(plan.policy(), Room(places=()), steps, until=goal)


@KINDS
def test_a_region_is_avoided_by_going_around(paths):
    agent = two_ways(paths)
    freely, around = agent.plan(goal), agent.plan(goal.avoiding(CORRIDOR))
    assert CORRIDOR.reached(states_of(freely)).any()
    states = states_of(around)
    assert goal.reached(states[-1:])[0]
    assert not CORRIDOR.reached(states).any()
    answer = around.explain(states[0])
    assert answer.possible
    assert answer.inside == 0
    assert "keeps clear of what is to be avoided" in str(answer)
    assert around.objective.name == "the goal, avoiding the corridor"


@KINDS
def test_who_is_already_in_what_is_avoided_is_told_so(paths):
    agent = two_ways(paths)
    plan = agent.plan(goal.avoiding(CORRIDOR))
    inside = [CORRIDOR.reached(row[None])[0] for row in agent.episodes.observations]
    answers = [plan.explain(row) for row in agent.episodes.observations]
    assert [answer.begins_inside for answer in answers] == inside
    assert any(inside)
    for answer in answers:  # every one of them was recorded
        assert ("it lies in what is to be avoided" in str(answer)) == answer.begins_inside
        assert not (answer.begins_inside and "nothing recorded looks like this" in str(answer))


@KINDS
def test_a_goal_in_what_is_avoided_is_said_to_be_there(paths):
    agent = two_ways(paths)
    all_around = within([2.5, -0.5], [3.5, 0.5], columns=(0, 1), name="all around it")
    plan = agent.plan(goal.avoiding(all_around))
    answer = plan.explain(agent.episodes.observations[0])
    assert plan.goal_inside
    assert answer.goal_inside
    assert "No recorded state outside of what is to be avoided fulfils it" in str(plan)
    assert "What is wanted lies in what is to be avoided itself" in str(answer)
    assert "at least 0" not in str(answer)
    beside = agent.plan(goal.avoiding(CORRIDOR))
    assert not beside.goal_inside
    assert "itself" not in str(beside.explain(agent.episodes.observations[0]))


@KINDS
def test_where_a_recorded_state_is_there_is_said_of_its_own_vertex(paths):
    agent = two_ways(paths)
    for objective in (goal, goal.avoiding(CORRIDOR)):
        plan = agent.plan(objective)
        reached = objective.reached(agent.episodes.observations)
        for state in agent.episodes.observations + np.float32(0.11):
            answer = plan.explain(state)
            fulfilled = reached[agent.built.labels == answer.path[-1]].any()
            assert answer.ends_there == fulfilled
            if "but a recorded state of" in str(answer):
                assert fulfilled
                assert ("this vertex" in str(answer)) == (answer.path[-1] == answer.vertex)


@KINDS
def test_no_route_from_anywhere_passes_what_is_avoided(paths):
    agent = two_ways(paths)
    plan = agent.plan(goal.avoiding(CORRIDOR))
    forbidden = np.flatnonzero(CORRIDOR.reached(agent.episodes.observations))
    for row in range(len(agent.built.labels)):
        state = agent.episodes.observations[row]
        if row in forbidden:
            continue
        decisions = plan.policy().decide(state)
        entries = plan.routes.route(int(decisions.entries[0]))
        assert not CORRIDOR.reached(plan.routes.states(np.array(entries, np.int32))).any()


@KINDS
def test_a_way_that_is_not_there_has_a_price_that_is_said(paths):
    agent = two_ways(paths, only_straight=True)
    plan = agent.plan(goal.avoiding(CORRIDOR))
    answer = plan.explain(agent.episodes.observations[0])
    inside = CORRIDOR.reached(agent.episodes.observations).sum() / 3
    assert not answer.possible
    assert answer.inside == pytest.approx(inside, abs=1)
    assert f"at least {answer.inside} recorded steps of it. Plan without `avoiding` to take that way." in str(answer)
    one = replace(answer, inside=1, path=(3, 4), steps=1.2)
    assert "at least 1 recorded step of it." in str(one)
    assert "1 edge, about 1 step, " in str(replace(one, possible=True, pieces=plan.routes.pieces(0)))
    with pytest.raises(VMGError, match=r"each of 1 column, low no higher than high, not \[2.0\] and \[1.0\]"):
        within([2.0], [1.0], columns=(0,))
    assert not CORRIDOR.reached(states_of(plan)).any()  # a hard rule: it does not go there
    assert agent.plan(goal).explain(agent.episodes.observations[0]).possible


@KINDS
def test_two_regions_that_bar_both_ways_are_said_with_the_cheaper_one(paths):
    agent = two_ways(paths)
    answer = agent.plan(goal.avoiding(CORRIDOR).avoiding(UPPER)).explain(agent.episodes.observations[0])
    assert not answer.possible
    assert 3 <= answer.inside <= 6


@KINDS
def test_rewards_keep_off_too(paths):
    agent = two_ways(paths)
    to_the_right = reward_function(lambda o_t, a_t, o_tp1: (o_tp1 - o_t)[:, 0], name="to the right")
    plan = agent.plan(to_the_right.avoiding(CORRIDOR))
    assert not CORRIDOR.reached(states_of(plan)).any()
    assert plan.explain(agent.episodes.observations[0]).inside == 0
    assert weighted([(1.0, to_the_right.avoiding(CORRIDOR))]).avoided == (CORRIDOR,)


@KINDS
def test_a_penalty_is_weighed_against_the_longer_way(paths):
    agent = two_ways(paths)
    for weight, through in [(0.0, True), (0.1, True), (20.0, False)]:
        plan = agent.plan(goal.costing(weight, CORRIDOR))
        states = states_of(plan)
        assert goal.reached(states[-1:])[0]
        assert CORRIDOR.reached(states).any() == through
    only = two_ways(paths, only_straight=True)
    dearly = only.plan(goal.costing(20.0, CORRIDOR))
    assert goal.reached(states_of(dearly)[-1:])[0]  # it costs, but it is no rule


def test_a_penalty_neither_moves_the_goal_nor_changes_what_it_is_worth():
    agent = two_ways("recordings")
    plain, costly = agent.plan(goal), agent.plan(goal.costing(20.0, CORRIDOR))
    assert (plain.values == costly.values).all()
    assert (plain.goal_vertices == costly.goal_vertices).all()


@KINDS
def test_one_or_the_other_is_whichever_is_nearer(paths):
    agent = two_ways(paths)
    near_by, far = place(0.0, 1.5, name="near by"), place(*GOAL, name="far")
    plan = agent.plan(any_of([far, near_by]))
    states = states_of(plan, 12)
    assert near_by.reached(states).any()
    assert plan.explain(states[0]).possible
    assert plan.objective.name == "far or near by"
    shut = agent.plan(any_of([far, near_by]).avoiding(within([-1, 1], [1, 2], columns=(0, 1), name="there")))
    assert goal.reached(states_of(shut)[-1:])[0]


def test_stages_keep_off_what_their_sequence_avoids():
    stages = in_order([place(3.0, 0.0, name="a"), place(0.0, 1.5, name="b")]).avoiding(CORRIDOR).costing(2.0, UPPER)
    assert all(stage.avoided == (CORRIDOR,) and stage.penalties == ((2.0, UPPER),) for stage in stages.stages)


def test_rules_that_say_nothing_are_refused():
    with pytest.raises(VMGError, match=r"says nowhere that could be avoided"):
        goal.avoiding(recorded_rewards())
    with pytest.raises(VMGError, match=r"take off what a step costs with `weighted`"):
        recorded_rewards().costing(1.0, CORRIDOR)
    with pytest.raises(VMGError, match=r"A penalty weighs 0 or more steps, not -1"):
        goal.costing(-1.0, CORRIDOR)
    with pytest.raises(VMGError, match=r"say any_of"):
        any_of([goal.avoiding(CORRIDOR), goal])
    agent = two_ways("recordings")
    with pytest.raises(VMGError, match=r"All that is recorded lies in what is to be avoided"):
        agent.plan(goal.avoiding(within([-9, -9], [9, 9], columns=(0, 1))))
    paying = reward_function(lambda o_t, a_t, o_tp1: -o_tp1[:, 0], name="leftwards")
    with pytest.raises(VMGError, match=r"must not be below 0"):
        agent.plan(goal.costing(1.0, paying))
