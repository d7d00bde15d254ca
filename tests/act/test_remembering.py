"""What a stage of a sequence is shown of what earlier stages have done: what no recording goes on with is imagined."""

from functools import cache
from itertools import combinations

import numpy as np
import pytest
from levers import PLACES, Room, follow, lever, place, pulled_in, written_agent

from vmg.act.imagining import IMAGINED
from vmg.act.remembering import _cost, _leaves_alone, imagined, shown
from vmg.goals import in_order, near

START = Room().state
KINDS = pytest.mark.parametrize("paths", ["recordings", "observed"])


@cache
def sequence(paths, orders, *names):
    """A plan for levers in this order, where they were recorded in those."""
    return written_agent(pulled_in(*orders), paths).plan(in_order([lever(name) for name in names]))


def after(plan, stage):
    """The first state of an episode in which it is this stage's turn."""
    done = plan.stages[stage - 1].objective
    return follow(plan.policy(), Room(), 60, until=done)[-1]


@KINDS
@pytest.mark.parametrize(
    ("orders", "names", "found"),
    [
        (("A", "B"), "AB", (0,)),
        (("A", "B", "AB"), "AB", ()),
        (("AB", "BA"), "AB", ()),
        (("AC", "B"), "ACB", (0, 1)),
        (("CA", "AB"), "CAB", (0,)),
    ],
)
def test_what_no_recording_goes_on_with_is_imagined_and_nothing_else(paths, orders, names, found):
    plan = sequence(paths, orders, *names)
    assert imagined(plan.stages, len(names) - 1, after(plan, len(names) - 1), START) == found
    last = follow(plan.policy(), Room(), 60)[-1]
    assert all(stage.objective.reached(last[None])[0] for stage in plan.stages)


@KINDS
def test_it_is_what_costs_least_with_a_price_for_all_that_is_imagined(paths):
    """Against all sets of earlier stages, one by one, from any recorded place with any levers pulled."""
    plan, rng = sequence(paths, ("AC", "B", "CB"), "A", "C", "B"), np.random.default_rng(0)
    for _ in range(20):
        state = np.float32([*PLACES[rng.integers(3)], rng.integers(2), 0, rng.integers(2)])
        done = [i for i, stage in enumerate(plan.stages[:2]) if stage.objective.reached(state[None])[0]]
        prices = {}
        for chosen in (each for size in range(len(done) + 1) for each in combinations(done, size)):
            entry, cost = _cost(plan.stages[2], plan.stages[2].routes, shown(plan.stages, chosen, state, START))
            if not chosen or _leaves_alone(plan.stages, chosen, plan.stages[2].routes, entry):
                prices[chosen] = cost + IMAGINED * len(chosen)
        assert imagined(plan.stages, 2, state, START) == min(prices, key=prices.__getitem__)


def test_a_way_that_moves_what_is_imagined_does_not_leave_it_alone():
    """Though it does not do it: the way to B pulls A, of which more is wanted."""
    agent = written_agent(pulled_in("AB"), "observed")
    more = near([2.0], columns=(2,), tolerance=0.1, name="more of A")
    plans = tuple(agent.plan(each) for each in (more, lever("C"), lever("B")))
    entry = int(plans[2].policy().decide(START).entries[0])
    assert not _leaves_alone(plans, (0,), plans[2].routes, entry)
    assert _leaves_alone(plans, (1,), plans[2].routes, entry)


@KINDS
def test_a_body_is_where_it_is(paths):
    agent = written_agent(pulled_in("A", "B"), paths)
    plan = agent.plan(in_order([place(*PLACES[0]), lever("B")]))
    assert imagined(plan.stages, 1, after(plan, 1), START) == ()


def test_what_was_done_at_the_start_or_is_asked_for_again_is_not_imagined():
    plan, (on, off) = sequence("observed", ("A", "B"), "A", "B"), (np.array(START), START)
    on[2] = 1
    assert imagined(plan.stages, 1, on, off) == (0,)
    assert imagined(plan.stages, 1, on, on) == ()
    again = sequence("observed", ("A", "B"), "A", "B", "A")
    assert 0 not in imagined(again.stages, 2, on, off)


def test_along_edges_nothing_is_imagined():
    plan = sequence("edges", ("A", "B"), "A", "B")
    assert imagined(plan.stages, 1, after(plan, 1), START) == ()


@KINDS
def test_the_policy_sees_it_as_at_the_beginning_and_the_answer_says_so(paths):
    plan = sequence(paths, ("A", "B"), "A", "B")
    policy, here = plan.policy(), after(plan, 1)
    policy.begin()
    policy.act(START)
    unpulled = shown(plan.stages, (0,), here, START)
    assert unpulled.tolist() == [*here[:2], *START[2:]]
    assert policy.act(here) == pytest.approx(plan.stages[1].policy().act(unpulled))
    answers = plan.explain(START)
    assert [answer.imagined for answer in answers] == [(), ("A",)]
    assert str(answers[1]).startswith("With A as at the beginning, which is what the policy sees: The observation")
