"""The action translator's goals and loss (section 3.4)."""

import jax
import jax.numpy as jnp

from vmg.learn.metric import Loss, Number, squared_distance
from vmg.networks import Weights, translate


def sample_goals(key: jax.Array, row_t: jax.Array, left_t: jax.Array, *, horizon: Number) -> jax.Array:
    """Rows of o_{t+k}, k uniform in 1..horizon; o_{t+1} where t+k lies past the episode's end.

    `row_t` is the row of o_t, `left_t` how many observations of its episode follow it.
    """
    assert row_t.shape == left_t.shape
    k = jax.random.randint(key, row_t.shape, 1, horizon + 1, jnp.int32)
    return row_t + jnp.where(k <= left_t, k, 1)


def translator_loss(weights: Weights, o_t: jax.Array, a_t: jax.Array, o_tpk: jax.Array) -> Loss:
    """L_Tran = D²(Tran(s_t, s_{t+k}), a_t)."""
    loss = jnp.mean(squared_distance(translate(weights, o_t, o_tpk), a_t))
    return loss, {"translator": loss}
