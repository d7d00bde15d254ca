"""`vmg explore`: see, ask and re-task the graphs of a run in the browser."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from vmg.base.console import say
from vmg.base.errors import VMGError
from vmg.cli.options import in_task, parsed
from vmg.runs import Run, load_run
from vmg.view.explorer.serving import serve


@dataclass(frozen=True)
class Explore:
    """Open a page on which a run's graph can be seen, asked and given new tasks with the mouse, and episodes watched.

    It is served on this machine until interrupted, and needs no network. Of several runs, graphs are compared side by
    side. Needs the extras `explore` and `view`.
    """

    runs: Annotated[Positional[tuple[Path, ...]], arg(metavar="RUN ...")]
    """Folders of one or more runs; their graphs must be built."""
    task: str | None = None
    """The task, by name, as file.py:name, or an environment of gymnasium's by its id; the runs remember it. None: the
    one each was trained with, or the data's own."""
    port: int = 0
    """Port of the page; 0: a free one."""
    host: str = "127.0.0.1"
    """Where to serve: this machine alone, or another of its addresses (0.0.0.0: all). Beyond this machine the page
    opens only with the token in its address, which is made anew each time."""
    open: bool = True
    """Open the page in the browser."""


def run(arguments: list[str]) -> None:
    """Serve the page."""
    options = parsed(Explore, "explore", arguments)
    runs = [in_task(load_run(folder), options.task) for folder in options.runs]
    for each in runs:
        _refuse_unbuilt(each)
    with suppress(KeyboardInterrupt):  # how a server is ended
        serve(runs, host=options.host, port=options.port, open_page=options.open, tell=say)


def _refuse_unbuilt(run: Run) -> None:
    """Refuse a run of whose agents none has a graph; they are loaded later, when the page asks for them."""
    folders = [run.agent_folder(seed) for seed in run.seeds]
    if not any((folder / "graph.npz").exists() for folder in folders):
        trained = any((folder / "config.json").exists() for folder in folders)
        cure = f"vmg build {run.folder}" if trained else "call `vmg train` again, it goes on where it was"
        raise VMGError(f"{run.folder} has no graph to explore yet: {cure}.")
