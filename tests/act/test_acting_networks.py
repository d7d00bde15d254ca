"""The networks made ready for acting give what the networks that learn give."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from vmg.networks import Encoder, Translator, encode, translate
from vmg.networks.mlp import goal_scaling, initial_layers, input_scaling

INPUTS = st.sampled_from(["raw", "normalised", "relative", "raw relative"])


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**31), size=st.integers(1, 20), rows=st.integers(1, 5), inputs=INPUTS, data=st.data())
def test_they_encode_and_translate_as_those_that_learn(seed, size, rows, inputs, data):
    rng = np.random.default_rng(seed)
    seen = rng.normal(3, 2, (50, size)).astype(np.float32)
    columns = tuple(data.draw(st.permutations(range(size)))[: data.draw(st.integers(1, size))])
    weights = {
        "encoder_input": input_scaling(seen, data.draw(INPUTS)),
        "state_encoder": initial_layers(rng, (size, 16, 16, 10)),
        "translator_input": goal_scaling(seen, inputs, columns, np.abs(seen[0])),
        "translator": initial_layers(rng, (2 * len(columns), 16, 16, 3)),
    }
    observations, goals = seen[:rows], seen[-rows:]
    before = observations.copy(), goals.copy()
    features = Encoder(weights)(observations)
    np.testing.assert_allclose(features, encode(weights, observations), rtol=1e-5, atol=1e-5)
    found, expected = Translator().actor(weights)(observations, goals), translate(weights, observations, goals)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    assert np.array_equal(before, (observations, goals))  # nothing given is changed
