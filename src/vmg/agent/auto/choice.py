"""What was chosen from the data, among what, and why: written down with the agent and shown in the report."""

from dataclasses import dataclass
from typing import Any

from vmg.agent.settings import AgentConfig
from vmg.base.settings import Settings


@dataclass(frozen=True, kw_only=True)
class Choice(Settings):
    """One setting."""

    setting: str
    """Its name, as on the command line."""
    value: str
    why: str
    """A sentence."""
    tried: tuple[tuple[str, float], ...] = ()
    """What it was chosen among, each with the number it was judged by."""
    judged_by: str = ""
    """What that number is; less is better."""


@dataclass(frozen=True, kw_only=True)
class Chosen(Settings):
    """Settings for an agent, and how they came about."""

    config: AgentConfig
    choices: tuple[Choice, ...]


def as_value(value: Any) -> str:
    """A setting's value in words."""
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "all"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
