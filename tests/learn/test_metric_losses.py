import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learning_cases import untrained, walk

from vmg.learn import LearnConfig
from vmg.learn.metric import action_loss, contrastive_loss, length_penalty, metric_loss
from vmg.learn.models import AgentModel
from vmg.networks import encode
from vmg.networks.lowlevel import Batch
from vmg.networks.mlp import mlp

PREDICTED, NEXT = jnp.array([[0.0, 0.0], [0.5, 0.0]]), jnp.array([[0.0, 0.5], [1.0, 0.0]])
DELTA = jnp.array([[3.0, 4.0], [0.0, 0.0]])
DECODED, ACTION = jnp.array([[1.0], [0.0]]), jnp.array([[0.0], [2.0]])


@pytest.mark.parametrize(("margin", "repulsion"), [(1.0, 0.25), (2.0, 1.25)])
def test_contrastive_loss_by_hand(margin, repulsion):
    # own D² 0.25 and 0.25; D² to the other's next state 1 and 0.5
    loss, info = contrastive_loss(PREDICTED, NEXT, margin=margin)
    assert float(info["attraction"]) == 0.25
    assert float(info["repulsion"]) == repulsion
    assert float(loss) == float(info["contrastive"]) == 0.25 + repulsion


@pytest.mark.parametrize(("squared", "length"), [(False, 2.0), (True, 12.0)])
def test_action_loss_by_hand(squared, length):
    # lengths 5 and 0: (5 − 1)/2, or (25 − 1)/2; D² of the actions 1 and 4
    loss, info = action_loss(DELTA, DECODED, ACTION, margin=1.0, squared_length=squared)
    assert float(info["length"]) == length
    assert float(info["reconstruction"]) == 2.5
    assert float(loss) == float(info["action"]) == length + 2.5


def test_without_action_decoder_only_the_length_counts():
    loss, info = action_loss(DELTA, DECODED, ACTION, margin=1.0, squared_length=False, reconstruct=0.0)
    assert float(loss) == float(info["action"]) == 2.0


def test_length_penalty_has_a_finite_gradient_at_zero():
    gradient = jax.grad(lambda delta: length_penalty(delta, margin=1.0).sum())(DELTA)
    np.testing.assert_allclose(gradient, [[0.6, 0.8], [0.0, 0.0]], rtol=1e-6)


@settings(deadline=None, max_examples=20)
@given(
    seed=st.integers(0, 2**31),
    n=st.sampled_from([2, 5]),
    margin=st.floats(0.1, 3.0),
    form=st.fixed_dictionaries(
        {
            "margins": st.sampled_from(["paper", "program"]),
            "decoder_output": st.sampled_from(["plain", "sampled"]),
            "action_errors": st.sampled_from(["summed", "averaged"]),
            "contrastive": st.booleans(),
            "action_decoder": st.booleans(),
        }
    ),
)
def test_metric_loss_equals_the_slow_twin(seed, n, margin, form):
    config = LearnConfig(hidden_units=8, metric_dimension=3, margin=margin, encoder_inputs="normalised", **form)
    episodes = walk(seed % 100)
    weights = untrained(episodes, config, seed)
    rng = np.random.default_rng(seed)
    o_t, a_t, o_tp1 = (rng.normal(0, 3, (n, size)).astype(np.float32) for size in (3, 2, 3))
    noise = rng.normal(size=a_t.shape).astype(np.float32) if config.decoder_output == "sampled" else None
    batch = Batch(jnp.asarray(o_t), jnp.asarray(a_t), None, jnp.asarray(o_tp1), None, None, None)
    loss, info = metric_loss(weights, batch, AgentModel(config).numbers(), config, noise)
    expected = slow_metric_loss(weights, o_t, a_t, o_tp1, config, noise)
    np.testing.assert_allclose(float(loss), sum(expected.values()), rtol=1e-4)
    np.testing.assert_allclose([float(info[name]) for name in expected], list(expected.values()), rtol=1e-4, atol=1e-6)


def slow_metric_loss(weights, o_t, a_t, o_tp1, config, noise=None):
    """L_c and L_a as the equations read, one row and one negative at a time, in float64."""
    weights = jax.tree.map(lambda array: np.asarray(array, np.float64), weights)
    program, m, n = config.margins == "program", config.margin, len(o_t)
    l_c, l_a = 0.0, 0.0
    f_tp1 = [encode(weights, o[None].astype(np.float64))[0] for o in o_tp1]
    for i in range(n):
        f = encode(weights, o_t[i : i + 1].astype(np.float64))[0]
        delta = mlp(weights["action_encoder"], np.concatenate([f, a_t[i]]))
        l_c += sum((f + delta - f_tp1[i]) ** 2) / n
        for j in range(n):
            if j != i:
                squared = sum((f + delta - f_tp1[j]) ** 2)
                l_c += max((2 * m if program else m) - squared, 0) / (n - 1) / n
        length = np.sqrt(sum(delta**2))
        l_a += max((length**2 if program else length) - m, 0) / n
        if config.action_decoder:
            decoded = mlp(weights["action_decoder"], np.concatenate([f, delta]))
            if noise is not None:
                spread = np.exp(np.clip(mlp(weights["action_spread"], np.concatenate([f, delta])), -20, 2))
                decoded = np.tanh(decoded + spread * noise[i])
            share = 1 / a_t.shape[1] if config.action_errors == "averaged" else 1
            l_a += share * sum((decoded - a_t[i]) ** 2) / n
    return {"contrastive": l_c, "action": l_a} if config.contrastive else {"action": l_a}
