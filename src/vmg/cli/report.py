"""`vmg report`: one page about a run."""

from dataclasses import dataclass
from pathlib import Path

from vmg.base.console import say, show
from vmg.cli.options import RunFolder, as_text, in_task, parsed
from vmg.runs import load_run
from vmg.view.report import write_report


@dataclass(frozen=True)
class Report:
    """Write one page about a run that needs no network: data, training, graph, scores, failures, films, commands."""

    run: RunFolder
    """The run's folder."""
    task: str | None = None
    """The task, by name, as file.py:name, or an environment of gymnasium's by its id; the run remembers it. None: the
    one it was trained with, or the data's own."""
    out: Path | None = None
    """The file to write; None: report.html in the run's folder."""
    films: int = 2
    """Episodes to film: a good one, then failed ones."""
    replays: int = 8
    """Failed episodes to run again and look at step by step."""
    json: bool = False
    """Print JSON."""


def run(arguments: list[str]) -> None:
    """Write the page."""
    options = parsed(Report, "report", arguments)
    shown = in_task(load_run(options.run), options.task)
    file = write_report(shown, options.out, films=options.films, replays=options.replays)
    if options.json:
        show(as_text({"report": str(file), "bytes": file.stat().st_size}))
    say(f"Wrote {file}: open it in a browser.")
