"""A policy that follows recordings: it heads for recorded observations, and an episode run again is the same."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from acting_cases import agent, episodes, follower
from hypothesis import given, settings
from hypothesis import strategies as st

from vmg.act.settings import ActConfig
from vmg.agent.agent import Agent
from vmg.base.errors import VMGError
from vmg.base.files import read_npz, write_npz
from vmg.envs import find_task
from vmg.goals import near
from vmg.graph.routes.keeping import GIVE_UP, WAIT, WINDOW, KeptRecording, lost_from
from vmg.networks import embed, translate


def test_decisions_equal_a_slow_twin():
    """Enter where gap and way cost least, follow the table, translate the observation found there."""
    graph, routes = follower().built, follower().routes
    acting = replace(follower().config.act, paid_states=False)
    decisions = follower().policy(acting).decide(episodes().observations[::97])
    price = follower().config.solve.switch_cost / graph.step_length
    for i, observation in enumerate(episodes().observations[::97]):
        feature = embed(follower().weights, observation[None])[0]
        costs = price * np.linalg.norm(graph.recorded.features - feature, axis=1) + routes.table.costs
        costs[graph.labels != decisions.vertices[i]] = np.inf
        row = decisions.entries[i]
        assert costs[row] == pytest.approx(costs.min(), abs=1e-3)
        for _ in range(follower().config.act.subgoal_steps):
            row = routes.table.following[row]
        assert decisions.subgoals[i] == graph.labels[row]
        action = translate(follower().weights, observation[None], episodes().observations[row][None])[0]
        low, high = follower().data.action_low, follower().data.action_high
        np.testing.assert_allclose(decisions.actions[i], np.clip(action, low, high), atol=1e-5)
        path = decisions[i].path
        assert path[0] == decisions.vertices[i]
        assert path[-1] == routes.targets[path[-1]]


def test_a_batch_decides_as_one_by_one():
    observations = episodes().observations[::211]
    policy = follower().policy()
    np.testing.assert_allclose(policy.act(observations), [policy.act(each) for each in observations], atol=1e-6)


def test_a_saved_follower_acts_the_same(tmp_path):
    follower().save(tmp_path)
    observations = episodes().observations[::50]
    assert (Agent.load(tmp_path).policy().act(observations) == follower().policy().act(observations)).all()


def test_a_damaged_recording_is_named(tmp_path):
    follower().save(tmp_path)
    arrays = read_npz(tmp_path / "graph.npz")
    write_npz(tmp_path / "graph.npz", arrays | {"recorded_features.low": arrays["recorded_features.low"][1:]})
    with pytest.raises(VMGError, match=r"graph\.npz does not hold a graph: the two halves of a table do not fit"):
        Agent.load(tmp_path)


def test_routes_along_recordings_need_their_recordings(tmp_path):
    follower().save(tmp_path)
    arrays = read_npz(tmp_path / "graph.npz")
    write_npz(tmp_path / "graph.npz", {name: a for name, a in arrays.items() if not name.startswith("recorded_")})
    with pytest.raises(VMGError, match=r"does not hold a graph: .*features"):
        Agent.load(tmp_path)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda arrays: arrays | {"changes": arrays["changes"][1:]},
        lambda arrays: arrays | {"changes": np.zeros_like(arrays["changes"])},  # on past the end of a recording
        lambda arrays: arrays | {"slots": arrays["slots"] + 10**6},
        lambda arrays: arrays | {"hops": np.roll(arrays["hops"], 1)},
    ],
)
def test_damaged_routes_along_recordings_are_answered_with_a_sentence(tmp_path, spoil):
    follower().save(tmp_path)
    write_npz(tmp_path / "solution.npz", spoil(read_npz(tmp_path / "solution.npz")))
    with pytest.raises(VMGError, match=r"does not fit the graph|was changed after it was written"):
        Agent.load(tmp_path)


def test_routes_kept_as_an_earlier_version_did_are_left_out_with_a_sentence(tmp_path):
    follower().save(tmp_path)
    arrays = read_npz(tmp_path / "solution.npz")
    write_npz(tmp_path / "solution.npz", {"values": arrays["values"], "to_go": follower().routes.table.costs})
    with pytest.warns(UserWarning, match=r"solve the graph again \(`vmg solve`\)"):
        loaded = Agent.load(tmp_path)
    assert loaded.routes is None
    observations = episodes().observations[::50]
    again = loaded.solve(episodes())
    assert (again.policy().act(observations) == follower().policy().act(observations)).all()


def test_new_tasks_follow_recordings_too():
    place = episodes().observations[-1, :2]
    plan = follower().plan(near(place, columns=(0, 1), tolerance=0.3))
    explanation = plan.explain(episodes().observations[0])
    assert explanation.possible
    assert explanation.path[-1] == plan.routes.targets[explanation.path[0]]


def test_noise_is_the_same_whenever_an_episode_is_run_again():
    observations = episodes().observations[:20]
    actions = []
    for first in (0, 0, 1):
        policy = follower(noise=0.1).policy()
        policy.begin({"observation": observations[first]})
        actions.append(np.array([policy.act(each) for each in observations]))
    assert (actions[0] == actions[1]).all()
    assert not np.allclose(actions[0], actions[2])
    assert not np.allclose(actions[0], follower().policy().act(observations))


def test_noise_takes_any_observation_an_environment_may_give():
    for observation in (None, [0.1, 0.2], {"x": 1.5, "y": (2, [3.0])}):
        follower(noise=0.1).policy().begin(observation)


def test_noise_below_zero_is_refused():
    with pytest.raises(VMGError, match=r"noise must be a number in \[0, 1e\+06\], not -1"):
        ActConfig(noise=-1.0)


# --- keeping to a recording -------------------------------------------------------------------------------------------


def start() -> int:
    """The row of a recorded observation with a long way before it."""
    return max(range(0, len(episodes().observations), 7), key=lambda row: len(follower().routes.route(row)))


def keeper(row: int) -> KeptRecording:
    tracker = follower().routes.tracker(3)
    tracker.entry = row
    return tracker


def vertex_of(row: int) -> int:
    return int(follower().built.labels[row])


def test_a_kept_recording_is_followed_to_its_end():
    """Shown the way itself, row by row, a policy that keeps to it is at each of them in turn."""
    way, features = follower().routes.route(start()), follower().built.recorded.features
    moving = np.flatnonzero(np.linalg.norm(np.diff(features[way], axis=0), axis=1) > 1e-6)  # at rest any is right
    kept = keeper(way[0])
    found = [kept.locate(features[row], vertex_of(row))[0] for row in way]
    assert [found[i + 1] for i in moving if i + 1 < len(way) - 1] == [
        way[i + 1] for i in moving if i + 1 < len(way) - 1
    ]


@given(shown=st.lists(st.integers(0, 3000), min_size=1, max_size=60))
def test_a_kept_recording_never_goes_back_nor_jumps(shown):
    """Whatever is seen, it moves on by at most the window along its way, or begins where planning anew would."""
    policy, anew = follower().policy(ActConfig(keep_path=True)), follower().policy()
    before = None
    for row in shown:
        observation = episodes().observations[row]
        entry, found = (int(each.decide(observation).entries[0]) for each in (policy, anew))
        if before is not None and entry != found:
            assert entry in follower().routes.route(before)[: WINDOW + 1]
        before = entry


def test_a_kept_recording_goes_on_by_itself_where_nothing_moves():
    way, kept = follower().routes.route(start()), keeper(start())
    here = follower().built.recorded.features[way[0]]
    places = [kept.locate(here, vertex_of(way[0]))[0] for _ in range(WAIT + 2)]
    assert places[: WAIT - 1] == [way[0]] * (WAIT - 1)
    assert way.index(places[-1]) > 0


class Anew(SimpleNamespace):
    """Routes along one straight recording of 100 rows, which are entered at row 77."""

    graph = SimpleNamespace(
        radius=1.0,
        step_length=1 / 99,
        recorded=SimpleNamespace(features=np.linspace(0, 1, 100, dtype=np.float32)[:, None]),
    )
    table = SimpleNamespace(following=np.minimum(np.arange(100) + 1, 99).astype(np.int32))

    def entry(self, feature, vertex):
        return 77


def test_a_recording_that_leads_nowhere_is_given_up():
    """Where nothing moves for long, on a straight way that is never lost, it is looked for anew."""
    kept = KeptRecording(Anew(), 0)
    places = [kept.locate(np.zeros(1, np.float32), 0)[0] for _ in range(GIVE_UP)]
    assert places[-1] == 77
    assert places[:-1] == [max(0, step + 2 - WAIT) for step in range(GIVE_UP - 1)]


def test_a_lost_episode_begins_anew():
    kept = KeptRecording(Anew(), 5)
    assert kept.locate(np.full(1, 1e3, np.float32), 0) == (77, 0)
    assert kept.waited == 0


def test_what_is_lost_is_measured_in_radii_and_in_fine_graphs_in_recorded_steps():
    assert lost_from(SimpleNamespace(radius=1.0, step_length=0.1)) == pytest.approx(4)
    assert lost_from(SimpleNamespace(radius=0.01, step_length=0.1)) == pytest.approx(0.8)


def test_another_plan_or_episode_begins_anew():
    policy, observation = follower().policy(ActConfig(keep_path=True)), episodes().observations[start()]
    first = policy.decide(observation).entries
    other = follower().plan(near(episodes().observations[9, :2], columns=(0, 1), tolerance=0.3))
    assert (policy.decide(observation, other).entries == other.policy(ActConfig()).decide(observation).entries).all()
    policy.begin()
    assert (policy.decide(observation).entries == first).all()


@pytest.mark.filterwarnings("ignore:Nothing reaches this goal")  # some recorded states were never arrived at
@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 3000), min_size=1, max_size=20), st.booleans(), st.booleans(), st.booleans())
def test_an_action_is_that_of_the_decision(shown, along, keep, named):
    """What `act` leaves out changes nothing, episode after episode, alone or in a batch."""
    config = ActConfig(subgoal_steps=3, keep_path=keep, noise=0.1)
    acting, deciding = ((follower() if along else agent()).policy(config) for _ in range(2))
    first = {"desired_goal": episodes().observations[shown[0], :2]} if named else None
    for policy in (acting, deciding):
        policy.begin(first, find_task("pointmaze-umaze").objective_of(first))
    for row in shown:
        assert (acting.act(episodes().observations[row]) == deciding.decide(episodes().observations[row]).actions).all()
    batch = episodes().observations[shown]
    assert (acting.act(batch) == deciding.decide(batch).actions).all()
