"""A body that stands still though it has somewhere to go is pushed, against what it did, until it gets on."""

from dataclasses import replace

import numpy as np
import pytest
from levers import place, written_agent

from vmg.act.struggling import LONG, MOST, Struggles
from vmg.data.episodes import Episodes
from vmg.graph.sight import Sight

SIGHT = Sight(np.full(6, 0.1, np.float32), np.full(6, 9.0, np.float32), np.arange(6) == 5, np.zeros(1))
"""Five numbers of a body and one of an object."""
HERE, THERE = np.zeros(6, np.float32), np.array([1, 1, 1, 1, 1, 0], np.float32)
ACTION = np.array([0.5, -0.5], np.float32)


def pushed(*, goal=THERE, there=(), steps=LONG, idle=LONG, seen=lambda step: HERE):
    """What pushes a body, having seen all that."""
    struggles = Struggles(SIGHT)
    for step in range(steps):
        struggles.note([0], seen(step)[None], goal[None], there)
    return struggles.push(0, idle, ACTION, lambda: np.array([0.2, 0.2], np.float32))


def test_who_stands_still_for_long_is_pushed_against_what_led_nowhere():
    assert pushed(steps=LONG - 1) is None
    np.testing.assert_allclose(pushed(), [-0.2, 0.2])


@pytest.mark.parametrize(
    "free",
    [
        {"seen": lambda step: 0.11 * step * THERE},
        {"goal": HERE + np.float32(0.04)},
        {"there": (0,)},
        {"idle": LONG - 1},
    ],
    ids=["who moves", "who has nowhere to go", "who is there", "who gets on along its route"],
)
def test_others_are_not(free):
    assert pushed(**free) is None


def test_one_number_that_goes_to_and_fro_is_no_moving_and_an_object_neither():
    wheels, thing = np.eye(6, dtype=np.float32)[[4, 5]]
    assert pushed(seen=lambda step: wheels * (step % 2)) is not None
    assert pushed(seen=lambda step: thing * step) is not None


def test_a_push_is_kept_up_and_there_is_more_of_it_from_try_to_try():
    struggles, sizes = Struggles(SIGHT), []
    for _ in range(6 * LONG):
        struggles.note([0], HERE[None], THERE[None], ())
        push = struggles.push(0, LONG, ACTION, lambda: np.ones(2, np.float32))
        sizes.append(0 if push is None else int(push[1]))
    assert sizes == sorted(sizes)
    assert max(sizes) == MOST
    assert [sizes.count(each) for each in range(MOST)] == [LONG - 1] + [LONG] * (MOST - 1)


def straight_on():
    """Recordings of somebody who goes back a little at first, and then straight on."""
    rng, walks = np.random.default_rng(0), []
    for _ in range(6):
        x = np.concatenate([[0.6, 0.4, 0.2], np.linspace(0, 3, 16)])
        steps = np.column_stack([x, np.zeros(19)]) + rng.normal(0, 0.01, (19, 2))
        walks.append((steps.astype(np.float32), np.diff(steps, axis=0), np.zeros(18), False, True))
    return Episodes.from_list(walks, source="straight on")


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_a_policy_comes_free_where_nothing_recorded_tells_it_how(noise):
    """It is wedged in and has to go back a little, which nobody recorded: who only goes on stays there."""
    agent = written_agent(straight_on(), "observed")
    acting = replace(agent.config.act, noise=noise, noise_when="stuck")
    goal, wedged = place(3.0, 0.0), True
    policy, state = agent.plan(goal).policy(acting), np.zeros(2, np.float32)
    policy.begin(state)
    for _ in range(200):
        moved = (state + np.clip(policy.act(state), -0.25, 0.25)).astype(np.float32)
        wedged &= not (state[0] > 1.2 and moved[0] < state[0] - 0.05)
        state = state if wedged and moved[0] > 1.5 else moved
    assert goal.reached(state[None])[0] == (noise > 0)
