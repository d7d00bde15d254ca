"""Environments with something about them changed."""

from typing import Any


class Wrapped:
    """An environment that is another one but for what a subclass changes. Needs no gymnasium to be imported."""

    def __init__(self, env: Any) -> None:
        self.env = env

    def __getattr__(self, name: str) -> Any:
        return getattr(self.env, name)
