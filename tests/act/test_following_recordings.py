"""A policy that follows recordings: it heads for recorded observations, and an episode run again is the same."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from acting_cases import agent, episodes

from vmg.act.policy import Policy
from vmg.act.retask import explain, want
from vmg.agent import Agent
from vmg.config import ActConfig, SolveConfig
from vmg.errors import VMGError
from vmg.files import read_npz, write_npz
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


def test_new_tasks_follow_recordings_too():
    place = episodes().observations[-1, :2]
    prospect = want(follower(), episodes(), near(place, columns=(0, 1), tolerance=0.3))
    explanation = explain(follower(), prospect, episodes().observations[0])
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


def test_what_does_not_go_together_is_said():
    with pytest.raises(VMGError, match="keep_path or paths='recordings'"):
        Policy(follower(), ActConfig(keep_path=True))
    with pytest.raises(VMGError, match="noise must be at least 0"):
        ActConfig(noise=-1.0)
