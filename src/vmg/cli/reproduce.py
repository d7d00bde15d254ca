"""`vmg reproduce`: measure a table of the paper, or our own."""

from dataclasses import dataclass, field
from typing import Annotated

from tyro.conf import OmitArgPrefixes, Positional, arg

from vmg.base.console import say, show
from vmg.base.locks import held
from vmg.cli.options import end, parsed
from vmg.studies import Study, StudyName, reproduce


@dataclass(frozen=True)
class Reproduce:
    """Measure a table of the paper: train, evaluate, compare; called again, it goes on where it was.

    `main`: the kitchen, AntMaze and Adroit. `auto`: these and other mazes, with settings chosen from the data alone
    beside those chosen by hand. `locomotion`: the nine Gym tasks. `skills`: new rewards in the kitchen, without
    training; `other-tasks`: other sets of four subtasks there. `robustness`: where the world is not as recorded.
    `ogbench`: OGBench's data sets. `grow`: from a small part of the data, online. `fidelity`: from the paper to the
    program its authors published, one thing changed at a time. `decay` and `memory`: settings of the translator
    compared on episodes held out. One thing changed in the preset `paper`: `rewards`, `losses`, `search`, `threshold`,
    `margin`, `discount`, `dimension`, `horizon`, `merging`, and `choices` the paper leaves open. `ratio`: environment
    steps per graph step. `curves`: losses while learning. `ablations`: all of these from `rewards` on. A task without
    its data becomes a row that says how to get them.
    """

    name: Annotated[Positional[StudyName], arg(metavar="STUDY")]
    """What to measure."""
    study: OmitArgPrefixes[Study] = field(default_factory=Study)
    json: bool = False
    """Print the rows as JSON."""


def run(arguments: list[str]) -> None:
    """Do the study and show its table."""
    options = parsed(Reproduce, "reproduce", arguments)
    with held(options.study.out):
        table = reproduce(options.name, options.study)
    if options.study.only == "train":
        end(options.json, table, f"Next, where the simulator is: vmg reproduce {options.name} --only evaluate")
        return
    show(table.with_suffix(".json").read_text() if options.json else table.read_text())
    say(f"The table is in {table}, every row with its settings in {table.with_suffix('.json')}.")
