"""All of several goals, where no recorded state has all: the order is found, kept to, and found anew."""

import pickle
from itertools import pairwise, permutations

import numpy as np
import pytest
from levers import FOUR_PLACES, PLACES, Room, follow, lever, place, pulled_in, written_agent

from vmg.act.conjunction import KEPT, ConjunctionPlan
from vmg.act.plan import Plan
from vmg.goals import all_of, where, within

A, B, C, D = map(lever, "ABCD")
PAIRS = ("AB", "BC", "AC")
KINDS = pytest.mark.parametrize("paths", ["edges", "recordings"])


def planned(objective, *orders, paths="recordings"):
    return written_agent(pulled_in(*orders), paths).plan(objective)


@KINDS
@pytest.mark.parametrize("given", [[A, B, C], [C, B, A], [B, C, A]])
def test_the_order_is_found_and_done(paths, given):
    wanted = all_of(given)
    plan = planned(wanted, *PAIRS, paths=paths)
    assert isinstance(plan, ConjunctionPlan)
    assert [each.name for each in plan.order] == ["A", "B", "C"]
    assert "The order found: A, then B, then C" in str(plan)
    states = follow(plan.policy(), Room(), 80, until=wanted)
    assert wanted.reached(states[-1:])[0]


def test_stages_do_not_look_at_what_they_imagine():
    """Routes that look would find that levers are pulled which a stage imagines are not, and give it up."""
    wanted = all_of([A, B, C])
    plan = planned(wanted, *PAIRS, paths="observed")
    assert {stage.routes.kind for stage in plan.stages} == {"recordings"}
    assert wanted.reached(follow(plan.policy(), Room(), 80, until=wanted)[-1:])[0]


def test_plans_of_stages_are_kept_for_later_episodes():
    """From other starts the stages are the same, though they cost something else."""
    policy, made = planned(all_of([A, B, C]), *PAIRS).policy(), set()
    for start in range(KEPT):
        room = Room()
        room.state[:2] = 0.01 * start
        follow(policy, room, 60)
        made |= set(map(id, policy._plans.values()))
    assert 3 <= len(made) == len(policy._plans) <= KEPT


def test_what_is_done_is_imagined_undone_where_no_recording_has_it():
    plan = planned(all_of([A, B, C]), *PAIRS)
    first, second, third = (stage for stage, _, _ in plan._found)
    assert (first.imagined, second.imagined) == (0, 0)
    assert third.imagined in (0b001, 0b010)
    assert "not done and not moved" in str(plan)
    assert [answer.possible for answer in plan.explain(plan.start)] == [True] * 3


@KINDS
def test_one_recorded_state_that_has_all_is_headed_for_as_ever(paths):
    agent = written_agent(pulled_in("AB", "ABC"), paths)
    wanted = all_of([A, B, C])
    assert isinstance(agent.plan(wanted), Plan)
    ordered = agent.plan(all_of([A, B, C], before=[(A, B)]))
    assert isinstance(ordered, ConjunctionPlan)
    assert [each.name for each in ordered.order] == ["A", "B", "C"]


def some_orders(seed):
    """Orders in which one to three of four levers were pulled."""
    all_orders = ["".join(order) for size in (1, 2, 3) for order in permutations("ABCD", size)]
    rng = np.random.default_rng(seed)
    return rng.choice(all_orders, rng.integers(3, 8), replace=False).tolist()


@pytest.mark.parametrize("orders", [("BA", "CA", "D", "BAD", "CD", "DAC"), *map(some_orders, range(8))])
def test_no_stage_is_worse_than_the_one_before_had_foreseen(orders):
    agent = written_agent(pulled_in(*orders, places=FOUR_PLACES))
    stages = [stage for stage, _, _ in agent.plan(all_of([A, B, C, D]))._found]
    assert len(stages) >= 2
    for stage, following in pairwise(stages):
        assert following.left <= stage.left - stage.steps + 15, stage  # what getting to a vertex may cost


def test_an_order_that_is_asked_for_is_kept():
    orders = ("AB", "BA", "BC", "AC", "CB")
    free = planned(all_of([A, B, C]), *orders)
    asked = planned(all_of([A, B, C], before=[(B, A)]), *orders)
    names = [each.name for each in asked.order]
    assert names.index("B") < names.index("A")
    assert (
        asked.ordering.next_stage(asked.start, asked.start, 0).left
        >= free.ordering.next_stage(free.start, free.start, 0).left
    )
    states = follow(asked.policy(), Room(), 80)
    assert states[:, 3].argmax() < states[:, 2].argmax()


def test_what_is_done_already_is_left_done():
    plan = planned(all_of([A, B, C]), *PAIRS)
    room = Room()
    room.state[2] = 1
    begun = plan.starting_at(room.state)
    assert [each.name for each in begun.order] == ["B", "C"]
    assert "A is done already" in str(begun)
    assert follow(plan.policy(), room, 80)[-1, 2:].tolist() == [1, 1, 1]


@KINDS
@pytest.mark.parametrize("orders", [PAIRS, ("ABC",)], ids=["no state has all", "one has"])
def test_where_all_is_done_at_the_start_it_is_kept(paths, orders):
    plan = planned(all_of([A, B, C], before=[(A, B)]), *orders, paths=paths)
    room = Room()
    room.state[2:] = 1
    begun = plan.starting_at(room.state)
    assert begun.stages == begun.order == ()
    assert "All of it holds already: nothing is left to do" in str(begun)
    assert "counts B once it is reached anew" in str(begun)
    assert "No recorded way" not in str(begun)
    assert follow(plan.policy(), room, 20)[:, 2:].all()


def test_what_is_lost_where_all_was_done_is_done_again():
    plan = planned(all_of([A, B, C], before=[(A, B)]), *PAIRS, "CA", "BA", "CB")
    policy, room = plan.policy(), Room()
    room.state[2:] = 1
    policy.begin()
    room.step(policy.act(room.state))
    room.state[4] = 0
    for _ in range(100):
        room.step(policy.act(room.state))
    assert room.state[2:].tolist() == [1, 1, 1]


def test_what_is_undone_is_done_again():
    plan = planned(all_of([A, B, C]), *PAIRS, "CA", "BA", "CB")
    policy, room, undone = plan.policy(), Room(), False
    policy.begin()
    for _ in range(200):
        room.step(policy.act(room.state))
        if room.state[3] == 1 and not undone:  # somebody pushes the first lever back
            room.state[2], undone = 0, True
        if room.state[2:].all():
            break
    assert undone
    assert room.state[2:].tolist() == [1, 1, 1]


def test_a_part_that_takes_too_long_is_left_for_another():
    plan = planned(all_of([A, B, C]), *PAIRS, "BA", "CA", "CB")
    policy, room = plan.policy(), Room(jammed={0})
    policy.begin()
    for _ in range(150):
        room.step(policy.act(room.state))
    assert room.state[2:].tolist() == [0, 1, 1]
    room.jammed.clear()
    for _ in range(150):
        room.step(policy.act(room.state))
    assert room.state[2:].tolist() == [1, 1, 1]


@KINDS
def test_all_of_several_keep_off_what_is_avoided(paths):
    middle = within([0.8, 0.8], [1.2, 1.2], columns=(0, 1), name="the middle")  # between the start and B
    wanted = all_of([B, C, A]).avoiding(middle)
    plan = planned(wanted, *PAIRS, paths=paths)
    assert isinstance(plan, ConjunctionPlan)
    states = follow(plan.policy(), Room(), 80, until=wanted)
    assert wanted.reached(states[-1:])[0]
    assert not middle.reached(states).any()
    assert all(stage.objective.avoided for stage in plan.stages)


def test_where_no_order_is_possible_the_nearest_state_stands_for_all():
    here, there = place(*PLACES[0], name="here"), place(*PLACES[1], name="there")
    plan = planned(all_of([here, there]), *PAIRS)
    assert isinstance(plan, Plan)
    assert "No recorded state fulfils it: the nearest" in str(plan)


def test_where_nothing_is_near_it_is_said_what_cannot_be_done():
    here, there = (
        where(lambda at, x=x: np.linalg.norm(at["place"] - x, axis=1) < 0.2, {"place": (0, 1)}, name=name)
        for x, name in zip(PLACES, ("here", "there"), strict=False)
    )
    plan = planned(all_of([here, there]), *PAIRS)
    assert isinstance(plan, ConjunctionPlan)
    assert "No recorded way from here does there once here is done and leaves done what is done" in str(plan)
    assert np.isfinite(follow(plan.policy(), Room(), 40)).all()


def test_predicates_have_an_order_too():
    fields = {"place": (0, 1), "levers": (2, 3, 4)}
    pulled = [where(lambda at, i=i: at["levers"][:, i] > 0.5, fields, name="ABC"[i]) for i in range(2)]
    far = where(lambda at: at["levers"][:, 2] > 0.5, fields, name="C")
    plan = planned(all_of([far, *pulled]), *PAIRS)
    assert far.columns == (2, 3, 4)
    assert [each.name for each in plan.order][:2] == ["A", "B"]


def test_more_parts_than_can_be_weighed_are_done_one_by_one(monkeypatch):
    monkeypatch.setattr("vmg.act.ordering.MOST_PARTS", 2)
    monkeypatch.setattr("vmg.act.conjunction.MOST_PARTS", 2)
    plan = planned(all_of([C, B, A]), *PAIRS)
    assert "More than 2 are not weighed in every order" in str(plan)
    assert plan.order[0].name == "A"


def test_a_policy_can_be_sent_to_another_process():
    policy = planned(all_of([A, B, C]), *PAIRS).policy()
    sent = pickle.loads(pickle.dumps(policy))
    assert (follow(sent, Room(), 40) == follow(policy, Room(), 40)).all()
