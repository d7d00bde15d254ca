"""The metric space's losses (section 3.1, eq. 1-3).

    s ──Enc_s──▶ f ──+ Δf──▶ f̃'        Δf = Enc_a(f, a); f̃' close to f' = Enc_s(s'), away from the other next states
                 f, Δf ──Dec_a──▶ ã    close to a

D² is the squared L2 distance: the sum over dimensions, not their mean. Every loss is a mean over the batch and comes
with its terms, by name.
"""

from typing import TypeAlias

import jax
import jax.numpy as jnp

from vmg.learn.config import LearnConfig
from vmg.networks.encoder import encode
from vmg.networks.lowlevel import Batch, Number, Numbers
from vmg.networks.mlp import mlp
from vmg.networks.weights import Weights

Loss: TypeAlias = tuple[jax.Array, dict[str, jax.Array]]


def metric_loss(
    weights: Weights, batch: Batch, numbers: Numbers, config: LearnConfig, noise: jax.Array | None = None
) -> Loss:
    """L_metric = L_c + L_a (eq. 3), less what an ablation drops; in the form that the configuration names.

    `noise`: for a decoder that samples, one standard normal number for each of an action's.
    """
    f_t, f_tp1 = jnp.split(encode(weights, jnp.concatenate([batch.o_t, batch.o_tp1])), 2)  # one product for both
    delta_t = mlp(weights["action_encoder"], jnp.concatenate([f_t, batch.a_t], axis=-1))
    transition = jnp.concatenate([f_t, delta_t], axis=-1)
    decoded_a_t = mlp(weights["action_decoder"], transition)
    if noise is not None:
        decoded_a_t = sampled_action(decoded_a_t, mlp(weights["action_spread"], transition), noise)
    margin, program = numbers["margin"], config.margins == "program"
    l_c, info_c = contrastive_loss(f_t + delta_t, f_tp1, margin=2 * margin if program else margin)
    l_a, info_a = action_loss(
        delta_t,
        decoded_a_t,
        batch.a_t,
        margin=margin,
        squared_length=program,
        averaged=config.action_errors == "averaged",
        reconstruct=numbers["reconstruction"],
    )
    return l_a + numbers["contrastive"] * l_c, info_c | info_a


def sampled_action(mean: jax.Array, log_spread: jax.Array, noise: jax.Array) -> jax.Array:
    """The tanh of a sample from a normal: what the published program compares with the action."""
    return jnp.tanh(mean + jnp.exp(jnp.clip(log_spread, *LOG_SPREADS)) * noise)


LOG_SPREADS = (-20.0, 2.0)


def contrastive_loss(predicted_f_tp1: jax.Array, f_tp1: jax.Array, *, margin: Number) -> Loss:
    """L_c (eq. 1): D²(f̃'_i, f'_i) + mean over j ≠ i of max(margin − D²(f̃'_i, f'_j), 0)."""
    assert predicted_f_tp1.ndim == 2
    assert predicted_f_tp1.shape == f_tp1.shape
    n = len(f_tp1)
    attraction = jnp.mean(squared_distance(predicted_f_tp1, f_tp1))
    hinges = jax.nn.relu(margin - squared_distance(predicted_f_tp1[:, None], f_tp1[None, :]))
    repulsion = jnp.sum(jnp.where(jnp.eye(n, dtype=bool), 0, hinges)) / (n * (n - 1))
    loss = attraction + repulsion
    return loss, {"contrastive": loss, "attraction": attraction, "repulsion": repulsion}


def action_loss(
    delta_t: jax.Array,
    decoded_a_t: jax.Array,
    a_t: jax.Array,
    *,
    margin: Number,
    squared_length: bool,
    averaged: bool = False,
    reconstruct: Number = 1.0,
) -> Loss:
    """L_a (eq. 2): D²(ã, a) + max(‖Δf‖ − margin, 0); with `reconstruct` 0 the second term alone.

    `averaged`: the mean over the numbers of an action in place of D².
    """
    assert decoded_a_t.ndim == 2
    assert decoded_a_t.shape == a_t.shape
    penalties = squared_length_penalty if squared_length else length_penalty
    length = jnp.mean(penalties(delta_t, margin=margin))
    reconstruction = jnp.mean(squared_distance(decoded_a_t, a_t)) / (a_t.shape[-1] if averaged else 1)
    loss = reconstruct * reconstruction + length
    return loss, {"action": loss, "reconstruction": reconstruction, "length": length}


def length_penalty(delta_t: jax.Array, *, margin: Number) -> jax.Array:
    """max(‖Δf‖ − margin, 0) of each row, with gradient 0, not NaN, where Δf = 0."""
    squared = jnp.sum(delta_t**2, axis=-1)
    long = squared > margin**2
    return jnp.where(long, jnp.sqrt(jnp.where(long, squared, 1)) - margin, 0)


def squared_length_penalty(delta_t: jax.Array, *, margin: Number) -> jax.Array:
    """max(‖Δf‖² − margin, 0) of each row: the published program's."""
    return jax.nn.relu(jnp.sum(delta_t**2, axis=-1) - margin)


def squared_distance(x: jax.Array, y: jax.Array) -> jax.Array:
    """D²: the sum of squared differences over the last axis."""
    return jnp.sum((x - y) ** 2, axis=-1)
