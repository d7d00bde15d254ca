"""A policy that follows recordings: it heads for recorded observations, and an episode run again is the same."""

from dataclasses import replace
from functools import lru_cache
from types import SimpleNamespace

import numpy as np
import pytest
from acting_cases import agent, episodes
from hypothesis import given, settings
from hypothesis import strategies as st

from vmg.act.keeping import GIVE_UP, WAIT, WINDOW, KeptRecording
from vmg.act.policy import Policy
from vmg.act.retask import want
from vmg.agent import Agent
from vmg.config import ActConfig, SolveConfig
from vmg.errors import VMGError
from vmg.files import read_npz, write_npz
from vmg.graph import Solution
from vmg.networks import embed, translate
from vmg.wishes import near


@lru_cache
def follower(noise: float = 0.0) -> Agent:
    config = agent().config
    config = replace(
        config,
        graph=replace(config.graph, recordings=True),
        solve=SolveConfig(paths="recordings", ties="nearest"),
        act=ActConfig(subgoal_steps=4, noise=noise),
    )
    return replace(agent(), config=config).build(episodes()).solve(episodes())


def test_decisions_equal_a_slow_twin():
    """Enter where gap and way cost least, follow the table, translate the observation found there."""
    graph, solution = follower().built, follower().solved
    decisions = Policy(follower()).decide(episodes().observations[::97])
    price = follower().config.solve.switch_cost / graph.step_length
    for i, observation in enumerate(episodes().observations[::97]):
        feature = embed(follower().weights, observation[None])[0]
        costs = price * np.linalg.norm(graph.recorded.features - feature, axis=1) + solution.to_go
        costs[graph.labels != decisions.vertices[i]] = np.inf
        entry = decisions.entries[i]
        assert costs[entry - graph.n_vertices] == pytest.approx(costs.min(), abs=1e-3)
        for _ in range(follower().config.act.subgoal_steps):
            entry = solution.hops[entry]
        assert decisions.subgoals[i] == graph.labels[entry - graph.n_vertices]
        goal = episodes().observations[entry - graph.n_vertices]
        action = translate(follower().weights, observation[None], goal[None])[0]
        low, high = follower().data.action_low, follower().data.action_high
        np.testing.assert_allclose(decisions.actions[i], np.clip(action, low, high), atol=1e-5)
        path = decisions[i].path
        assert path[0] == decisions.vertices[i]
        assert path[-1] == solution.targets[path[-1]]


def test_a_batch_decides_as_one_by_one():
    observations = episodes().observations[::211]
    policy = Policy(follower())
    np.testing.assert_allclose(policy.act(observations), [policy.act(each) for each in observations], atol=1e-6)


def test_a_saved_follower_acts_the_same(tmp_path):
    follower().save(tmp_path)
    observations = episodes().observations[::50]
    assert (Policy(Agent.load(tmp_path)).act(observations) == Policy(follower()).act(observations)).all()


def test_a_damaged_recording_is_named(tmp_path):
    follower().save(tmp_path)
    arrays = read_npz(tmp_path / "graph.npz")
    write_npz(tmp_path / "graph.npz", arrays | {"recorded_features": arrays["recorded_features"][1:]})
    with pytest.raises(VMGError, match="is damaged"):
        Agent.load(tmp_path)


def test_a_solution_along_recordings_needs_its_recordings(tmp_path):
    follower().save(tmp_path)
    arrays = read_npz(tmp_path / "graph.npz")
    write_npz(tmp_path / "graph.npz", {name: a for name, a in arrays.items() if not name.startswith("recorded_")})
    with pytest.raises(VMGError, match="does not fit the graph"):
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
def test_damaged_ways_along_recordings_are_answered_with_a_sentence(tmp_path, spoil):
    follower().save(tmp_path)
    write_npz(tmp_path / "solution.npz", spoil(read_npz(tmp_path / "solution.npz")))
    with pytest.raises(VMGError, match="does not fit the graph"):
        Agent.load(tmp_path)


def test_ways_kept_as_an_earlier_version_did_are_left_out_with_a_sentence(tmp_path):
    follower().save(tmp_path)
    solution = follower().solved
    arrays = {name: getattr(solution, name) for name in ("values", "targets", "hops", "passed", "to_go")}
    write_npz(tmp_path / "solution.npz", arrays)
    with pytest.warns(UserWarning, match=r"solve the graph again \(`vmg solve`\)"):
        loaded = Agent.load(tmp_path)
    observations = episodes().observations[::50]
    assert (Policy(loaded.solve(episodes())).act(observations) == Policy(follower()).act(observations)).all()


def test_new_tasks_follow_recordings_too():
    place = episodes().observations[-1, :2]
    prospect = want(follower(), episodes(), near(place, columns=(0, 1), tolerance=0.3))
    explanation = prospect.explain(episodes().observations[0])
    assert explanation.possible
    assert explanation.path[-1] == prospect.solution.targets[explanation.path[0]]


def test_noise_is_the_same_whenever_an_episode_is_run_again():
    observations = episodes().observations[:20]
    actions = []
    for first in (0, 0, 1):
        policy = Policy(follower(noise=0.1))
        policy.begin({"observation": observations[first]})
        actions.append(np.array([policy.act(each) for each in observations]))
    assert (actions[0] == actions[1]).all()
    assert not np.allclose(actions[0], actions[2])
    assert not np.allclose(actions[0], Policy(follower()).act(observations))


def test_noise_takes_any_observation_an_environment_may_give():
    for observation in (None, [0.1, 0.2], {"x": 1.5, "y": (2, [3.0])}):
        Policy(follower(noise=0.1)).begin(observation)


def start() -> int:
    """The entry of a recorded observation with a long way before it."""
    solution, n = follower().solved, follower().built.n_vertices
    return n + max(range(0, len(episodes().observations), 7), key=lambda row: len(solution.way_from(n + row)))


def recorded(entry: int) -> np.ndarray:
    return episodes().observations[entry - follower().built.n_vertices]


def moved(kept: KeptRecording, feature, found, solution, graph) -> int:
    """Where an episode is after a step: on along its recording or, where there is nothing to keep to, at `found`."""
    if not kept.move(feature, solution, graph):
        kept.begin(found, solution)
    return kept.entry


def test_a_kept_recording_is_followed_to_its_end():
    """Shown the way itself, entry by entry, a policy that keeps to it is at each of them in turn."""
    way = follower().solved.way_from(start())
    policy = Policy(follower(), ActConfig(keep_path=True))
    policy._kept_recordings[0] = KeptRecording(follower().solved, way[0])
    features = follower().built.recorded.features[np.array(way) - follower().built.n_vertices]
    moving = np.flatnonzero(np.linalg.norm(np.diff(features, axis=0), axis=1) > 1e-6)  # at rest any of them is right
    found = [int(policy.decide(recorded(entry)).entries[0]) for entry in way]
    assert [found[i + 1] for i in moving if i + 1 < len(way) - 1] == [
        way[i + 1] for i in moving if i + 1 < len(way) - 1
    ]


@given(shown=st.lists(st.integers(0, 3000), min_size=1, max_size=60))
def test_a_kept_recording_never_goes_back_nor_jumps(shown):
    """Whatever is seen, it moves on by at most the window along its way, or begins where planning anew would."""
    policy, anew = Policy(follower(), ActConfig(keep_path=True)), Policy(follower())
    before = None
    for row in shown:
        observation = episodes().observations[row]
        entry, found = (int(each.decide(observation).entries[0]) for each in (policy, anew))
        if before is not None and entry != found:
            assert entry in follower().solved.way_from(before)[: WINDOW + 1]
        before = entry


def test_a_kept_recording_goes_on_by_itself_where_nothing_moves():
    way, kept = follower().solved.way_from(start()), KeptRecording(follower().solved, start())
    here = follower().built.recorded.features[way[0] - follower().built.n_vertices]
    places = [moved(kept, here, way[0], follower().solved, follower().built) for _ in range(WAIT + 2)]
    assert places[: WAIT - 1] == [way[0]] * (WAIT - 1)
    assert way.index(places[-1]) > 0


def test_a_recording_that_leads_nowhere_is_given_up():
    """Where nothing moves for long, on a straight way that is never lost, it is looked for anew."""
    n = 100
    hops = np.minimum(np.arange(n) + 1, n - 1).astype(np.int32)
    line = np.linspace(0, 1, n, dtype=np.float32)[:, None]
    solution = Solution(np.zeros(n), hops, hops, np.zeros(0, np.int32))
    graph = SimpleNamespace(n_vertices=0, radius=1.0, recorded=SimpleNamespace(features=line))
    kept = KeptRecording(solution, 0)
    places = [moved(kept, line[0], 77, solution, graph) for _ in range(GIVE_UP)]
    assert places[-1] == 77
    assert places[:-1] == [max(0, step + 2 - WAIT) for step in range(GIVE_UP - 1)]


def test_a_lost_episode_begins_anew():
    kept = KeptRecording(follower().solved, start())
    far = follower().built.recorded.features[0] + 1e3
    assert moved(kept, far, 7, follower().solved, follower().built) == 7


def test_another_solution_or_episode_begins_anew():
    policy, observation = Policy(follower(), ActConfig(keep_path=True)), recorded(start())
    first = policy.decide(observation).entries
    other = want(follower(), episodes(), near(episodes().observations[9, :2], columns=(0, 1), tolerance=0.3)).solution
    assert (policy.decide(observation, other).entries == Policy(follower()).decide(observation, other).entries).all()
    policy.begin()
    assert (policy.decide(observation).entries == first).all()


def test_noise_below_zero_is_refused():
    with pytest.raises(VMGError, match="noise must be at least 0"):
        ActConfig(noise=-1.0)


@pytest.mark.filterwarnings("ignore:Nothing reaches this goal")  # some recorded states were never arrived at
@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 3000), min_size=1, max_size=20), st.booleans(), st.booleans(), st.booleans())
def test_an_action_is_that_of_the_decision(shown, along, keep, named):
    """What `act` leaves out changes nothing, episode after episode, alone or in a batch."""
    config = ActConfig(subgoal_steps=3, keep_path=keep, noise=0.1)
    acting, deciding = (Policy(follower() if along else agent(), config) for _ in range(2))
    first = {"desired_goal": episodes().observations[shown[0], :2]} if named else None
    for policy in (acting, deciding):
        policy.begin(first)
    for row in shown:
        assert (acting.act(episodes().observations[row]) == deciding.decide(episodes().observations[row]).actions).all()
    batch = episodes().observations[shown]
    assert (acting.act(batch) == deciding.decide(batch).actions).all()
