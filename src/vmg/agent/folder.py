"""An agent's folder.

    config.json          settings, data facts, seed          graph.npz        the graph
    weights.safetensors  networks and their scaling          solution.npz     values and routes
    versions.json        what it was made with               README.md        the model card
    metrics.csv          losses, where it was trained with a folder

Only safe formats: opening an agent can never run code. Acting needs neither JAX nor a compiler. Folders of version 0.1
(format 1) are read, too.
"""

import warnings
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, fields
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vmg.agent.card import write_card
from vmg.agent.settings import AgentConfig
from vmg.base.errors import VMGError
from vmg.base.files import read_json, read_npz, write_json, write_npz
from vmg.base.settings import read_record
from vmg.base.versions import versions
from vmg.data.facts import DataFacts
from vmg.graph import ROUTES, MemoryGraph, Recordings, Routes, Unrecorded
from vmg.graph.routes.edges import are_indices
from vmg.networks import LowLevel, Weights, load_weights, save_weights

if TYPE_CHECKING:
    from vmg.agent.agent import Agent

FORMAT = 2
WEIGHTS, GRAPH = "made_by_weights", "made_for_graph"  # what ties the files of a folder to each other
_NEEDED = ("config", "data", "seed")


def save(agent: "Agent", folder: Path) -> None:
    """Write an agent; what no longer holds is removed first."""
    if agent.routes is None:
        (folder / "solution.npz").unlink(missing_ok=True)
    if agent.graph is None:
        (folder / "graph.npz").unlink(missing_ok=True)
    save_weights(folder / "weights.safetensors", agent.weights)
    digest = _digest(folder / "weights.safetensors")
    if agent.graph:
        write_npz(folder / "graph.npz", _graph_arrays(agent.graph) | {WEIGHTS: np.array(digest)})
    if agent.routes:
        kind = {} if agent.routes.kind in _TOLD_BY_ARRAYS else {"kind": np.array(agent.routes.kind)}
        tied = {GRAPH: np.array(_contents(folder / "graph.npz"))}
        write_npz(folder / "solution.npz", agent.routes.arrays() | kind | tied)
    write_json(folder / "versions.json", {"format": str(FORMAT), **versions()})
    _forget_other_scores(folder, agent.config)
    description = {"config": agent.config.to_dict(), "data": asdict(agent.data), "seed": agent.seed}
    write_json(folder / "config.json", {"format": FORMAT, **description, WEIGHTS: digest})
    write_card(folder)


def load(folder: Path) -> dict[str, Any]:
    """Read what an agent is made of, or say in a sentence what is missing, damaged or foreign."""
    path = folder / "config.json"
    if not path.is_file():
        raise VMGError(f"{folder} is not an agent: there is no config.json in it.")
    told = _description(path)
    config, data, seed = (told[name] for name in _NEEDED)
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise VMGError(f"{path}: seed must be a whole number of at least 0, not {seed!r}.")
    settings = AgentConfig.from_dict(config, place=f"{path}: config")
    facts = read_record(DataFacts, data, place=f"{path}: data")
    weights = _fitting_weights(folder / "weights.safetensors", facts, settings.learn.low_level)
    digest = _digest(folder / "weights.safetensors")
    if told.get(WEIGHTS, digest) != digest:
        raise VMGError(f"{folder / 'weights.safetensors'} belongs to another agent than {path}: restore its own.")
    agent = {"config": settings, "data": facts, "seed": seed, "weights": weights}
    if (folder / "graph.npz").exists():
        graph = _load_graph(folder / "graph.npz", settings.graph.goal_columns, digest)
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
    if not isinstance(description, dict) or description.get("format") not in (1, FORMAT):
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


def _fitting_weights(path: Path, facts: DataFacts, low_level: LowLevel) -> Weights:
    weights = load_weights(path, low_level)
    sizes = len(weights["encoder_input"]["mean"]), len(weights["action_decoder"]["b2"])
    if sizes != (facts.observation_size, facts.action_size):
        raise VMGError(
            f"{path} does not belong to this agent: its observations and actions have {sizes} numbers, but "
            f"config.json says {(facts.observation_size, facts.action_size)}."
        )
    return weights


# --- the graph --------------------------------------------------------------------------------------------------------

_OPTIONAL = ("recordings", "goal_columns", "places", "observations", "unrecorded")


def _arrays(record: Any, prefix: str = "") -> dict[str, np.ndarray]:
    return {f"{prefix}{each.name}": np.asarray(getattr(record, each.name)) for each in fields(record)}


def _graph_arrays(graph: MemoryGraph) -> dict[str, np.ndarray]:
    arrays = {name: array for name, array in _arrays(graph).items() if name not in _OPTIONAL}
    if graph.recordings:
        arrays |= _arrays(graph.recordings, "recorded_")
    if graph.unrecorded:
        arrays |= _arrays(graph.unrecorded, "unrecorded_")
    kept = {"places": graph.places, "observations": graph.observations}
    return arrays | {name: array for name, array in kept.items() if array is not None}


def _load_graph(path: Path, goal_columns: tuple[int, ...], weights: str) -> MemoryGraph:
    arrays = read_npz(path)
    if str(arrays.pop(WEIGHTS, weights)) != weights:
        raise VMGError(f"{path} was built with other weights. Delete it and build the graph again (`vmg build`).")
    places = arrays.pop("places", None)
    kept, beyond = (
        {name.removeprefix(prefix): arrays.pop(name) for name in list(arrays) if name.startswith(prefix)}
        for prefix in ("recorded_", "unrecorded_")
    )
    try:
        graph = MemoryGraph(
            **{**arrays, "radius": float(arrays["radius"])},  # type: ignore[arg-type]
            recordings=Recordings(**kept) if kept else None,
            goal_columns=goal_columns if places is not None else (),
            places=places,
            unrecorded=_unrecorded(**beyond) if beyond else None,
        )
    except (KeyError, TypeError) as error:
        raise VMGError(f"{path} does not hold a graph: {error}.") from error
    if not _is_sound(graph):
        raise VMGError(
            f"{path} is damaged: its arrays do not fit together. Delete it and build the graph again (`vmg build`)."
        )
    return graph


def _unrecorded(*, sources: np.ndarray, **arrays: np.ndarray) -> Unrecorded:
    return Unrecorded(sources=tuple(sources.tolist()), **arrays)


def _is_sound(graph: MemoryGraph) -> bool:
    """Say whether a graph's arrays have the right dimensions and sizes, and lie within each other."""
    tables = (graph.features, graph.states)
    vectors = (graph.rows, graph.first_edge, graph.heads, graph.counts, graph.labels, graph.slots, graph.lengths)
    if any(array.ndim != 2 or array.dtype != np.float32 for array in tables):
        return False
    if any(array.ndim != 1 or array.dtype.kind not in "iu" for array in vectors):
        return False
    n, n_edges, n_rows, n_steps = len(graph.features), len(graph.heads), len(graph.labels), len(graph.slots)
    return bool(
        n > 0
        and graph.first_edge.shape == (n + 1,)
        and graph.first_edge[0] == 0
        and graph.first_edge[-1] == n_edges
        and (np.diff(graph.first_edge) >= 0).all()
        and len(graph.counts) == n_edges + n
        and len(graph.states) == len(graph.rows) == n
        and n_rows == n_steps + len(graph.lengths)
        and graph.lengths.sum() == n_steps
        and are_indices(graph.heads, n)
        and are_indices(graph.labels, n)
        and are_indices(graph.slots, n_edges + n)
        and are_indices(graph.rows, n_rows)
        and np.isfinite(graph.features).all()
        and _is_sound_beside(graph, n_rows)
    )


def _is_sound_beside(graph: MemoryGraph, n_rows: int) -> bool:
    """Say the same of what a graph may have beside its vertices and edges."""
    recordings, places, beyond = graph.recordings, graph.places, graph.unrecorded
    if recordings and not (
        recordings.features.shape == (n_rows, graph.features.shape[1])
        and recordings.observations.shape == (n_rows, graph.states.shape[1])
    ):
        return False
    if beyond and not (
        are_indices(beyond.edges, graph.n_edges)
        and are_indices(beyond.kinds, len(beyond.sources))
        and len(beyond.edges) == len(beyond.kinds) == len(beyond.steps) == len(beyond.prices)
    ):
        return False
    if graph.observations is not None and graph.observations.shape != (n_rows, graph.states.shape[1]):
        return False
    return places is None or places.shape == (n_rows, len(graph.goal_columns))


# --- routes -----------------------------------------------------------------------------------------------------------

_TOLD_BY_ARRAYS = {"edges": "passed", "recordings": "changes"}
"""Built-in kinds of routes, and an array that only they have: their files name no kind, as in version 0.1."""


def _load_routes(path: Path, graph: MemoryGraph) -> Routes | None:
    arrays = read_npz(path)
    if "to_go" in arrays:
        warnings.warn(
            f"{path} keeps routes along recordings as an earlier version did, and is left out: "
            "solve the graph again (`vmg solve`).",
            stacklevel=4,
        )
        return None
    if GRAPH in arrays and str(arrays.pop(GRAPH)) != _contents(path.with_name("graph.npz")):
        raise VMGError(f"{path} was made for another graph. Delete it and solve the graph again (`vmg solve`).")
    told = (kind for kind, array in _TOLD_BY_ARRAYS.items() if array in arrays)
    routes = ROUTES.find(str(arrays["kind"]) if "kind" in arrays else next(told, "edges"))
    try:
        return routes.from_arrays(graph, arrays)
    except (KeyError, TypeError) as error:
        raise VMGError(f"{path} does not hold routes: {error}.") from error
    except VMGError as error:
        raise VMGError(
            f"{path} does not fit the graph beside it ({error}). Delete it and solve the graph again (`vmg solve`)."
        ) from error
