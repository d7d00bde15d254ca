"""Data: `Episodes`, and a reader for each format.

load("minari:D4RL/door/human-v2")   any data set by one string (see `load`)
check, summarise, render            what is in it, and what looks wrong
save                                one file, to carry to another machine
"""

from vmg.data.arrays import from_arrays, read_hdf5, read_npz, save
from vmg.data.checks import check
from vmg.data.d4rl import read_d4rl
from vmg.data.episodes import Episode, Episodes, concatenate
from vmg.data.loading import load
from vmg.data.minari import read_minari
from vmg.data.ogbench import read_ogbench
from vmg.data.pointmaze import collect
from vmg.data.steps import DataWarning
from vmg.data.summary import Summary, render, summarise

__all__ = [
    "DataWarning",
    "Episode",
    "Episodes",
    "Summary",
    "check",
    "collect",
    "concatenate",
    "from_arrays",
    "load",
    "read_d4rl",
    "read_hdf5",
    "read_minari",
    "read_npz",
    "read_ogbench",
    "render",
    "save",
    "summarise",
]
