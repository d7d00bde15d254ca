"""`vmg info`: what a run or an agent is."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from vmg.base.console import show
from vmg.base.files import is_file
from vmg.cli.options import as_text, parsed
from vmg.view.tables import agent_table, run_table


@dataclass(frozen=True)
class Info:
    """Show what a run or a single agent is: data, settings, graph, scores."""

    folder: Annotated[Positional[Path], arg(metavar="FOLDER")]
    """A run's folder, or one agent's."""
    json: bool = False
    """Print JSON."""


def run(arguments: list[str]) -> None:
    """Show a table, or JSON."""
    options = parsed(Info, "info", arguments)
    is_run = is_file(options.folder / "run.json")
    content, table = (run_table if is_run else agent_table)(options.folder)
    show(as_text(content) if options.json else table)
