"""One of something is not several."""

from hypothesis import given
from hypothesis import strategies as st

from vmg.data.counting import counted


@given(st.integers(0, 10**9), st.sampled_from([("edge", None), ("vertex", "vertices")]))
def test_only_one_is_singular(number, thing):
    one, several = thing
    said = counted(number, one, several)
    assert said.split(" ") == [f"{number:,}", one if number == 1 else several or f"{one}s"]
