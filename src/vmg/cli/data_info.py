"""`vmg data info`: what a data set holds."""

from dataclasses import dataclass

from vmg.base.console import show
from vmg.cli.options import DataId, as_text, chosen_keys, named_task, parsed
from vmg.data import load, render, summarise


@dataclass(frozen=True)
class DataInfo:
    """Show what a data set holds: episodes, steps, sizes, returns, how episodes end, and anything suspicious.

    Data sets are called source:name. pointmaze:medium is made on the spot; minari:D4RL/door/human-v2 is a Minari set on
    this machine; d4rl:file.hdf5, ogbench:file.npz, npz:file.npz and hdf5:file.hdf5 are files.
    """

    id: DataId
    """The data set, source:name."""
    keys: tuple[str, ...] = ()
    """Leaves of a dict observation that make the state; none: the task's choice, or else the reader's."""
    json: bool = False
    """Print JSON."""


def run(arguments: list[str]) -> None:
    """Load the data and show its summary."""
    options = parsed(DataInfo, "data info", arguments)
    summary = summarise(load(options.id, keys=chosen_keys(options.keys, options.id, named_task(None, options.id))))
    show(as_text(summary.to_dict()) if options.json else render(summary))
