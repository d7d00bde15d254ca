"""What nobody should hand to a function, by name: the one table that every public function and every setting meets."""

import math

import numpy as np


class Anything:
    """Takes anything, and is nothing."""

    def __init__(self, *_, **__):
        pass


ODD = {
    "None": None,
    "true": True,
    "a text": "text",
    "an empty text": "",
    "bytes": b"x",
    "NaN": math.nan,
    "infinity": math.inf,
    "minus infinity": -math.inf,
    "1e20": 1e20,
    "10**30": 10**30,
    "10**400": 10**400,
    "0": 0,
    "-1": -1,
    "1.5": 1.5,
    "a complex number": 1j,
    "an empty list": [],
    "[None]": [None],
    "[text]": ["text"],
    "[[]]": [[]],
    "a ragged list": [1, [2]],
    "[NaN]": [math.nan],
    "[10**30]": [10**30],
    "[-1]": [-1],
    "an empty dict": {},
    "a dict": {"kind": 3},
    "an object": object(),
    "a class": Anything,
    "a function": lambda *_, **__: None,
    "an empty array": np.zeros(0),
    "a deep array": np.zeros((2, 3, 4)),
    "an array of NaN": np.full((3, 4), np.nan),
    "an array of texts": np.array(["a", "b"]),
    "an array of objects": np.array([object()], dtype=object),
}
