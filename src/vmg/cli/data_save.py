"""`vmg data save`: a data set in one file."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from vmg.base.console import say, show
from vmg.cli.options import DataId, as_text, chosen_keys, named_task, parsed
from vmg.data import load, save


@dataclass(frozen=True)
class DataSave:
    """Write a data set to one .npz file, which `npz:FILE` reads on any machine, without Minari or a simulator."""

    id: DataId
    """The data set, source:name."""
    file: Annotated[Positional[Path], arg(metavar="FILE")]
    """The file to write."""
    json: bool = False
    """Print JSON."""
    keys: tuple[str, ...] = ()
    """Leaves of a dict observation, or parts of a vector, [0:9], that make the state; none: the task's choice, or else
    the reader's."""


def run(arguments: list[str]) -> None:
    """Load the data and write the file."""
    options = parsed(DataSave, "data save", arguments)
    episodes = load(options.id, keys=chosen_keys(options.keys, options.id, named_task(None, options.id)))
    save(episodes, options.file)
    if options.json:
        show(as_text({"file": str(options.file), "episodes": len(episodes), "steps": episodes.n_steps}))
    say(f"Wrote {options.file}: read it anywhere as npz:{options.file}")
