"""Readers: one file per kind of data set. Others are added with `READERS.add("name", Reader(...))`."""

from vmg.data.readers.arrays import from_arrays
from vmg.data.readers.base import READERS, Reader
from vmg.data.readers.d4rl import read_d4rl
from vmg.data.readers.hdf5 import read_hdf5
from vmg.data.readers.lerobot import read_lerobot
from vmg.data.readers.minari import read_minari
from vmg.data.readers.npz import read_npz, save
from vmg.data.readers.ogbench import read_ogbench
from vmg.data.readers.pointmaze import collect
from vmg.data.readers.robomimic import read_robomimic
from vmg.data.readers.table import read_table

__all__ = [
    "READERS",
    "Reader",
    "collect",
    "from_arrays",
    "read_d4rl",
    "read_hdf5",
    "read_lerobot",
    "read_minari",
    "read_npz",
    "read_ogbench",
    "read_robomimic",
    "read_table",
    "save",
]
