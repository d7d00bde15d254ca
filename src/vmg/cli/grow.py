"""`vmg grow`: add episodes to a run, and to the graphs of its agents."""

from dataclasses import dataclass, field
from shlex import join
from typing import Annotated

from tyro.conf import OmitArgPrefixes, Positional, arg

from vmg.base.console import say, show
from vmg.cli.options import RunFolder, as_text, in_task, parsed
from vmg.runs import growing, load_run
from vmg.runs.exploring import Online, grow_online


@dataclass(frozen=True)
class Grow:
    """Add episodes that came later to a run's graphs, without training or building again, and say what is new.

    The graphs are what `vmg build` would make of all episodes, bit for bit. The episodes are a data set, or the agents
    record them: they act, the graphs are extended, plans are made again. Without either, what was stopped goes on.
    """

    run: RunFolder
    """The run's folder."""
    data: Annotated[Positional[str | None], arg(metavar="[DATA]")] = None
    """The data set to add, source:name; `vmg data info --help` lists the sources."""
    task: str | None = None
    """The task to act in, by name, as file.py:name, or an environment of gymnasium's by its id; the run remembers it.
    None: the one it was trained with, or the data's own."""
    online: OmitArgPrefixes[Online] = field(default_factory=Online)
    json: bool = False
    """Print JSON."""


def run(arguments: list[str]) -> None:
    """Grow the run and show what is new."""
    options = parsed(Grow, "grow", arguments)
    named = in_task(load_run(options.run), options.task)
    grown = {}
    if options.data is not None or not options.online.n_episodes:
        grown = growing.grow(named, options.data)
    if options.online.n_episodes:
        grown = grow_online(named, options.online)
    if options.json:
        show(as_text({str(seed): growth.to_dict() for seed, growth in grown.items()}))
    else:
        for seed, growth in grown.items():
            show(f"Seed {seed}. {growth.summary()}")
    if not grown:
        say("Every graph knows all episodes already.")
    say(f"Next: {join(['vmg', 'evaluate', str(options.run)])}")
