"""Odd values that are legal for many arguments, by name (see `odd_values`)."""

TEXTS = ("a text", "an empty text")
NOTHING = ("None",)
TRUTH = ("true",)
FUNCTIONS = ("a class", "a function")
NONE_OR_LIST = ("None", "an empty list")
DICTS = ("an empty dict",)
