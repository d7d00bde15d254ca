"""What the page shows: the graph of one agent of a run, with what else is known, found when it is asked for."""

from dataclasses import dataclass, field
from functools import cached_property
from threading import RLock
from typing import Any, TypeVar

import numpy as np

from vmg.agent.agent import Agent
from vmg.base.errors import VMGError
from vmg.base.types import Float32s, Float64s, Int32s, Int64s
from vmg.data.episodes import Episodes
from vmg.data.fields import Fields, column_names
from vmg.envs import Floor, Task
from vmg.graph import MemoryGraph
from vmg.networks import embed
from vmg.runs import Run
from vmg.view.explorer.problems import ImpossibleError, UnknownError
from vmg.view.layout import Layout, by_columns, by_components, floor_of, floor_plan, lay_out

Found = TypeVar("Found")


class found_once(cached_property[Found]):  # noqa: N801 - a decorator
    """A property of something explored that is found when it is first asked for, by one thread; others wait for it."""

    def __get__(self, instance: Any, owner: type[Any] | None = None) -> Found:  # type: ignore[override]
        with instance.locks.setdefault(self.attrname, RLock()):
            found: Found = super().__get__(instance, owner)
            return found


@dataclass(frozen=True, eq=False)
class Explored:
    """One agent of a run, loaded when it is first asked for."""

    number: int
    run: Run
    seed: int
    locks: dict[str, Any] = field(default_factory=dict, repr=False)
    """What threads wait for while one of them finds something."""

    @found_once
    def agent(self) -> Agent:
        """The agent; one without a graph is refused with the command that builds it."""
        agent = self.run.agent(self.seed)
        if agent.graph is None:
            raise ImpossibleError(f"The graph is not built yet: vmg build {self.run.folder}")
        return agent

    @property
    def graph(self) -> MemoryGraph:
        return self.agent.built

    @property
    def task(self) -> Task | None:
        """The task that is played; None where none is known that can be made here."""
        return self._found_task[0]

    @property
    def why_no_task(self) -> str:
        """Why there is nothing to play in."""
        return self._found_task[1]

    @found_once
    def _found_task(self) -> tuple[Task | None, str]:
        try:
            return self.run.find_task(), ""
        except VMGError as error:
            reason = str(error).partition(" Name one ")[0]  # a list of all tasks follows
            return None, f"{reason} Name a task: vmg explore {self.run.folder} --task file.py:NAME"

    @found_once
    def episodes(self) -> Episodes | None:
        """The data; None where they are not at hand, or others than the graph was built from."""
        try:
            episodes = self.run.episodes()[0]
        except VMGError:
            return None
        return episodes if len(episodes.observations) == len(self.graph.labels) else None

    @property
    def data(self) -> Episodes:
        """The data, or a sentence that says they are not at hand."""
        if self.episodes is None:
            raise ImpossibleError(f"This needs the data {self.run.data!r}, which are not at hand here.")
        return self.episodes

    @property
    def fields(self) -> Fields:
        """The named parts of the state."""
        return {**self.agent.data.fields, **(self.task.fields if self.task else {})}

    @property
    def columns(self) -> list[str]:
        """The name of every column of the state."""
        return column_names(self.fields, self.graph.states.shape[1])

    @found_once
    def firsts(self) -> Int64s:
        """The row with which each recorded episode begins."""
        firsts: Int64s = np.cumsum(self.graph.lengths + 1) - (self.graph.lengths + 1)
        return firsts

    @found_once
    def floor(self) -> Floor | None:
        """The floor plan of the task's maze; None where there is none."""
        try:
            return floor_of(self.task, self.graph) if self.task else None
        except VMGError:
            return None

    @property
    def observations(self) -> Float32s | None:
        """Every recorded observation that is at hand without loading the data; None where none is."""
        graph = self.graph
        return graph.recordings.observations if graph.recordings else graph.observations

    def recorded_state(self, row: int) -> Float32s:
        """Return a recorded observation or, where none is at hand, the state of its vertex."""
        observations = self.observations
        if observations is None and self.episodes is not None:
            observations = self.episodes.observations
        state: Float32s = self.graph.states[self.graph.labels[row]] if observations is None else observations[row]
        return state

    def nearest(self, states: Float32s) -> tuple[Int32s, Float32s]:
        """Return the nearest vertex of each state, and how far it is in the metric space."""
        return self.graph.nearest(embed(self.agent.weights, states))

    def checked(self, vertex: int) -> int:
        """Return a vertex's number, or say that there is no such vertex."""
        if not 0 <= vertex < self.graph.n_vertices:
            raise UnknownError(f"There is no vertex {vertex}: this graph has 0 to {self.graph.n_vertices - 1}.")
        return vertex

    def checked_episode(self, episode: int) -> int:
        """Return a recorded episode's number, or say that there is no such episode."""
        if not 0 <= episode < len(self.graph.lengths):
            raise UnknownError(f"There is no episode {episode}: 0 to {len(self.graph.lengths) - 1} were recorded.")
        return episode

    # --- layouts ------------------------------------------------------------------------------------------------------

    @property
    def layouts(self) -> list[str]:
        """The names of the layouts, any two columns aside; the one to begin with first."""
        return [*(["floor"] if self.floor else []), "umap", "pca"]

    def layout(self, name: str) -> Layout:
        """Return the layout of this name: floor, umap, pca, or columns:I,J."""
        if name == "floor" and self.floor:
            return floor_plan(self.graph, self.floor)
        if name == "umap":
            return self._umap
        if name == "pca":
            return by_components(self.graph.features)
        return by_columns(self.graph, self._two_columns(name), self.columns)

    @found_once
    def _umap(self) -> Layout:
        return lay_out(self.graph.features)

    def _two_columns(self, name: str) -> tuple[int, int]:
        kind, _, listed = name.partition(":")
        numbers = [int(part) for part in listed.split(",") if part.isascii() and part.isdecimal()]
        size = self.graph.states.shape[1]
        if kind != "columns" or len(numbers) != 2 or len(listed.split(",")) != 2 or max(numbers) >= size:
            raise UnknownError(
                f"There is no layout {name!r}. There are: {', '.join(self.layouts)}, and columns:I,J with two of the "
                f"columns 0 to {size - 1}."
            )
        return numbers[0], numbers[1]

    # --- numbers of each vertex ---------------------------------------------------------------------------------------

    def array(self, name: str) -> Float64s:
        """Return a number for each vertex: visits, episodes, reward, or column:I."""
        if name == "visits":
            return np.diff(self.graph.members[0]).astype(np.float64)
        if name == "episodes":
            return self._episodes_through
        if name == "reward":
            return self._rewards
        kind, _, column = name.partition(":")
        size = self.graph.states.shape[1]
        if kind != "column" or not (column.isascii() and column.isdecimal()) or int(column) >= size:
            raise UnknownError(
                f"There are no numbers {name!r}. There are: visits, episodes, reward, and column:I with a column from "
                f"0 to {size - 1}."
            )
        return self.graph.states[:, int(column)].astype(np.float64)

    @found_once
    def _episodes_through(self) -> Float64s:
        graph = self.graph
        episode = np.repeat(np.arange(len(graph.lengths)), graph.lengths + 1)
        pairs = np.unique(graph.labels.astype(np.int64) * len(graph.lengths) + episode)
        return np.bincount(pairs // max(len(graph.lengths), 1), minlength=graph.n_vertices).astype(np.float64)

    @found_once
    def _rewards(self) -> Float64s:
        """The mean recorded reward of the steps into each vertex; nothing where no step leads in."""
        graph = self.graph
        into = graph.labels[graph.arrivals]
        steps = np.bincount(into, minlength=graph.n_vertices)
        total = np.bincount(into, self.data.rewards, graph.n_vertices)
        means: Float64s = np.where(steps > 0, total / np.maximum(steps, 1), np.nan)
        return means

    # --- in words -----------------------------------------------------------------------------------------------------

    @property
    def listed(self) -> dict[str, Any]:
        """What stands in the list of graphs; nothing is loaded for it."""
        run = self.run
        return {
            "id": self.number,
            "run": str(run.folder),
            "name": run.folder.resolve().name,
            "seed": self.seed,
            "task": run.task,
            "data": run.data,
        }

    @property
    def rewarded(self) -> bool:
        """Whether any recorded step is rewarded, as far as is known."""
        routes = self.agent.routes
        return (
            bool(np.ptp(routes.values)) if routes else self.episodes is not None and bool(self.episodes.rewards.any())
        )


def explored(runs: list[Run]) -> list[Explored]:
    """Return all agents of these runs, in order."""
    pairs = [(run, seed) for run in runs for seed in run.seeds]
    return [Explored(number, run, seed) for number, (run, seed) in enumerate(pairs)]


def facts(shown: Explored) -> dict[str, Any]:
    """Say what the page has to know of a graph before it draws it."""
    graph, task = shown.graph, shown.task
    low, high = np.percentile(graph.states, [1, 99], axis=0)
    names = shown.columns
    columns = [
        {"column": i, "name": name, "low": float(low[i]), "high": float(high[i])} for i, name in enumerate(names)
    ]
    return {
        **shown.listed,
        "vertices": graph.n_vertices,
        "edges": graph.n_edges,
        "episodes": len(graph.lengths),
        "steps": len(graph.slots),
        "radius": graph.radius,
        "columns": columns,
        "fields": {name: list(found) for name, found in shown.fields.items()},
        "layouts": [_layout_facts(shown, name) for name in shown.layouts],
        "colours": _colours(shown, names),
        "task": _task_facts(task) if task else None,
        "skills": [name for name in task.fields if _is_skill(task, name)] if task else [],
        "rewarded": shown.rewarded,
    }


TITLES = {
    "floor": ("Floor plan", "Every vertex where its state is on the floor."),
    "umap": ("UMAP", "Near is near in the metric space, but gaps and areas mean little."),
    "pca": ("Principal components", "The two directions of the metric space in which vertices differ most."),
}


def _layout_facts(shown: Explored, name: str) -> dict[str, Any]:
    title, note = TITLES[name]
    floor = walls(shown.floor) if name == "floor" and shown.floor else None
    return {"name": name, "title": title, "note": note, "floor": floor}


def walls(floor: Floor) -> dict[str, Any]:
    """Return the walls of a maze as squares: the lower left corner of each, and its size."""
    corners = [
        [*map(float, floor.corner(i, j)), floor.scale]
        for i, row in enumerate(floor.cells)
        for j, cell in enumerate(row)
        if cell == 1
    ]
    return {"walls": corners, "extent": floor.extent}


def _colours(shown: Explored, names: list[str]) -> list[dict[str, str]]:
    titles = {"value": "value", "steps": "steps to the goal", "visits": "visits", "episodes": "episodes through it"}
    if shown.rewarded:
        titles["reward"] = "recorded reward"
    titles |= {f"column:{i}": name for i, name in enumerate(names)}
    return [{"name": name, "title": title} for name, title in titles.items()]


def _is_skill(task: Task, name: str) -> bool:
    """Say whether a task knows a part of its state as a skill."""
    try:
        return task.skill is not None and task.skill((name,)) is not None
    except VMGError:
        return False


def _task_facts(task: Task) -> dict[str, Any]:
    goal = {"columns": list(task.goal.columns), "tolerance": task.goal.tolerance} if task.goal else None
    return {"name": task.name, "protocol": task.protocol, "goal": goal, "horizon": task.horizon}
