"""An agent's folder.

    config.json          settings, data facts, seed          graph.npz        the graph
    weights.safetensors  networks and their scaling          solution.npz     values and routes
    versions.json        what it was made with               README.md        the model card
    metrics.csv          losses, where it was trained with a folder

Only safe formats: opening an agent can never run code. Acting needs neither JAX nor a compiler. Folders of formats 1
(version 0.1) and 2 are read, too. What is read is checked against itself: sizes fit, indices lie in range, routes go
along edges and end, and no file was changed or belongs to another agent.
"""

import filecmp
import os
import warnings
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from vmg.agent.card import write_card
from vmg.agent.graph_file import LOW, graph_arrays, graph_of
from vmg.agent.settings import AgentConfig
from vmg.agent.soundness import is_sound
from vmg.base.errors import VMGError
from vmg.base.files import is_file, read_json, read_npz, staged, write_json, write_npz
from vmg.base.settings import read_record
from vmg.base.versions import versions
from vmg.data.facts import DataFacts
from vmg.graph import ROUTES, MemoryGraph, Routes
from vmg.networks import Weights, load_weights, save_weights
from vmg.networks.angles import ANGLES, COLUMN

if TYPE_CHECKING:
    from vmg.agent.agent import Agent

FORMAT = 3
WEIGHTS, GRAPH = "made_by_weights", "made_for_graph"  # what ties the files of a folder to each other
CONTENT = "sha256"  # of all arrays of a file: a file that was changed is no longer what it says
_NEEDED = ("config", "data", "seed")
Kept: TypeAlias = Literal["plan", "act"]
"""What a folder is for: to act and to plan for any goal, or to act by its own plan alone."""


def save(agent: "Agent", folder: Path, keep: Kept = "plan") -> None:
    """Write an agent; at any moment its folder holds the one before, or parts of this one that fit together."""
    with staged(folder) as beside:
        _write(agent, beside, keep)
        changed = [name for name in _FILES if not _is_same(beside / name, folder / name)]
        for name in ("solution.npz", "graph.npz"):  # these hold no longer; the one was made for the other
            if name in changed:
                (folder / name).unlink(missing_ok=True)
        _forget_other_scores(folder, agent.config)
        for name in changed:
            if (beside / name).exists():
                os.replace(beside / name, folder / name)
    write_card(folder)


_FILES = ("weights.safetensors", "versions.json", "config.json", "graph.npz", "solution.npz")


def _write(agent: "Agent", folder: Path, keep: Kept) -> None:
    save_weights(folder / "weights.safetensors", agent.weights)
    digest = _digest(folder / "weights.safetensors")
    if agent.graph:
        graph = agent.graph if keep == "plan" else _acting(agent.graph)
        _write_sealed(folder / "graph.npz", graph_arrays(graph) | {WEIGHTS: np.array(digest)})
    if agent.routes:
        kind = {} if agent.routes.kind in _TOLD_BY_ARRAYS else {"kind": np.array(agent.routes.kind)}
        tied = {GRAPH: np.array(_contents(folder / "graph.npz"))}
        _write_sealed(folder / "solution.npz", agent.routes.arrays() | kind | tied)
    write_json(folder / "versions.json", {"format": str(FORMAT), **versions()})
    description = {"config": agent.config.to_dict(), "data": asdict(agent.data), "seed": agent.seed}
    write_json(folder / "config.json", {"format": FORMAT, **description, WEIGHTS: digest})


def _acting(graph: MemoryGraph) -> MemoryGraph:
    """Leave out the recorded observations that only new goals are looked up in."""
    return replace(graph, goal_columns=(), places=None, observations=None)


def _is_same(one: Path, other: Path) -> bool:
    return one.exists() == other.exists() and (not one.exists() or filecmp.cmp(one, other, shallow=False))


def load(folder: Path) -> dict[str, Any]:
    """Read what an agent is made of, or say in a sentence what is missing, damaged or foreign."""
    path = folder / "config.json"
    if not is_file(path):
        raise VMGError(f"{folder} is not an agent: there is no config.json in it.")
    told = _description(path)
    config, data, seed = (told[name] for name in _NEEDED)
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise VMGError(f"{path}: seed must be a whole number of at least 0, not {seed!r}.")
    settings = AgentConfig.from_dict(config, place=f"{path}: config")
    facts = read_record(DataFacts, data, place=f"{path}: data")
    weights = _fitting_weights(folder / "weights.safetensors", facts, settings)
    digest = _digest(folder / "weights.safetensors")
    if told.get(WEIGHTS, digest) != digest:
        raise VMGError(f"{folder / 'weights.safetensors'} belongs to another agent than {path}: restore its own.")
    agent = {"config": settings, "data": facts, "seed": seed, "weights": weights}
    if (folder / "graph.npz").exists():
        graph = _load_graph(folder / "graph.npz", settings.graph.goal_columns, digest)
        if (
            graph.features.shape[1] != settings.learn.metric_dimension
            or graph.states.shape[1] != facts.observation_size
        ):
            raise VMGError(f"{folder / 'graph.npz'} does not fit the weights beside it. {_REBUILD}")
        agent["graph"] = graph
        if (folder / "solution.npz").exists():
            agent["routes"] = _load_routes(folder / "solution.npz", graph)
    return agent


def renewed(config: Any) -> Any:
    """Return the settings of version 0.1 as they are written now: the translator and goals have moved."""
    if not isinstance(config, Mapping) or not isinstance(config.get("learn"), Mapping):
        return config
    learn, graph = dict(config["learn"]), dict(config.get("graph") or {})
    names = {"goal_horizon": "goal_horizon", "translator_inputs": "inputs", "translator_columns": "columns",
             "translator_decay": "decay_rate", "translator_memory": "memory"}  # fmt: skip
    low_level = {new: learn.pop(old) for old, new in names.items() if old in learn}
    goal = config.get("goal")
    if isinstance(goal, Mapping):
        graph["goal_columns"] = goal.get("columns", [])
    stages = {name: value for name, value in config.items() if name != "goal"}
    return stages | {"learn": learn | {"low_level": {"kind": "translator", **low_level}}, "graph": graph}


def _description(path: Path) -> dict[str, Any]:
    """Read settings, data facts and seed, not checked yet; settings of version 0.1 as they are written now."""
    description = read_json(path)
    if not isinstance(description, dict) or description.get("format") not in (1, 2, FORMAT):
        raise VMGError(f"{path} is not of format {FORMAT}: another program or version wrote it.")
    if missing := [name for name in _NEEDED if name not in description]:
        raise VMGError(f"{path} has no entry {missing[0]!r}.")
    if description["format"] == 1:
        return description | {"config": renewed(description["config"])}
    return description


def _digest(path: Path) -> str:
    """SHA-256 of a file, by which others know it."""
    return sha256(path.read_bytes()).hexdigest()


def _contents(path: Path) -> str:
    """What is in an .npz, in short: the checksum of each of its arrays, as the file itself lists them."""
    with zipfile.ZipFile(path) as file:
        return " ".join(f"{each.CRC:08x}" for each in file.infolist())


def _forget_other_scores(folder: Path, config: AgentConfig) -> None:
    """Remove scores that were measured with other settings than those about to be written."""
    try:
        before = AgentConfig.from_dict(_description(folder / "config.json")["config"], place="config")
    except VMGError:  # there were none that can be read
        before = None
    if before != config:
        (folder / "scores.json").unlink(missing_ok=True)


def _fitting_weights(path: Path, facts: DataFacts, settings: AgentConfig) -> Weights:
    weights = load_weights(path, settings.learn.low_level)
    sizes = tuple(len(weights[part][name]) for part, name in _SIZES)
    seen = facts.observation_size + (len(weights[ANGLES][COLUMN]) if ANGLES in weights else 0)
    told = (seen, facts.action_size, settings.learn.metric_dimension, settings.learn.hidden_units)
    if sizes != told:
        raise VMGError(
            f"{path} does not belong to this agent: its observations, actions, features and hidden layers have {sizes} "
            f"numbers, but config.json says {told}."
        )
    return weights


_SIZES = (("encoder_input", "mean"), ("action_decoder", "b2"), ("state_encoder", "b2"), ("state_encoder", "b0"))


def _write_sealed(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    write_npz(
        path, {**arrays, CONTENT: np.array(_content(arrays))}, stored=[each for each in arrays if each.endswith(LOW)]
    )


def _check_seal(path: Path, arrays: Mapping[str, np.ndarray], cure: str) -> None:
    """Refuse a file whose arrays are not those that were written; files of earlier versions do not say."""
    others = {name: array for name, array in arrays.items() if name != CONTENT}
    if CONTENT in arrays and str(arrays[CONTENT]) != _content(others):
        raise VMGError(f"{path} was changed after it was written. {cure}")


def _content(arrays: Mapping[str, np.ndarray]) -> str:
    """SHA-256 of arrays with their names, types and shapes."""
    state = sha256()
    for name, array in sorted(arrays.items()):
        state.update(f"{name} {array.dtype.str} {array.shape}".encode())
        state.update(np.ascontiguousarray(array).data if array.size else b"")
    return state.hexdigest()


# --- the graph --------------------------------------------------------------------------------------------------------

_REBUILD = "Delete it and build the graph again (`vmg build`)."


def _load_graph(path: Path, goal_columns: tuple[int, ...], weights: str) -> MemoryGraph:
    whole = read_npz(path)
    arrays = {name: array for name, array in whole.items() if name not in (WEIGHTS, CONTENT)}
    if str(whole.get(WEIGHTS, weights)) != weights:
        raise VMGError(f"{path} was built with other weights. {_REBUILD}")
    try:
        graph = graph_of(arrays, goal_columns)
        sound = is_sound(graph)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise VMGError(f"{path} does not hold a graph: {error}. {_REBUILD}") from error
    if not sound:
        raise VMGError(f"{path} is damaged: its arrays do not fit together. {_REBUILD}")
    _check_seal(path, whole, _REBUILD)
    return graph


# --- routes -----------------------------------------------------------------------------------------------------------

_TOLD_BY_ARRAYS = {"edges": "passed", "recordings": "changes"}
"""Built-in kinds of routes, and an array that only they have: their files name no kind, as in version 0.1."""


def _load_routes(path: Path, graph: MemoryGraph) -> Routes | None:
    whole = read_npz(path)
    if "to_go" in whole:
        warnings.warn(
            f"{path} keeps routes along recordings as an earlier version did, and is left out: "
            "solve the graph again (`vmg solve`).",
            stacklevel=4,
        )
        return None
    if GRAPH in whole and str(whole[GRAPH]) != _contents(path.with_name("graph.npz")):
        raise VMGError(f"{path} was made for another graph. {_RESOLVE}")
    arrays = {name: array for name, array in whole.items() if name not in (GRAPH, CONTENT)}
    told = (kind for kind, array in _TOLD_BY_ARRAYS.items() if array in arrays)
    found = ROUTES.find(str(arrays["kind"]) if "kind" in arrays else next(told, "edges"))
    try:
        routes = found.from_arrays(graph, arrays)
    except VMGError as error:
        raise VMGError(f"{path} does not fit the graph beside it ({error}). {_RESOLVE}") from error
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise VMGError(f"{path} does not hold routes: {error}. {_RESOLVE}") from error
    _check_seal(path, whole, _RESOLVE)
    return routes


_RESOLVE = "Delete it and solve the graph again (`vmg solve`)."
