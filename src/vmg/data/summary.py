"""What is in a data set, in numbers a program can read and in a table a person can."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vmg.base.arguments import checked
from vmg.data.checks import check
from vmg.data.episodes import Episodes
from vmg.data.fields import Fields, fields_in_words

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True)
class Range:
    """Smallest, middle, mean and largest of some numbers."""

    smallest: float
    median: float
    mean: float
    largest: float


@dataclass(frozen=True)
class Summary:
    """The facts about a set of episodes."""

    source: str
    episodes: int
    steps: int
    observation_size: int
    action_size: int
    lengths: Range
    """Steps per episode."""
    returns: Range
    """Undiscounted return per episode."""
    rewards: Range
    """Reward per step."""
    rewarded_steps: float
    """Share of the steps whose reward is not 0."""
    rewarded_episodes: float
    """Share of the episodes with any such step."""
    actions: Range
    observations: Range
    terminated: int
    """Episodes only terminated; the four counts of endings add up to all episodes."""
    truncated: int
    terminated_and_truncated: int
    unended: int
    digest: str
    """SHA-256 of the content."""
    fields: Fields
    """Names for columns of the observation."""
    left_out: Mapping[str, str]
    """What the data set holds beside the state."""
    suspicious: tuple[str, ...]
    """Findings of the checker, whole sentences."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, strings and lists, ready for JSON."""
        fields = {name: list(columns) for name, columns in self.fields.items()}
        return asdict(self) | {"fields": fields, "suspicious": list(self.suspicious)}


@checked
def summarise(episodes: Episodes) -> Summary:
    """Collect the facts about a set of episodes, with what looks suspicious."""
    rewarded = episodes.rewards != 0
    terminated, truncated = episodes.terminated, episodes.truncated
    return Summary(
        source=episodes.source,
        episodes=len(episodes),
        steps=episodes.n_steps,
        observation_size=episodes.observation_size,
        action_size=episodes.action_size,
        lengths=_range(episodes.lengths),
        returns=_range(episodes.returns),
        rewards=_range(episodes.rewards),
        rewarded_steps=float(rewarded.mean()),
        rewarded_episodes=float(np.logical_or.reduceat(rewarded, episodes.first_step[:-1]).mean()),
        actions=_range(episodes.actions),
        observations=_range(episodes.observations),
        terminated=int((terminated & ~truncated).sum()),
        truncated=int((truncated & ~terminated).sum()),
        terminated_and_truncated=int((terminated & truncated).sum()),
        unended=int((~terminated & ~truncated).sum()),
        digest=episodes.digest,
        fields=episodes.fields,
        left_out=episodes.left_out,
        suspicious=tuple(check(episodes)),
    )


@checked
def render(summary: Summary) -> "RenderableType":
    """Lay a summary out for the terminal; reads as well when piped into a file."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in _lines(summary):
        table.add_row(name, Text(value))
    return Group(Text(summary.source, style="bold cyan"), table, Text(), *_findings(summary))


def _lines(summary: Summary) -> list[tuple[str, str]]:
    return [
        ("episodes", f"{summary.episodes:,}"),
        ("steps", f"{summary.steps:,} ({_lengths(summary.lengths)})"),
        ("observation", f"{_numbers(summary.observation_size)}, {_from_to(summary.observations)}"),
        ("action", f"{_numbers(summary.action_size)}, {_from_to(summary.actions)}"),
        ("return", _spread(summary.returns)),
        ("reward", _rewards(summary)),
        ("endings", _endings(summary)),
        ("content", f"sha256 {summary.digest[:16]}"),
        *([("fields", groups)] if (groups := _groups(summary.fields)) else []),
        *([("left out", _beside(summary.left_out))] if summary.left_out else []),
    ]


def _groups(fields: Fields) -> str:
    """List the fields of several columns; the others are names of single columns."""
    groups = {name: columns for name, columns in fields.items() if len(columns) > 1}
    return fields_in_words(groups) if groups else ""


def _beside(left_out: Mapping[str, str]) -> str:
    return ", ".join(f"{name} ({what})" for name, what in left_out.items())


def _findings(summary: Summary) -> list["RenderableType"]:
    from rich.table import Table
    from rich.text import Text

    if not summary.suspicious:
        return [Text("Nothing suspicious.", style="green")]
    listed = Table.grid(padding=(0, 1))
    for sentence in summary.suspicious:
        listed.add_row("-", Text(sentence))
    return [Text("Worth a look:", style="bold yellow"), listed]


def _lengths(lengths: Range) -> str:
    if lengths.smallest == lengths.largest:
        return f"{lengths.smallest:,.0f} in each episode"
    return f"{lengths.smallest:,.0f} to {lengths.largest:,.0f} per episode, median {lengths.median:,.0f}"


def _numbers(size: int) -> str:
    return "1 number" if size == 1 else f"{size:,} numbers"


def _from_to(values: Range) -> str:
    return (
        f"always {number_in_words(values.smallest)}"
        if values.smallest == values.largest
        else (f"{number_in_words(values.smallest)} to {number_in_words(values.largest)}")
    )


def _spread(values: Range) -> str:
    if values.smallest == values.largest:
        return f"always {number_in_words(values.smallest)}"
    return f"{_from_to(values)}, mean {number_in_words(values.mean)}, median {number_in_words(values.median)}"


def _rewards(summary: Summary) -> str:
    per_step = f"{_from_to(summary.rewards)} per step"
    if summary.rewards.smallest == summary.rewards.largest:
        return per_step
    if summary.rewarded_steps == 1:
        return f"{per_step}, never 0"
    steps, episodes = _share(summary.rewarded_steps), _share(summary.rewarded_episodes)
    return f"{per_step}, not 0 on {steps} of the steps, in {episodes} of the episodes"


def _endings(summary: Summary) -> str:
    counts = {
        "terminated": summary.terminated,
        "truncated": summary.truncated,
        "both": summary.terminated_and_truncated,
        "neither": summary.unended,
    }
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)


def _share(share: float) -> str:
    """Percent that never rounds something to nothing, or nearly all to all."""
    percent = 100 * share
    if 1 <= percent <= 99 or percent in (0, 100):
        return f"{percent:.0f}%"
    return f"{percent:.2g}%" if percent < 1 else f"{percent:.2f}%"


def number_in_words(value: float) -> str:
    """Write a number as briefly as it can be told."""
    whole = float(value).is_integer() or abs(value) >= 1000
    return f"{value:,.0f}" if whole and abs(value) < 1e9 else f"{value:.4g}"


def _range(values: Any) -> Range:
    numbers = np.asarray(values)
    mean = float(numbers.mean(dtype=np.float64))
    return Range(float(numbers.min()), float(np.median(numbers)), mean, float(numbers.max()))
