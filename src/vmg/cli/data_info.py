"""`vmg data info`: what a data set holds."""

from dataclasses import dataclass

from vmg.base.console import show
from vmg.cli.options import DataId, as_text, chosen_keys, named_task, parsed
from vmg.data import describe_columns, load, render, render_columns, summarise


@dataclass(frozen=True)
class DataInfo:
    """Show what a data set holds: episodes, steps, returns, how episodes end, each column, and anything suspicious.

    Of every column of the observation it says its name, its range, and whether it is constant, copies another, is the
    speed of another, or follows from others. It also lists what the set holds beside, such as goals and images.

    Data sets are called source:name. pointmaze:medium is made on the spot; minari:D4RL/door/human-v2 is a Minari set on
    this machine; lerobot:FOLDER is a LeRobot set; robomimic:file.hdf5, table:file.csv, table:file.parquet,
    d4rl:file.hdf5, ogbench:file.npz, npz:file.npz and hdf5:file.hdf5 are files.
    """

    id: DataId
    """The data set, source:name."""
    keys: tuple[str, ...] = ()
    """Leaves of a dict observation, or parts of a vector, [0:9], that make the state; none: the task's choice, or else
    the reader's."""
    json: bool = False
    """Print JSON."""


def run(arguments: list[str]) -> None:
    """Load the data, and show its summary and its columns."""
    options = parsed(DataInfo, "data info", arguments)
    episodes = load(options.id, keys=chosen_keys(options.keys, options.id, named_task(None, options.id)))
    summary, columns = summarise(episodes), describe_columns(episodes)
    if options.json:
        show(as_text(summary.to_dict() | {"columns": [each.to_dict() for each in columns]}))
    else:
        show(render(summary))
        show("")
        show(render_columns(columns))
