"""Data: `Episodes`, and a reader for each kind of data set.

load("minari:D4RL/door/human-v2")   any data set by one string (see `load`)
check, summarise, render            what is in it, and what looks wrong
describe_columns, render_columns    what each column of the observation is
save                                one file, to carry to another machine
READERS, Reader                     where to add a reader of your own (see `vmg.data.readers.base`)
"""

from typing import TYPE_CHECKING

from vmg.base.lazy import lazy_names
from vmg.data.episodes import Episode, Episodes, concatenate

if TYPE_CHECKING:
    from vmg.data.checks import check
    from vmg.data.column_table import render_columns
    from vmg.data.columns import Column, describe_columns
    from vmg.data.contents import DataWarning
    from vmg.data.loading import brings_environment, load, make_environment, reader_of, takes_keys
    from vmg.data.readers import (
        READERS,
        Reader,
        collect,
        from_arrays,
        read_d4rl,
        read_hdf5,
        read_lerobot,
        read_minari,
        read_npz,
        read_ogbench,
        read_robomimic,
        read_table,
        save,
    )
    from vmg.data.summary import Summary, render, summarise

__all__ = [
    "READERS",
    "Column",
    "DataWarning",
    "Episode",
    "Episodes",
    "Reader",
    "Summary",
    "brings_environment",
    "check",
    "collect",
    "concatenate",
    "describe_columns",
    "from_arrays",
    "load",
    "make_environment",
    "read_d4rl",
    "read_hdf5",
    "read_lerobot",
    "read_minari",
    "read_npz",
    "read_ogbench",
    "read_robomimic",
    "read_table",
    "reader_of",
    "render",
    "render_columns",
    "save",
    "summarise",
    "takes_keys",
]

# Readers are imported when something is read: acting needs none of them.
__getattr__ = lazy_names(
    __name__,
    {
        "vmg.data.checks": ["check"],
        "vmg.data.column_table": ["render_columns"],
        "vmg.data.columns": ["Column", "describe_columns"],
        "vmg.data.contents": ["DataWarning"],
        "vmg.data.loading": ["brings_environment", "load", "make_environment", "reader_of", "takes_keys"],
        "vmg.data.readers": [
            "READERS", "Reader", "collect", "from_arrays", "read_d4rl", "read_hdf5", "read_lerobot", "read_minari",
            "read_npz", "read_ogbench", "read_robomimic", "read_table", "save",
        ],
        "vmg.data.summary": ["Summary", "render", "summarise"],
    },
)  # fmt: skip
