"""Flow matching as a low-level policy: its loss, its steps from noise to actions, and what it shares with others."""

import subprocess
import sys
from dataclasses import replace

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learning_cases import SMALL, assert_same_weights, untrained, walk

import vmg
from vmg.base.errors import VMGError
from vmg.data.episodes import Episodes
from vmg.learn import Training, fit, fit_together, streaming
from vmg.learn.models import AgentModel
from vmg.networks.lowlevel import Batch, Flow
from vmg.networks.lowlevel.translator import seen
from vmg.networks.mlp import initial_layers, mlp

FLOW = replace(SMALL, low_level=Flow(inputs="relative"))
BOTH = vmg.AgentConfig(learn=FLOW, graph=vmg.GraphConfig(radius=0.5))


def velocity(weights, o_t, goal, x, time):
    """The field as it is written down, one row after another."""
    rows = zip(seen(weights, o_t, goal), x, time, strict=True)
    return np.stack([mlp(weights["translator"], np.concatenate([both, at, [when]])) for both, at, when in rows])


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_the_loss_equals_a_twin_in_numpy(noise):
    episodes, n, key = walk(0), 20, jax.random.key(4)
    config = replace(FLOW, low_level=replace(FLOW.low_level, noise=noise))
    weights, low_level = untrained(episodes, config), config.low_level
    o_t, goal, a_t = episodes.observations[:n], episodes.observations[3 : n + 3], episodes.actions[:n]
    loss, _ = low_level.loss(weights, Batch(o_t, a_t, None, None, goal, None, key), low_level.numbers())
    if noise:
        moved = noise * weights["translator_input"]["step"] * np.asarray(jax.random.normal(key, o_t.shape))
        o_t, goal = o_t + moved, goal + moved
    x_key, time_key = jax.random.split(jax.random.fold_in(key, 1))
    x_0 = np.asarray(jax.random.normal(x_key, a_t.shape))
    time = np.asarray(jax.random.uniform(time_key, (n, 1)))[:, 0]
    x = (1 - time[:, None]) * x_0 + time[:, None] * a_t
    errors = velocity(weights, o_t, goal, x, time) - (a_t - x_0)
    assert float(loss) == pytest.approx(np.mean(np.sum(errors**2, axis=1)), rel=1e-4)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**31), rows=st.integers(1, 5), steps=st.integers(1, 9), zero=st.booleans())
def test_it_acts_as_the_field_carries_noise(seed, rows, steps, zero):
    rng, episodes = np.random.default_rng(seed), walk(0)
    flow = Flow(euler_steps=steps, start="zero" if zero else "drawn", columns=(1, 0))
    weights = {**flow.scalings(episodes), "translator": initial_layers(rng, (4 + 2 + 1, 16, 16, 2))}
    o_t, goal = episodes.observations[:rows], episodes.observations[-rows:]
    before = o_t.copy(), goal.copy()
    act = flow.actor(weights)
    act.draw_from(np.random.default_rng(seed))
    found = act(o_t, goal)
    x = np.zeros((rows, 2)) if zero else np.random.default_rng(seed).standard_normal((rows, 2), np.float32)
    for k in range(steps):
        x = x + velocity(weights, o_t, goal, x, np.full(rows, k / steps)) / steps
    np.testing.assert_allclose(found, x, rtol=1e-4, atol=1e-5)
    assert found.dtype == np.float32
    assert np.array_equal(before, (o_t, goal))


def two_ways(n_episodes=60, length=6):
    """In every step the action is to the one side or to the other, whatever is seen."""
    rng, episodes = np.random.default_rng(0), []
    for _ in range(n_episodes):
        sides = rng.choice([-1.0, 1.0], (length, 1))
        observations = np.concatenate([np.full((length + 1, 1), 7.0), rng.normal(size=(length + 1, 1))], axis=1)
        episodes.append((observations, sides, np.zeros(length), False, True))
    return Episodes.from_list(episodes, source="two ways")


def test_it_draws_one_of_two_ways_and_not_their_mean():
    episodes = two_ways()
    config = replace(SMALL, hidden_units=32, batch_size=50, steps=1000, checkpoint_every=1000, learning_rate=3e-3)
    (weights,) = fit(episodes, replace(config, low_level=Flow(memory=200)))
    o_t = episodes.observations[:200]
    drawn, between = (Flow(start=start).actor(weights)(o_t, o_t) for start in ("drawn", "zero"))
    assert np.mean(np.abs(np.abs(drawn) - 1) < 0.35) > 0.8
    assert 0.3 < np.mean(drawn > 0) < 0.7
    assert np.abs(between).mean() < np.abs(drawn).mean()


def test_flows_that_differ_learn_together_from_batches_that_are_sent_as_alone(monkeypatch):
    sets, kinds = [walk(0), walk(1)], [Flow(), Flow(decay_rate=0.1, euler_steps=3, start="zero", goal_horizon=4)]
    configs = [replace(FLOW, low_level=each) for each in kinds]
    alone = [fit(episodes, config) for episodes, config in zip(sets, configs, strict=True)]
    monkeypatch.setenv(streaming.LIMIT, "0")
    together = fit_together([Training(episodes) for episodes in sets], configs)
    for models, expected in zip(together, alone, strict=True):
        assert_same_weights(models, expected)


def test_wide_and_narrow_flows_take_loops_of_their_own():
    """What is drawn depends on how wide an action is."""
    assert AgentModel(SMALL).widens
    assert not AgentModel(FLOW).widens


@pytest.fixture(scope="module")
def agent(tmp_path_factory):
    folder = tmp_path_factory.mktemp("flow")
    (learned,) = vmg.Agent.fit(walk(0), BOTH)
    solved = learned.build(walk(0)).solve()
    solved.save(folder)
    return solved, folder


def test_an_episode_that_is_run_again_is_the_same(agent):
    policy, states = agent[0].policy(), walk(0).observations[:6]

    def episode(first):
        policy.begin(first)
        return np.stack([policy.act(state) for state in states])

    one = episode(states[0])
    assert np.array_equal(episode(states[0]), one)
    assert not np.array_equal(episode(states[1]), one)


def test_a_loaded_one_acts_the_same_in_another_process_without_jax(agent):
    one, folder = agent
    assert vmg.Agent.load(folder).config == one.config
    script = f"""
import sys, numpy as np, vmg
policy = vmg.Agent.load({str(folder)!r}).policy()
state = np.array([0.5, -0.5, 7.0], np.float32)
policy.begin(state)
print([float(x) for x in policy.act(state)], "jax" in sys.modules)
"""
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()
    policy, state = one.policy(), np.array([0.5, -0.5, 7.0], np.float32)
    policy.begin(state)
    assert said == f"{[float(x) for x in policy.act(state)]} False"


def test_a_folder_of_a_translator_is_not_one_of_a_flow(agent, tmp_path):
    one, _ = agent
    wrong = untrained(walk(0), SMALL)
    vmg.Agent(one.config, one.data, 0, wrong).save(tmp_path)
    with pytest.raises(VMGError, match=r"does not hold a model that fits together: translator\.w0 is float32"):
        vmg.Agent.load(tmp_path)


def test_a_squashed_flow_is_refused():
    with pytest.raises(VMGError, match="squashed must be False for a flow, not True"):
        Flow(squashed=True)
