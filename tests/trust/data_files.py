"""A small file of every kind that is read, each made in a folder; with the id under which it is loaded."""

import json
import os
import warnings
from collections.abc import Callable
from pathlib import Path

import h5py
import minari
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from gymnasium.spaces import Box
from minari.data_collector import EpisodeBuffer
from trust_cases import episodes

from vmg.data import save


def step_arrays() -> dict[str, np.ndarray]:
    """One row per step, with the observation after it."""
    own = episodes()
    last = np.isin(np.arange(own.n_steps), own.first_step[1:] - 1)
    here, there = own.observations[own.step_observation], own.observations[own.step_observation + 1]
    arrays = {"observations": here, "actions": own.actions, "rewards": own.rewards, "next_observations": there}
    return arrays | {"terminals": last, "timeouts": np.zeros_like(last)}


def _npz(folder: Path) -> str:
    save(episodes(), folder / "episodes.npz")
    return f"npz:{folder}/episodes.npz"


def _ogbench(folder: Path) -> str:
    arrays = step_arrays()
    np.savez(folder / "maze.npz", **{name: arrays[name] for name in ("observations", "actions", "terminals")})
    return f"ogbench:{folder}/maze.npz"


def _hdf5(folder: Path) -> str:
    with h5py.File(folder / "log.h5", "w") as file:
        for name, array in step_arrays().items():
            file.create_dataset(name, data=array, compression="gzip" if name == "observations" else None)
    return f"hdf5:{folder}/log.h5"


def _d4rl(folder: Path) -> str:
    _hdf5(folder)
    return f"d4rl:{folder}/log.h5"


def _robomimic(folder: Path) -> str:
    with h5py.File(folder / "demos.hdf5", "w") as file:
        for i, episode in enumerate(episodes()):
            demo = file.create_group(f"data/demo_{i}")
            for obs, rows in (("obs", episode.observations[:-1]), ("next_obs", episode.observations[1:])):
                demo.create_dataset(f"{obs}/eef", data=rows)
            demo.create_dataset("actions", data=episode.actions)
            demo.create_dataset("rewards", data=episode.rewards)
            demo.create_dataset("dones", data=np.arange(len(episode)) == len(episode) - 1)
        file.create_dataset("mask/train", data=np.array([b"demo_0", b"demo_1"]))
    return f"robomimic:{folder}/demos.hdf5?split=train"


def _columns() -> dict[str, np.ndarray]:
    own = episodes()
    columns = {"episode": np.repeat(np.arange(len(own)), own.lengths)}
    columns |= {f"obs_{i}": own.observations[own.step_observation, i] for i in range(own.observation_size)}
    return columns | {f"action_{i}": own.actions[:, i] for i in range(own.action_size)} | {"reward": own.rewards}


def _csv(folder: Path) -> str:
    columns = _columns()
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
    (folder / "log.csv").write_text("\n".join(lines))
    return f"table:{folder}/log.csv"


def _parquet(folder: Path) -> str:
    pq.write_table(pa.table(_columns()), folder / "log.parquet")
    return f"table:{folder}/log.parquet"


def _lerobot(folder: Path) -> str:
    own = episodes()
    (folder / "meta").mkdir()
    (folder / "data" / "chunk-000").mkdir(parents=True)
    vector = {"dtype": "float32", "names": None}
    features = {"observation.state": {**vector, "shape": [4]}, "action": {**vector, "shape": [2]}}
    info = {"codebase_version": "v3.0", "total_frames": own.n_steps, "features": features}
    (folder / "meta" / "info.json").write_text(json.dumps(info))
    frame = np.concatenate([np.arange(length) for length in own.lengths])
    rows = {"episode_index": own.step_episode, "frame_index": frame}
    rows |= {"observation.state": list(own.observations[own.step_observation]), "action": list(own.actions)}
    pq.write_table(pa.table(rows), folder / "data" / "chunk-000" / "file-000.parquet")
    return f"lerobot:{folder}"


def _minari(folder: Path) -> str:
    os.environ["MINARI_DATASETS_PATH"] = str(folder)  # where Minari looks for sets
    buffers = []
    for episode in episodes():
        ends = np.arange(len(episode)) == len(episode) - 1
        arrays = {"observations": episode.observations, "actions": episode.actions, "rewards": list(episode.rewards)}
        buffers.append(EpisodeBuffer(**arrays, terminations=list(ends), truncations=list(~ends & False)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nothing is said of an author, nor of an environment
        spaces = {name: Box(-np.inf, np.inf, (size,), np.float32) for name, size in (("observation", 4), ("action", 2))}
        minari.create_dataset_from_buffers(
            "walk/small-v0", buffers, observation_space=spaces["observation"], action_space=spaces["action"]
        )
    return "minari:walk/small-v0"


KINDS: dict[str, Callable[[Path], str]] = {
    "npz": _npz, "ogbench": _ogbench, "hdf5": _hdf5, "d4rl": _d4rl, "robomimic": _robomimic, "csv": _csv,
    "parquet": _parquet, "lerobot": _lerobot, "minari": _minari,
}  # fmt: skip
