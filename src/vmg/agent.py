"""Agent: networks, graph and solution in one; the few lines that join the rooms, and the folder on disk.

    config.json          settings, data facts, seed          graph.npz        the graph
    weights.safetensors  networks and their scaling          solution.npz     values, targets, hops
    versions.json        what it was made with               README.md        the model card
    metrics.csv          losses, where it was trained with a folder

Only safe formats: opening an agent can never run code. Acting needs neither JAX nor a compiler.
"""

import json
import platform
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vmg.card import write_card
from vmg.config import AgentConfig, from_dict
from vmg.data.episodes import Episodes
from vmg.errors import PACKAGE, VMGError
from vmg.files import read_json, read_npz, write_json, write_npz
from vmg.graph import Along, EdgeRewards, Goal, MemoryGraph, Recordings, Solution, build, goal, reward, solve
from vmg.graph.solution import STEP
from vmg.learn.config import Training
from vmg.networks import Weights, embed, load_weights, save_weights
from vmg.types import Float32s, Int32s
from vmg.wishes import Place

FORMAT = 1
LIBRARIES = ("numpy", "scipy", "numba", "jax", "optax", "gymnasium", "gymnasium-robotics", "mujoco", "minari")


@dataclass(frozen=True)
class DataFacts:
    """What an agent remembers of the data it was made from."""

    source: str
    digest: str
    episodes: int
    steps: int
    observation_size: int
    action_size: int
    action_low: tuple[float, ...]
    action_high: tuple[float, ...]

    @classmethod
    def of(cls, episodes: Episodes) -> "DataFacts":
        """Note the facts of these episodes."""
        return cls(
            source=episodes.source,
            digest=episodes.digest,
            episodes=len(episodes),
            steps=episodes.n_steps,
            observation_size=episodes.observation_size,
            action_size=episodes.action_size,
            action_low=tuple(episodes.actions.min(0).tolist()),
            action_high=tuple(episodes.actions.max(0).tolist()),
        )


@dataclass(frozen=True, eq=False)
class Agent:
    """A learned model, with its graph once built and its solution once solved. Nothing is changed in place."""

    config: AgentConfig
    data: DataFacts
    seed: int
    weights: Weights
    graph: MemoryGraph | None = None
    solution: Solution | None = None
    places: Float32s | None = None
    """Where every recorded observation lies, in the columns goals are named in; None where goals are not named."""

    @classmethod
    def fit(
        cls,
        episodes: Episodes,
        config: AgentConfig | None = None,
        seeds: Sequence[int] = (0,),
        *,
        validation: Episodes | None = None,
        folder: Path | str | None = None,
        show_progress: bool | None = None,
    ) -> list["Agent"]:
        """Learn one agent a seed, side by side. With a `folder`, a killed run goes on where it was."""
        training = Training(episodes, seeds, validation, folder)
        return cls.fit_together([training], [config or AgentConfig()], show_progress=show_progress)[0]

    @classmethod
    def fit_together(
        cls, trainings: Sequence[Training], configs: Sequence[AgentConfig], *, show_progress: bool | None = None
    ) -> list[list["Agent"]]:
        """Learn the agents of several data sets and settings, side by side where they can be."""
        from vmg.learn import fit_together

        learned = fit_together(trainings, [config.learn for config in configs], show_progress=show_progress)
        return [
            [
                cls(config, DataFacts.of(training.episodes), seed, weights)
                for seed, weights in zip(training.seeds, models, strict=True)
            ]
            for training, config, models in zip(trainings, configs, learned, strict=True)
        ]

    def build(self, episodes: Episodes) -> "Agent":
        """Build the graph from these episodes: usually, but not necessarily, those it learned from."""
        if episodes.observation_size != self.data.observation_size:
            raise VMGError(
                f"{episodes.source} has observations of {episodes.observation_size} numbers, but the agent learned "
                f"from {self.data.source} with {self.data.observation_size}. Choose the same keys for the state."
            )
        settings = self.config.graph
        features = embed(self.weights, episodes.observations)
        options = {name: value for name, value in asdict(settings).items() if name != "radius"}
        graph = build(features, episodes, settings.radius, seed=self.seed, **options)
        places = None
        if self.config.goal:
            places = episodes.observations[:, list(self.config.goal.columns)]
        return replace(self, graph=graph, places=places, solution=None)

    def solve(self, rewards: Episodes | ArrayLike) -> "Agent":
        """Solve the graph for one reward a recorded step, those of the episodes or any others."""
        edges = reward(self.built, rewards, variant=self.config.solve.variant)
        return replace(self, solution=self.solve_edges(edges))

    def goal(self, place: ArrayLike) -> tuple[Solution, Goal]:
        """Solve the graph for a goal named in the goal's columns, and say how well the data know it."""
        if self.config.goal is None or self.places is None:
            raise VMGError("This agent's task names no goals: its config has no `goal`, so solve it for rewards.")
        where = np.asarray(place, dtype=np.float64)
        if where.shape != self.places.shape[1:]:
            raise VMGError(f"A goal of this agent is {self.places.shape[1]} numbers, not of shape {where.shape}.")
        if not np.isfinite(where).all():
            raise VMGError(f"The goal {where.tolist()} is not made of finite numbers.")
        distances = Place(tuple(range(len(where))), where)(self.places)
        settings = self.config.goal
        found = goal(self.built, distances, settings.tolerance, kind=settings.kind, variant=self.config.solve.variant)
        return self.solve_edges(found.rewards), found

    @property
    def built(self) -> MemoryGraph:
        """The graph, or a sentence that says there is none yet."""
        if self.graph is None:
            raise VMGError("This agent has no graph yet: build it first (Agent.build, or `vmg build`).")
        return self.graph

    @property
    def solved(self) -> Solution:
        """The solution, or a sentence that says there is none yet."""
        if self.solution is None:
            raise VMGError("This agent has no solution yet: solve it first (Agent.solve, or `vmg solve`).")
        return self.solution

    def solve_edges(self, rewards: EdgeRewards) -> Solution:
        """Solve the graph for rewards on its edges, with the agent's settings."""
        settings = asdict(self.config.solve)
        settings.pop("variant")
        return solve(self.built, rewards, settings.pop("discount"), **settings)

    def save(self, folder: Path | str) -> None:
        """Write the agent's folder; each file whole or not at all, what no longer holds removed first."""
        folder = Path(folder)
        if self.solution is None:
            (folder / "solution.npz").unlink(missing_ok=True)
        if self.graph is None:
            (folder / "graph.npz").unlink(missing_ok=True)
        save_weights(folder / "weights.safetensors", self.weights)
        if self.graph:
            write_npz(folder / "graph.npz", _graph_arrays(self.graph, self.places))
        if self.solution:
            write_npz(folder / "solution.npz", _solution_arrays(self.solution))
        write_json(folder / "versions.json", versions())
        description = {"config": self.config.to_dict(), "data": asdict(self.data), "seed": self.seed}
        _forget_other_scores(folder, description)
        write_json(folder / "config.json", {"format": FORMAT, **description})
        write_card(folder)

    @classmethod
    def load(cls, folder: Path | str) -> "Agent":
        """Read an agent's folder, or say in a sentence what is missing, damaged or foreign."""
        folder = Path(folder)
        if not (folder / "config.json").is_file():
            raise VMGError(f"{folder} is not an agent: there is no config.json in it.")
        description = read_json(folder / "config.json")
        if not isinstance(description, dict) or description.get("format") != FORMAT:
            raise VMGError(f"{folder / 'config.json'} is not of format {FORMAT}: another program or version wrote it.")
        try:
            config, data, seed = (description[name] for name in ("config", "data", "seed"))
        except KeyError as error:
            raise VMGError(f"{folder / 'config.json'} has no entry {error}.") from error
        facts = from_dict(DataFacts, data, place=f"{folder / 'config.json'}: data")
        agent = cls(
            config=from_dict(AgentConfig, config, place=f"{folder / 'config.json'}: config"),
            data=facts,
            seed=seed,
            weights=_fitting_weights(folder / "weights.safetensors", facts),
        )
        if (folder / "graph.npz").exists():
            graph, places = _load_graph(folder / "graph.npz")
            agent = replace(agent, graph=graph, places=places)
            if (folder / "solution.npz").exists():
                agent = replace(agent, solution=_load_solution(folder / "solution.npz", graph))
        return agent


def versions() -> dict[str, str]:
    """Note what an agent is made with: this package, Python, the libraries that are installed."""
    found = {"format": str(FORMAT), "python": platform.python_version(), "platform": platform.platform()}
    for name in (PACKAGE, *LIBRARIES):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _forget_other_scores(folder: Path, description: dict[str, Any]) -> None:
    """Remove scores that were measured with other settings than those about to be written."""
    before = read_json(folder / "config.json") if (folder / "config.json").exists() else {}
    if before.get("config") != json.loads(json.dumps(description["config"])):
        (folder / "scores.json").unlink(missing_ok=True)


def _arrays(record: Any) -> dict[str, np.ndarray]:
    values = {f.name: getattr(record, f.name) for f in fields(record)}
    return {name: np.asarray(value) for name, value in values.items() if value is not None}


def _solution_arrays(solution: Solution) -> dict[str, np.ndarray]:
    arrays: dict[str, np.ndarray] = {"values": solution.values, "hops": solution.leads}
    if solution.along is None:
        return arrays | {"targets": solution.targets, "passed": solution.passed}
    kept = {f.name: getattr(solution.along, f.name) for f in fields(solution.along) if f.name != "graph"}
    return arrays | {name: np.asarray(value) for name, value in kept.items()}


def _graph_arrays(graph: MemoryGraph, places: Float32s | None) -> dict[str, np.ndarray]:
    arrays = {name: array for name, array in _arrays(graph).items() if name != "recordings"}
    if graph.recordings:
        arrays |= {f"recorded_{name}": array for name, array in _arrays(graph.recordings).items()}
    return arrays if places is None else arrays | {"places": places}


def _fitting_weights(path: Path, facts: DataFacts) -> Weights:
    weights = load_weights(path)
    sizes = len(weights["encoder_input"]["mean"]), len(weights["translator"]["b2"])
    if sizes != (facts.observation_size, facts.action_size):
        raise VMGError(
            f"{path} does not belong to this agent: its observations and actions have {sizes} numbers, but "
            f"config.json says {(facts.observation_size, facts.action_size)}."
        )
    return weights


def _load_graph(path: Path) -> tuple[MemoryGraph, Float32s | None]:
    arrays = read_npz(path)
    places = arrays.pop("places", None)
    kept = {name: arrays.pop(name) for name in list(arrays) if name.startswith("recorded_")}
    try:
        recordings = (
            Recordings(**{name.removeprefix("recorded_"): array for name, array in kept.items()}) if kept else None
        )
        graph = MemoryGraph(**{**arrays, "radius": float(arrays["radius"]), "recordings": recordings})  # type: ignore[arg-type]
    except (KeyError, TypeError) as error:
        raise VMGError(f"{path} does not hold a graph: {error}.") from error
    n, n_edges, n_rows, n_steps = len(graph.features), len(graph.heads), len(graph.labels), len(graph.slots)
    sound = (
        all(array.ndim == (2 if name in ("features", "states") else 1 if name != "radius" else 0)
            for name, array in arrays.items())
        and n > 0
        and graph.first_edge.shape == (n + 1,)
        and graph.first_edge[0] == 0
        and graph.first_edge[-1] == n_edges
        and (np.diff(graph.first_edge) >= 0).all()
        and len(graph.counts) == n_edges + n
        and len(graph.states) == len(graph.rows) == n
        and n_rows == n_steps + len(graph.lengths)
        and graph.lengths.sum() == n_steps
        and _within(graph.heads, n)
        and _within(graph.labels, n)
        and _within(graph.slots, n_edges + n)
        and _within(graph.rows, n_rows)
        and np.isfinite(graph.features).all()
        and all(array.ndim == 2 and len(array) == n_rows for array in kept.values())
        and (recordings is None or recordings.features.shape[1] == graph.features.shape[1])
        and (recordings is None or recordings.observations.shape[1] == graph.states.shape[1])
        and (places is None or (places.ndim == 2 and len(places) == n_rows))
    )  # fmt: skip
    if not sound:
        raise VMGError(f"{path} is damaged: its arrays do not fit together. Build the graph again (`vmg build`).")
    return graph, places


def _load_solution(path: Path, graph: MemoryGraph) -> Solution | None:
    arrays = read_npz(path)
    if "to_go" in arrays:
        warnings.warn(
            f"{path} keeps ways along recordings as an earlier version did, and is left out: "
            "solve the graph again (`vmg solve`).",
            stacklevel=3,
        )
        return None
    try:
        values, leads = arrays.pop("values"), arrays.pop("hops")
        if "passed" in arrays:
            solution = Solution(values, arrays.pop("targets"), leads, arrays.pop("passed"), **arrays)  # type: ignore[arg-type]
        else:
            along = Along(graph, float(arrays.pop("switch_cost")), usual=int(arrays.pop("usual")), **arrays)
            solution = Solution(values, None, leads, graph.labels, along)
    except (KeyError, TypeError) as error:
        raise VMGError(f"{path} does not hold a solution: {error}.") from error
    n, n_entries = graph.n_vertices, graph.n_vertices + len(solution.passed)
    sound = (
        values.shape == (n,)
        and leads.shape == (n if solution.along else n_entries,)
        and (solution.ends is None or (solution.ends.shape == (n,) and _within(solution.ends, n)))
        and _within(leads, n_entries)
        and _within(solution.passed, n)
        and (solution.along is None or _is_sound(solution.along, leads))
    )
    if not sound:
        raise VMGError(f"{path} does not fit the graph beside it. Delete it and solve the graph again (`vmg solve`).")
    return solution


def _is_sound(along: Along, leads: Int32s) -> bool:
    """Whether every way stays in its recording, and changes where it lies."""
    graph = along.graph
    ended, n_rows = leads == np.arange(graph.n_vertices), len(graph.labels)
    first_rows = np.where(ended, graph.rows, leads - graph.n_vertices)
    if graph.recordings is None or along.changes.shape != ((n_rows + 7) // 8,) or along.changes.dtype != np.uint8:
        return False
    stopping = np.unpackbits(along.changes, count=n_rows).view(bool) | ended[graph.labels]
    return bool(
        along.slots.shape == along.costs.shape
        and _within(along.slots, len(graph.counts))
        and _within(along.costs, STEP + 1)
        and (first_rows >= 0).all()
        and (graph.labels[first_rows] == np.arange(graph.n_vertices))[~ended].all()
        and stopping[np.cumsum(graph.lengths + 1) - 1].all()
    )


def _within(indices: np.ndarray, n: int) -> bool:
    return bool(np.issubdtype(indices.dtype, np.integer) and ((indices >= 0) & (indices < n)).all())
