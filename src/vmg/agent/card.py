"""The model card: what an agent was made from, how, and what it scored, in words, beside the agent."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vmg.base.files import read_json, write_text
from vmg.base.settings import read_entries

SCORED = {"score": float, "interval": tuple[float, float], "n_episodes": int, "endings": Mapping[str, int]}
"""What the scores of a model say, among others."""


def write_card(folder: Path) -> None:
    """Write README.md from the agent's own files: config.json, versions.json and, once evaluated, scores.json."""
    description, made_with = read_json(folder / "config.json"), made_with_versions(folder)
    scores = scores_of(folder)
    lines = ["# Value Memory Graph agent", "", *_data(description), *_settings(description["config"])]
    lines += _scores(scores) + _versions(made_with) + _use(folder)
    write_text(folder / "README.md", "\n".join(lines) + "\n")


def scores_of(folder: Path) -> dict[str, Any] | None:
    """Return what an agent scored last; None before it is evaluated."""
    path = folder / "scores.json"
    return read_entries(path, {"task": str, "protocol": str, **SCORED}) if path.exists() else None


def made_with_versions(folder: Path) -> dict[str, str]:
    """Return the versions of the libraries that an agent was made with."""
    return {name: str(number) for name, number in read_entries(folder / "versions.json", {}).items()}


def _data(description: dict[str, Any]) -> list[str]:
    data = description["data"]
    return [
        "## Data",
        "",
        f"`{data['source']}`: {data['episodes']:,} episodes, {data['steps']:,} steps; observations of "
        f"{data['observation_size']} numbers, actions of {data['action_size']}. SHA-256 of the content: "
        f"`{data['digest']}`. Seed {description['seed']}.",
        "",
    ]


def _settings(config: dict[str, Any]) -> list[str]:
    lines = ["## Settings", "", "| stage | setting | value |", "|---|---|---|"]
    for stage, values in config.items():
        lines += [f"| {stage} | {name} | {value} |" for name, value in _flat(values).items()]
    return [*lines, ""]


def _flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Name settings within settings by both names: `low_level.columns`."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        found |= _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {f"{prefix}{name}": value}
    return found


def _scores(scores: dict[str, Any] | None) -> list[str]:
    if scores is None:
        return ["## Scores", "", "Not evaluated yet.", ""]
    low, high = scores["interval"]
    endings = ", ".join(f"{count} {how}" for how, count in scores["endings"].items())
    return [
        "## Scores",
        "",
        f"{scores['task']}: **{scores['score']:.1f}** (95 % interval {low:.1f} to {high:.1f}) over "
        f"{scores['n_episodes']} episodes with fixed seeds, last checkpoint. They ended: {endings}.",
        "",
        scores["protocol"],
        "",
    ]


def _versions(made_with: dict[str, str]) -> list[str]:
    return ["## Made with", "", ", ".join(f"{name} {number}" for name, number in made_with.items()), ""]


def _use(folder: Path) -> list[str]:
    return [
        "## Use",
        "",
        "```python",
        "import vmg",
        "",
        f'policy = vmg.Agent.load("{folder.name}").policy()',
        "action = policy.act(observation)",
        "```",
    ]
