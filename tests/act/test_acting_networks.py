"""The networks made ready for acting give what the networks that learn give."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from vmg.networks import Encoder, Translator, encode, translate
from vmg.networks.mlp import goal_scaling, initial_layers, input_scaling, pairs, through, through_exactly

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


@given(seed=st.integers(0, 10_000), size=st.sampled_from((1, 3, 40, 300)), loud=st.floats(1e-30, 1e30))
@settings(max_examples=40, deadline=None)
def test_an_exact_product_does_not_depend_on_order(seed, size, loud):
    """Rows in any order, with any others, and sums in any order give the same bits, near those of float64."""
    rng = np.random.default_rng(seed)
    layers = pairs(initial_layers(rng, (size, 16, 4)))
    x = (loud * rng.normal(size=(50, size))).astype(np.float32)
    found = through_exactly(layers, x)
    some, order = rng.integers(0, 50, 7), rng.permutation(size)
    assert through_exactly(layers, x[some]).tobytes() == found[some].tobytes()
    shuffled = [(layers[0][0][order], layers[0][1]), layers[1]]
    assert through_exactly(shuffled, x[:, order]).tobytes() == found.tobytes()
    wide = [tuple(each.astype(np.float64) for each in layer) for layer in layers]
    expected = through(wide, x.astype(np.float64))
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())


def test_an_exact_product_of_nothing_is_the_bias():
    layers = pairs(initial_layers(np.random.default_rng(0), (3, 8, 2)))
    assert through_exactly(layers, np.zeros((0, 3), np.float32)).shape == (0, 2)
    np.testing.assert_allclose(
        through_exactly(layers, np.zeros((1, 3), np.float32)), through(layers, np.zeros((1, 3), np.float32)), rtol=1e-4
    )
