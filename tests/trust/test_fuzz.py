"""The targets of `make fuzz` with a few inputs each, the same every time."""

from collections import Counter

import fuzz
import pytest
from fuzz_targets import TARGETS, tidy

INPUTS = 30


@pytest.fixture(scope="module", autouse=True)
def _tidied():
    yield
    tidy()


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_a_few_inputs_are_refused_in_a_sentence_or_work(name):
    counts = Counter()
    fuzz.one_round(counts, name, number=0, inputs=INPUTS)
    assert counts[name] >= INPUTS // 2
