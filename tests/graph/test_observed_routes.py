"""Routes that look at observations: no way leads through a change that nobody made, and a changed world is noticed."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vmg.base.errors import VMGError
from vmg.data.episodes import Episodes
from vmg.graph import ObservedRoutes, SolveConfig, build, reward
from vmg.graph.routes.keeping import WINDOW
from vmg.graph.routes.observed import AGAIN, BESIDE, BLOCK, OFF, TRIES, gaps, standing_still, usual_steps
from vmg.graph.solving import solve_edges

OPEN = 10.0
END = 12
"""Where the corridor ends."""


def corridor(*walks: tuple[int, float]):
    """Recordings of walks along a corridor, each (steps per place, where the door is opened); the last step is paid.

    An observation is the place, and how far the door is open. The metric space does not see the door.
    """
    episodes = []
    for slowness, opened in walks:
        place = np.repeat(np.arange(END + 1.0), slowness)
        rewards = np.zeros(len(place) - 1)
        rewards[-1] = 1.0
        observations = np.column_stack([place, OPEN * (place >= opened)])
        episodes.append((observations, np.zeros((len(rewards), 1)), rewards, False, True))
    found = Episodes.from_list(episodes)
    return found, build(found.observations[:, :1], found, 0.5, recordings=True)


def solved(kind, *walks):
    episodes, graph = corridor(*walks)
    config = SolveConfig(discount=0.95, paths=kind, switch_cost=5.0)
    return solve_edges(graph, reward(graph, episodes), config)


SLOW, FAST = (2, 9), (1, 0)
"""Opens the door on its way; has it open from the first."""
FAST_ROWS = range(2 * (END + 1), 3 * (END + 1))


@pytest.mark.parametrize(("kind", "blind"), [("recordings", True), ("observed", False)])
def test_a_route_does_not_pass_through_a_door_that_nobody_opened(kind, blind):
    """A switch to the faster recording saves steps, but its door is open while this one's is still shut."""
    routes = solved(kind, SLOW, FAST)
    way = np.array(routes.route(0))
    doors = routes.graph.recorded.observations[way, 1]
    opened = np.flatnonzero(np.diff(doors))
    assert bool((np.diff(way)[opened] != 1).any()) == blind
    assert any(row in FAST_ROWS for row in way)  # where both doors are open, or at once


def test_recordings_that_agree_are_switched_between_as_ever():
    ways = [solved(kind, (2, 0), FAST).route(0) for kind in ("recordings", "observed")]
    assert ways[0] == ways[1]
    assert ways[0][1] in FAST_ROWS


def test_an_episode_enters_where_the_world_is_like_its_own():
    routes = solved("observed", SLOW, FAST)
    assert routes.entry_like(np.array([0.0, OPEN], np.float32)) in FAST_ROWS
    assert routes.entry_like(np.array([0.0, 0.0], np.float32)) not in FAST_ROWS


def test_an_episode_whose_door_stays_shut_enters_anew():
    """The recording opens the door on its way, the world does not: then one is followed whose door is shut, too."""
    routes = solved("observed", (1, 6), (3, 100), (3, 100))
    kept, followed = routes.tracker(1), []
    for step in range(END + 2 * AGAIN):
        place = np.float32(min(step, END - 1))
        kept.look(np.array([place, 0.0], np.float32))
        followed.append(kept.locate(np.array([place], np.float32), int(place))[0] > END)
    assert not any(followed[:AGAIN])
    assert followed[-1]


def test_another_recording_is_entered_where_one_failed_before():
    routes = solved("observed", (2, 100), (3, 100))
    world = np.array([5.0, 0.0], np.float32)
    first = routes.entry_like(world)
    second = routes.entry_like(world, [(first, first + 3)])
    assert not first - BESIDE <= second <= first + 3


ASIDE = 3.0
"""By how much a body that walks goes to the side, in each step."""


def slanting(places: int = 80):
    """Routes along one recording of a body that walks slantwise, past a door that opens halfway."""
    place = np.arange(places + 1.0)
    observations = np.column_stack([place, ASIDE * place, OPEN * (place > places / 2)])
    rewards = np.append(np.zeros(places - 1), 1.0)
    episodes = Episodes.from_list([(observations, np.zeros((places, 1)), rewards, False, True)])
    graph = build(episodes.observations[:, :1], episodes, 1.0, recordings=True)
    return solve_edges(graph, reward(graph, episodes), SolveConfig(discount=0.95, paths="observed"))


def seen_at(routes, row, steps_aside=0.0, door=None):
    """What a body sees at a recorded row, so many steps aside, and with its door as it was recorded or otherwise."""
    seen = routes.graph.recorded.observations[row].copy()
    seen[1] += ASIDE * steps_aside
    seen[2] = seen[2] if door is None else door
    return seen


def located(kept, seen):
    kept.look(seen)
    return kept.locate(seen[:1], 0)[0]


def walked(routes, rows):
    kept = routes.tracker(1)
    return kept, [located(kept, seen_at(routes, row)) for row in rows]


@given(push=st.floats(8, 60), row=st.integers(3, 30))
@settings(max_examples=20, deadline=None)
def test_the_recording_waits_for_a_body_that_was_pushed_until_it_is_back(push, row):
    routes = slanting()
    kept, followed = walked(routes, range(row + 1))
    assert followed == list(range(row + 1))
    waited_at = set()
    while routes.off(routes.apart([row], seen := seen_at(routes, row, push)))[0] > OFF:
        waited_at.add(located(kept, seen))
        push *= 0.8
    assert waited_at == {row}
    assert located(kept, seen_at(routes, row + 1)) == row + 1
    assert not kept.failed


def test_it_does_not_wait_for_a_body_that_stays_aside():
    routes = slanting()
    kept, _ = walked(routes, range(11))
    last = [located(kept, seen_at(routes, row, 3)) for row in range(11, 30)][-1]
    assert abs(last - 29) <= WINDOW


def test_a_piece_on_which_the_door_stayed_shut_is_remembered():
    routes = slanting()
    kept, _ = walked(routes, range(30, 41))
    for row in range(41, 41 + 3 * AGAIN):
        if not kept.failed:
            located(kept, seen_at(routes, row, door=0.0))
    ((first, last),) = kept.failed
    assert first == 30
    assert last > 40
    assert kept.tries.tolist() == [0, 0, 1]


def test_what_could_not_be_moved_twice_no_longer_counts():
    """A door that cannot be opened does not keep an episode from going on."""
    kept, _ = walked(slanting(), range(30, 41))
    kept.tries[2] = TRIES
    rows = [located(kept, seen_at(kept.routes, row, door=0.0)) for row in range(41, 80)]
    assert rows == list(range(41, 80))
    assert not kept.failed


@given(beyond=st.floats(0, 1e6), below=st.booleans(), row=st.integers(0, 80))
@settings(max_examples=20, deadline=None)
def test_a_number_farther_off_than_any_recorded_one_is_no_less_like_them(beyond, below, row):
    """Something was knocked farther aside than it ever was: the rest still says where the episode is."""
    routes = slanting()
    seen = np.stack([routes.graph.recorded.observations[row]] * 2)
    numbers = routes.graph.recorded.observations[:, 1]
    far = numbers.min() - routes.widths[1] if below else numbers.max() + routes.widths[1]
    seen[:, 1] = far, far - beyond if below else far + beyond
    assert routes.entry_like(seen[0]) == routes.entry_like(seen[1])


@given(seed=st.integers(0, 10_000), share=st.floats(0, 1))
@settings(max_examples=20, deadline=None)
def test_what_stands_still_changes_in_few_steps(seed, share):
    rng = np.random.default_rng(seed)
    changes = rng.choice([-1.0, 1.0], (60, 3)) * (rng.random((60, 3)) < [1.0, share, 0.0])
    observations = np.vstack([np.zeros(3), changes.cumsum(0)])
    episodes = Episodes.from_list([(observations, np.zeros((60, 1)), np.zeros(60), False, True)])
    graph = build(episodes.observations[:, :1], episodes, 0.7, recordings=True)
    few = 0 < np.count_nonzero(changes[:, 1]) < 0.2 * 60
    assert standing_still(graph, usual_steps(graph)).tolist() == [False, few, False]


@given(seed=st.integers(0, 10_000), columns=st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_gaps_equal_a_slow_twin(seed, columns):
    rng = np.random.default_rng(seed)
    observations = rng.normal(size=(30, columns)).cumsum(0)
    observations[:, 1:] *= rng.random(columns - 1) < 0.8  # some never change
    parts = [observations[:12], observations[12:]]
    episodes = Episodes.from_list(
        [(each, np.zeros((len(each) - 1, 1)), np.zeros(len(each) - 1), False, True) for each in parts]
    )
    graph = build(episodes.observations[:, :1], episodes, 0.7, recordings=True)
    changes = [np.diff(each.astype(np.float32), axis=0) for each in parts]
    usual = np.sqrt(np.mean(np.concatenate(changes).astype(np.float64) ** 2, axis=0))
    np.testing.assert_allclose(usual_steps(graph), usual, rtol=1e-5)
    for row, found in enumerate(ObservedRoutes.offsets(graph)):
        apart = [
            (episodes.observations[row, c] - graph.states[graph.labels[row], c]) / usual[c]
            for c in range(columns)
            if usual[c] > 0
        ]
        assert found == pytest.approx(np.sqrt(np.mean(np.square(apart))) if apart else 0.0, rel=1e-4, abs=1e-6)


def test_blocks_of_rows_change_no_number(monkeypatch):
    _, graph = corridor(SLOW, FAST)
    whole, usual = ObservedRoutes.offsets(graph), usual_steps(graph)
    assert len(graph.labels) < BLOCK
    monkeypatch.setattr("vmg.graph.routes.observed.BLOCK", 5)
    np.testing.assert_array_equal(ObservedRoutes.offsets(graph), whole)
    np.testing.assert_allclose(usual_steps(graph), usual, rtol=1e-6)


def test_numbers_that_never_change_do_not_count():
    one, other = np.array([1.0, 5.0], np.float32), np.array([3.0, 9.0], np.float32)
    assert gaps(one, other, np.array([0.5, 0.0], np.float32)) == 4.0
    assert gaps(one, other, np.zeros(2, np.float32)) == 0.0


def test_they_come_back_from_disk_and_from_a_pickle_as_they_were():
    routes = solved("observed", SLOW, FAST)
    for again in (ObservedRoutes.from_arrays(routes.graph, routes.arrays()), pickle.loads(pickle.dumps(routes))):
        assert type(again) is ObservedRoutes
        np.testing.assert_array_equal(again.table.following, routes.table.following)
        np.testing.assert_array_equal(again.table.costs, routes.table.costs)


def test_it_searches_without_a_limit_as_recordings_do():
    with pytest.raises(VMGError, match="Routes along recordings search without a limit"):
        SolveConfig(paths="observed", search_steps=3)
