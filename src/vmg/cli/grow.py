"""`vmg grow`: add episodes to a run, and to the graphs of its agents."""

from dataclasses import dataclass
from shlex import join
from typing import Annotated

from tyro.conf import Positional, arg

from vmg.base.console import say, show
from vmg.cli.options import RunFolder, as_text, parsed
from vmg.runs import growing, load_run


@dataclass(frozen=True)
class Grow:
    """Add episodes that came later to a run's graphs, without training or building again, and say what is new.

    The graphs are what `vmg build` would make of all episodes, bit for bit. Without data, what was stopped goes on.
    """

    run: RunFolder
    """The run's folder."""
    data: Annotated[Positional[str | None], arg(metavar="[DATA]")] = None
    """The data set to add, source:name; `vmg data info --help` lists the sources."""
    json: bool = False
    """Print JSON."""


def run(arguments: list[str]) -> None:
    """Grow the run and show what is new."""
    options = parsed(Grow, "grow", arguments)
    grown = growing.grow(load_run(options.run), options.data)
    if options.json:
        show(as_text({str(seed): growth.to_dict() for seed, growth in grown.items()}))
    else:
        for seed, growth in grown.items():
            show(f"Seed {seed}. {growth.summary()}")
    if not grown:
        say("Every graph knows all episodes already.")
    say(f"Next: {join(['vmg', 'evaluate', str(options.run)])}")
