"""The tables of docs/promises.md, made from the files under results/trust/."""

import json
from functools import partial
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "results" / "trust"
COMMANDS = ("exact", "fuzz", "chaos", "soak")


def read(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def counts(name: str) -> str:
    """What one of the commands counted, and how it was called."""
    if not (FOLDER / f"{name}.json").exists():
        return f"Not counted yet: `make {name}` counts it."
    found = read(name)
    lines = ["| what | how many |", "|---|---|"]
    for what, count in (*found["counts"].items(), ("**what did not hold**", found["failures"])):
        lines.append(f"| {what} | {f'{count:,}' if isinstance(count, int) else f'{count:,.1f}'} |")
    lines += ["", f"`{found['command']}`: {found['seconds']:,.0f} seconds, Python {found['versions']['python']}."]
    return "\n".join(lines)


def licences() -> str:
    """Each direct dependency's licence; those of what they bring along are counted."""
    found = read("licences")
    lines = ["| dependency | for | licence |", "|---|---|---|"]
    lines += [f"| {name} | {row['for']} | {row['licence']} |" for name, row in found["direct"].items()]
    others = ", ".join(f"{count} × {licence}" for licence, count in found["others"].items())
    return "\n".join([*lines, "", f"What these bring along: {others}."])


TRUST = {f"trust_{name}": partial(counts, name) for name in COMMANDS} | {"licences": licences}
