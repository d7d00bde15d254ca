"""Several translators in one: each learns as alone, they act by their mean, and know when they disagree."""

from dataclasses import replace

import jax
import numpy as np
import pytest
from learning_cases import SMALL, assert_same_weights, rows_of, untrained, walk

import vmg
from vmg.base.errors import VMGError
from vmg.learn import fit, load_checkpoint
from vmg.networks.lowlevel import Batch, Ensemble, Translator
from vmg.networks.lowlevel.ensemble import LEVEL, USUAL

THREE = Ensemble(members=3, memory=20, decay_rate=0.1)
ENSEMBLE = replace(SMALL, low_level=THREE)


@pytest.fixture(scope="module")
def agent(tmp_path_factory):
    """Learned with episodes held out, built, solved and saved."""
    folder = tmp_path_factory.mktemp("ensemble")
    config = vmg.AgentConfig(
        learn=ENSEMBLE, graph=vmg.GraphConfig(radius=0.05), act=vmg.ActConfig(subgoal_steps=4, paid_states=False)
    )
    (learned,) = vmg.Agent.fit(walk(0), config, validation=walk(1), folder=folder)
    solved = learned.build(walk(0)).solve()
    solved.save(folder)
    return solved, folder


def members(weights):
    """What each translator gives for observations and goals, learned by itself."""
    names = ("translator", "translator_1", "translator_2")
    return [Translator().actor({**weights, "translator": weights[name]}) for name in names]


def test_the_first_member_is_the_translator_that_learns_alone_and_the_others_are_not(agent):
    weights = agent[0].weights
    (alone,) = fit(walk(0), replace(SMALL, low_level=Translator(memory=20, decay_rate=0.1)))
    same = {name: weights[name] for name in alone}
    assert_same_weights([same], [alone], rtol=1e-3, atol=1e-5)
    assert not np.allclose(weights["translator_1"]["w0"], weights["translator"]["w0"])
    assert not np.allclose(weights["translator_1"]["w0"], weights["translator_2"]["w0"])


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_the_loss_is_the_sum_of_its_members_and_tells_how_far_they_lie_apart(noise):
    episodes, n, key = walk(0), 20, jax.random.key(4)
    low_level = replace(THREE, noise=noise)
    weights = untrained(episodes, replace(SMALL, low_level=low_level))
    o_t, goal, a_t = episodes.observations[:n], episodes.observations[3 : n + 3], episodes.actions[:n]
    batch = Batch(o_t, a_t, None, None, goal, None, key)
    loss, info = low_level.loss(weights, batch, low_level.numbers())
    single = Translator(noise=noise)
    alone = [single.loss({**weights, "translator": weights[name]}, batch, single.numbers())[0] for name in
             ("translator", "translator_1", "translator_2")]  # fmt: skip
    assert float(loss) == pytest.approx(float(sum(alone)), rel=1e-4)
    assert float(info["translator"]) == pytest.approx(float(sum(alone)) / 3, rel=1e-4)
    if not noise:
        actions = np.stack([act(o_t, goal) for act in members(weights)])
        assert float(info["disagreement"]) == pytest.approx(np.sqrt(actions.var(0).mean(-1)).mean(), rel=1e-4)


def test_it_acts_by_the_mean_and_is_rarely_unsure_where_it_was_measured_but_mostly_far_away(agent):
    weights, held_out = agent[0].weights, walk(1)
    act, rows = THREE.actor(weights), held_out.step_observation
    here, there = held_out.observations[rows], held_out.observations[rows + 1]
    np.testing.assert_allclose(act(here, there), np.mean([one(here, there) for one in members(weights)], 0), atol=1e-6)
    assert act.unsure(here, there).mean() < 3 * (1 - USUAL)
    far = np.array([30.0, -30.0, 0.0], np.float32)
    assert act.unsure(here + far, there + far).mean() > 0.9


def test_what_is_usual_is_measured_on_the_episodes_held_out(agent):
    weights = agent[0].weights
    here, other = (THREE.measured(weights, episodes)[LEVEL]["disagreement"] for episodes in (walk(1), walk(0)))
    assert weights[LEVEL]["disagreement"] == here != other


def subgoals(agent, level, steps):
    weights = {**agent.weights, LEVEL: {"disagreement": np.float32(level)}}
    acting = replace(agent.config.act, subgoal_steps=steps)
    changed = replace(agent, weights=weights, config=replace(agent.config, act=acting))
    return changed.policy().decide(walk(0).observations).subgoals


def test_where_it_is_unsure_the_subgoal_is_nearer(agent):
    one, never, always = agent[0], 1e9, -1.0
    far, near = subgoals(one, never, 4), subgoals(one, never, 1)
    assert not np.array_equal(far, near)
    assert np.array_equal(subgoals(one, always, 4), near)
    between = subgoals(one, one.weights[LEVEL]["disagreement"], 4)
    nearer = between != far
    assert nearer.any()
    assert not nearer.all()
    halved = subgoals(one, never, 2)
    assert ((between == far) | (between == halved) | (between == near)).all()


def test_a_single_member_is_never_unsure_and_acts_as_the_translator():
    episodes, single = walk(0), Ensemble(members=1)
    weights = untrained(episodes, replace(SMALL, low_level=single))
    weights = single.measured(weights, episodes)
    here, there = episodes.observations[:-1], episodes.observations[1:]
    assert np.array_equal(single.actor(weights)(here, there), Translator().actor(weights)(here, there))
    assert not single.actor(weights).unsure(100 * here, there).any()


def test_it_is_saved_and_loaded_with_what_was_measured(agent):
    one, folder = agent
    loaded = vmg.Agent.load(folder)
    assert loaded.config == one.config
    assert_same_weights([loaded.weights], [one.weights])
    assert_same_weights(
        [load_checkpoint(folder / "checkpoints" / "step_0000000120.safetensors", THREE)[0]], [one.weights]
    )
    states = walk(0).observations[::5]
    assert np.array_equal(loaded.policy().act(states), one.policy().act(states))
    assert {"translator", "disagreement", "validation_disagreement"} <= rows_of(folder)[0].keys()


def test_a_folder_without_a_member_is_refused(agent, tmp_path):
    one, _ = agent
    weights = {name: part for name, part in one.weights.items() if name != "translator_2"}
    vmg.Agent(one.config, one.data, 0, weights).save(tmp_path)
    with pytest.raises(VMGError, match=r"the tensor translator_2\.w0 is missing"):
        vmg.Agent.load(tmp_path)
