"""Routes that look at observations: no way leads through a change that nobody made, and a changed world is noticed."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vmg.base.errors import VMGError
from vmg.data.episodes import Episodes
from vmg.graph import ObservedRoutes, SolveConfig, build, reward
from vmg.graph.restricting import without
from vmg.graph.routes.keeping import WINDOW
from vmg.graph.routes.observed import AGAIN, BESIDE, OFF, TRIES
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
    assert routes.entry_like(np.array([0.0, OPEN], np.float32), 0) in FAST_ROWS
    assert routes.entry_like(np.array([0.0, 0.0], np.float32), 0) not in FAST_ROWS


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
    first = routes.entry_like(world, 0)
    second = routes.entry_like(world, 0, [(first, first + 3)])
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
    while routes.sight.off(routes.apart([row], seen := seen_at(routes, row, push)))[0] > OFF:
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


def test_what_the_goal_is_about_counts_however_often_it_was_not_moved():
    """Who is to open the door does not go on without it."""
    kept, _ = walked(slanting(), range(30, 41))
    kept.wanted[2], kept.tries[2] = True, TRIES
    rows = [located(kept, seen_at(kept.routes, row, door=0.0)) for row in range(41, 80)]
    assert rows != list(range(41, 80))
    assert kept.failed


@given(beyond=st.floats(0, 1e6), below=st.booleans(), row=st.integers(0, 80))
@settings(max_examples=20, deadline=None)
def test_a_number_farther_off_than_any_recorded_one_is_no_less_like_them(beyond, below, row):
    """Something was knocked farther aside than it ever was: the rest still says where the episode is."""
    routes = slanting()
    seen = np.stack([routes.graph.recorded.observations[row]] * 2)
    numbers = routes.graph.recorded.observations[:, 1]
    far = numbers.min() - routes.sight.widths[1] if below else numbers.max() + routes.sight.widths[1]
    seen[:, 1] = far, far - beyond if below else far + beyond
    assert routes.entry_like(seen[0], 0) == routes.entry_like(seen[1], 0)


def test_a_recording_that_leads_elsewhere_is_not_entered_though_it_ends_soon():
    """The way to the goal is long, and beside it begins one that ends after a few steps, somewhere else."""
    long, short = (np.column_stack([np.arange(n + 1.0), np.full(n + 1, side)]) for n, side in ((59, 0.0), (19, 0.1)))
    parts = [(each, np.zeros((len(each) - 1, 1)), each[1:, 0] == 59, False, True) for each in (long, short)]
    episodes = Episodes.from_list(parts)
    features = episodes.observations * np.array([1, 50], np.float32)
    graph = build(features, episodes, 1.5, recordings=True)
    routes = solve_edges(graph, reward(graph, episodes), SolveConfig(discount=0.95, paths="observed"))
    seen = episodes.observations[0]
    kept = routes.tracker(1)
    kept.look(seen)
    assert kept.locate(features[0], int(graph.labels[0]))[0] < 60


def test_vertices_that_are_not_used_are_not_entered():
    """Of the vertices most like an observation all are avoided: another is entered."""
    episodes, graph = corridor((10, 0), (10, 0), (10, 0), (10, 0), (10, 0), (10, 0), (10, 0))
    left = without(graph, episodes.observations[:, 0] < 11, whole_vertices=False)
    routes = solve_edges(left, reward(left, episodes), SolveConfig(discount=0.95, paths="observed"))
    row = routes.entry_like(np.array([0.0, 0.0], np.float32), int(left.nearest_vertices(np.zeros((1, 1)))[0]))
    assert episodes.observations[row, 0] >= 11


def test_a_body_comes_by_itself_and_an_object_does_not():
    """Of two recordings the one is entered in which the body is elsewhere, though the object is less far off."""
    place, moved = np.arange(13.0), np.sqrt(1 / 12)  # the object moves once, by 1
    body, paid = (-1) ** place, np.append(np.zeros(11), 1.0)
    walks = [
        (np.column_stack([place, body + 2 * off, thing * moved + (place == 12)]), np.zeros((12, 1)), paid, False, True)
        for off, thing in ((0, 5), (6, 0))
    ]
    episodes = Episodes.from_list(walks)
    graph = build(episodes.observations[:, :1], episodes, 0.5, recordings=True)
    routes = solve_edges(graph, reward(graph, episodes), SolveConfig(discount=0.95, paths="observed"))
    assert routes.sight.objects.tolist() == [False, False, True]
    seen, recorded = np.array([0.0, 1.0, 0.0], np.float32), graph.recorded.observations
    gaps = routes.sight.gaps(recorded[[0, 13]], seen)
    assert gaps[1] == pytest.approx(1.2 * gaps[0], rel=1e-3)
    assert routes.entry_like(seen, 0) >= 13


@pytest.mark.parametrize(("aside", "ajar", "failed"), [(0, 0, 0), (1, 1, 0), (4, 0, 1), (0, 3, 1)])
def test_who_is_elsewhere_at_the_end_of_a_route_failed_on_what_led_there(aside, ajar, failed):
    """The body is so many steps aside, or the door so many of its own less open than recorded."""
    routes = slanting()
    kept, _ = walked(routes, range(70, 81))
    for _ in range(AGAIN):
        if not kept.failed:
            located(kept, seen_at(routes, 80, aside, OPEN - ajar * routes.sight.steps[2]))
    assert len(kept.failed) == failed


def test_at_the_end_of_its_route_an_episode_looks_anew_now_and_then(monkeypatch):
    routes = slanting()
    kept, _ = walked(routes, range(70, 81))
    looks = []
    monkeypatch.setattr(ObservedRoutes, "entry_like", lambda self, *_: looks.append(1) or 80)
    for _ in range(5 * AGAIN):
        located(kept, seen_at(routes, 80))
    assert len(looks) == 5


def test_they_come_back_from_disk_and_from_a_pickle_as_they_were():
    routes = solved("observed", SLOW, FAST)
    for again in (ObservedRoutes.from_arrays(routes.graph, routes.arrays()), pickle.loads(pickle.dumps(routes))):
        assert type(again) is ObservedRoutes
        np.testing.assert_array_equal(again.table.following, routes.table.following)
        np.testing.assert_array_equal(again.table.costs, routes.table.costs)


def test_it_searches_without_a_limit_as_recordings_do():
    with pytest.raises(VMGError, match="Routes along recordings search without a limit"):
        SolveConfig(paths="observed", search_steps=3)
