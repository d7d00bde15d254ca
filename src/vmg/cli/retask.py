"""`vmg retask`: a new task, without training."""

from dataclasses import dataclass, field

from tyro.conf import OmitArgPrefixes

from vmg.base.console import say, show
from vmg.cli.options import RunFolder, as_text, in_task, parsed
from vmg.runs import load_run
from vmg.runs.requests import Request
from vmg.runs.retask import retask
from vmg.view.tables import scores_table


@dataclass(frozen=True)
class Retask:
    """Give a run's agents a new task, without training: a reward, one goal or several, or a skill by its name.

    Says before acting what is wanted, how much of the graph can do it, and how it can be done from a start: stitched
    from which recorded episodes. Then tries it, where a task is known. Unreachable goals are reported with the nearest
    reachable state.
    """

    run: RunFolder
    """The run's folder; its graph must be built."""
    task: str | None = None
    """The task, by name, as file.py:name, or an environment of gymnasium's by its id; the run remembers it. None: the
    one it was trained with, or the data's own."""
    request: OmitArgPrefixes[Request] = field(default_factory=Request)
    json: bool = False
    """Print JSON."""


def run(arguments: list[str]) -> None:
    """Answer, try it, and show the scores."""
    options = parsed(Retask, "retask", arguments)
    done = retask(in_task(load_run(options.run), options.task), options.request, say if options.json else show)
    if options.json:
        show(as_text(done.content))
    elif done.scores:
        show(scores_table({"VMG": done.scores}))
    say(f"All of it is in {done.file}.")
