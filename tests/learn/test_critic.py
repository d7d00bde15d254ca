"""A translator that learns with a critic: its losses, what is kept of it, and that faster actions count more."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from learning_cases import SMALL, assert_same_weights, rows_of, untrained, walk

import vmg
from vmg.base.errors import VMGError
from vmg.data.episodes import Episodes
from vmg.learn import Training, fit_together, load_checkpoint, streaming
from vmg.learn.judging import losses_on
from vmg.networks import Critic, translate
from vmg.networks.lowlevel import Batch
from vmg.networks.lowlevel.translator import seen
from vmg.networks.mlp import mlp
from vmg.networks.weights import read_tensors

CRITIC = replace(
    SMALL,
    hidden_units=32,
    batch_size=32,
    learning_rate=5e-3,
    steps=1000,
    checkpoint_every=1000,
    low_level=Critic(inputs="raw relative", expectile=0.8, sharpness=4.0, cloning=0.1),
)


def twin(weights, batch, critic):
    """The losses as they are written down, one row after another."""
    actor = value = action = 0.0
    for o, a, after, goal, steps in zip(batch.o_t, batch.a_t, batch.o_tp1, batch.goal, batch.goal_steps, strict=True):
        here, there = (seen(weights, each, goal) for each in (o, after))
        q = mlp(weights["action_value"], np.concatenate([here, a]))[0]
        v, later = (mlp(weights["state_value"], each)[0] for each in (here, there))
        y = -1 if steps == 1 else -1 + 0.99 * min(later, 0)
        action += (q - y) ** 2
        value += (critic.expectile if q >= v else 1 - critic.expectile) * (q - v) ** 2
        heavier = min(np.exp(min(critic.sharpness * (q - v), 10)), 100) + critic.cloning
        actor += heavier * np.sum((translate(weights, o, goal) - a) ** 2)
    return np.array([actor, action + value]) / len(batch.o_t)


@pytest.mark.parametrize("inputs", ["raw", "raw relative"])
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_the_losses_equal_a_twin_in_numpy(inputs, scale):
    """At the larger scale values differ by so much that the heaviest actions are cut."""
    episodes, rng = walk(0), np.random.default_rng(1)
    config = replace(CRITIC, low_level=replace(CRITIC.low_level, inputs=inputs))
    weights, critic = untrained(episodes, config), config.low_level
    for name in critic.learning_only:
        weights[name] = {leaf: scale * array for leaf, array in weights[name].items()}
    step = rng.integers(0, episodes.n_steps, 20)
    row, ahead = episodes.step_observation[step], rng.integers(1, episodes.steps_left[step] + 1)
    observations = episodes.observations
    batch = Batch(
        observations[row], episodes.actions[step], None, observations[row + 1], observations[row + ahead], ahead, None
    )
    loss, terms = critic.loss(weights, batch, critic.numbers())
    expected = twin(weights, batch, critic)
    assert [float(terms[name]) for name in ("weighted", "critic")] == pytest.approx(expected, rel=1e-3)
    assert float(loss) == pytest.approx(expected.sum(), rel=1e-3)
    errors = np.sum((translate(weights, batch.o_t, batch.goal) - batch.a_t) ** 2, axis=1)
    assert float(terms["actor"]) == pytest.approx(errors.mean(), rel=1e-4)


def strides(seed):
    """Points on a line that all go the same way, half of them in long strides and half in short ones."""
    rng, episodes = np.random.default_rng(seed), []
    for stride in (1.0, 0.25) * 20:
        actions = np.full((16, 1), stride)
        places = rng.uniform(0, 4) + np.concatenate([[[0.0]], actions]).cumsum(0)
        episodes.append((places, actions, np.zeros(16), False, True))
    return Episodes.from_list(episodes, source="strides")


@pytest.fixture(scope="module")
def agent(tmp_path_factory):
    folder = tmp_path_factory.mktemp("critic")
    config = vmg.AgentConfig(learn=CRITIC, graph=vmg.GraphConfig(radius=0.5))
    (learned,) = vmg.Agent.fit(strides(0), config, validation=strides(1), folder=folder)
    solved = learned.build(strides(0)).solve()
    solved.save(folder)
    return solved, folder


def test_it_learns_the_longer_strides(agent):
    """The mean of the strides that lead on by 1, which a translator learns, is 0.6."""
    here = np.linspace(5, 9, 50, dtype=np.float32)[:, None]
    assert translate(agent[0].weights, here, here + 1).mean() > 0.8


def test_the_actor_alone_is_kept_and_acts_without_jax(agent):
    one, folder = agent
    assert one.weights.keys() == untrained(strides(0), SMALL).keys()
    loaded = vmg.Agent.load(folder)
    assert loaded.config == one.config
    assert_same_weights([loaded.weights], [one.weights])
    last = load_checkpoint(folder / "checkpoints" / "step_0000001000.safetensors", CRITIC.low_level)
    assert_same_weights([last[0]], [one.weights])
    script = f"""
import sys, numpy as np, vmg
policy = vmg.Agent.load({str(folder)!r}).policy()
print([float(x) for x in policy.act(np.array([5.0], np.float32))], "jax" in sys.modules)
"""
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()
    assert said == f"{[float(x) for x in one.policy().act(np.array([5.0], np.float32))]} False"


def test_beside_another_and_from_batches_that_are_sent_it_learns_the_same(agent, monkeypatch):
    other = replace(CRITIC, low_level=Critic(expectile=0.9, sharpness=3.0, cloning=0.0, goal_horizon=4))
    monkeypatch.setenv(streaming.LIMIT, "0")
    models, others = fit_together([Training(strides(0)), Training(strides(1))], [CRITIC, other])
    assert_same_weights(models, [agent[0].weights])
    assert not np.allclose(others[0]["translator"]["w0"], models[0]["translator"]["w0"])


def test_a_killed_run_goes_on_with_its_critic(agent):
    tensors, _ = read_tensors(agent[1] / "training_state.safetensors")
    assert {"weights.state_value.w0", "mu.action_value.w2", "weights.translator.b0"} <= tensors.keys()


def test_it_is_judged_by_its_actors_error_with_the_critic_and_without(agent):
    one, folder = agent
    logged = rows_of(folder)[-1]
    (found,) = losses_on(one.weights, CRITIC, strides(1))
    assert found["actor"] == pytest.approx(float(logged["validation_actor"]), rel=1e-3)
    assert "critic" in logged
    assert "critic" not in found


def test_a_lead_is_refused():
    with pytest.raises(VMGError, match=r"lead must be 0 with a critic, not 2"):
        Critic(lead=2)
