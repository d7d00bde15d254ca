"""A run: what the commands make, a folder with one agent per seed.

run.json                 data, task, seeds and settings        training/      losses, checkpoints, state to resume from
seed_0/, seed_1/, ...    one agent each                        evaluations/   every episode, as it ended
scores.json              what was measured last                baselines/     behaviour cloning, where asked for
robustness.json          the same where it was disturbed, if asked for
episodes.npz             the data, where they were made on the spot
auto.json                what was chosen from the data, where the preset was `auto`
added/, growth.json      episodes that came later, and what was new in them
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from vmg.agent.agent import Agent
from vmg.agent.auto import Chosen
from vmg.agent.card import SCORED
from vmg.agent.folder import renewed
from vmg.agent.settings import AgentConfig
from vmg.base.errors import VMGError
from vmg.base.files import is_file, read_json, write_json
from vmg.base.locks import held
from vmg.base.settings import check_entries, read_entries, read_record
from vmg.data import load, read_npz, reader_of, save
from vmg.data.episodes import Episodes, concatenate
from vmg.data.facts import DataFacts
from vmg.data.fields import Fields
from vmg.envs import TASKS, Task, comes_from, find_task, fitting, task_of
from vmg.envs.fitting import check_fits
from vmg.runs.additions import Addition, read_addition

FORMAT = 2
_OVERALL = {"score": float, "interval": tuple[float, float]}

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Run:
    """What a run is: all that later commands need to know about the first."""

    data: str
    config: AgentConfig
    seeds: tuple[int, ...] = (0,)
    task: str | None = None
    """None: the task the data belongs to."""
    keys: tuple[str, ...] | None = None
    validation: float = 0.0
    """Share of the episodes held out: their losses are logged, and the graph does not see them."""
    returns: tuple[float, float] | None = field(default=None, compare=False)
    """Mean and best return of the recorded episodes: they score 0 and 100 where a task does not say."""
    added: tuple[Addition, ...] = field(default=(), compare=False)
    """Episodes that came later: the graphs know them, the networks did not learn from them."""
    folder: Path = field(default=Path(), compare=False)

    def agent_folder(self, seed: int) -> Path:
        return self.folder / f"seed_{seed}"

    def agent(self, seed: int) -> Agent:
        """Load the agent of a seed."""
        folder = self.agent_folder(seed)
        if not (folder / "config.json").exists():
            raise VMGError(f"{folder} holds no agent yet: call `vmg train` again, it goes on where it was.")
        agent = Agent.load(folder)
        if self.added and agent.graph and len(agent.graph.lengths) != self.added[-1].end:
            raise VMGError(
                f"The graph in {folder} does not know all {self.added[-1].end:,} episodes yet: `vmg grow` was stopped. "
                f"Let it go on: vmg grow {self.folder}"
            )
        return agent

    def agents(self) -> Iterator[tuple[Path, Agent]]:
        """Yield each seed's folder and agent."""
        for seed in self.seeds:
            yield self.agent_folder(seed), self.agent(seed)

    def episodes(self) -> tuple[Episodes, Episodes | None]:
        """Load the data: (what graphs are built from, what is held out)."""
        first, held_out = self.learned_from()
        later = [read_addition(self.folder, number, each) for number, each in enumerate(self.added)]
        return concatenate([first, *later]) if later else first, held_out

    @property
    def all_data(self) -> str:
        """What the graphs know, in words that are others when it is other data."""
        return " + ".join([self.data, *(f"{each.source} ({each.digest[:12]})" for each in self.added)])

    def learned_from(self) -> tuple[Episodes, Episodes | None]:
        """Load what the networks learn from, and what is held out."""
        episodes = self._kept() or self._loaded()
        return episodes.split(self.validation, seed=0) if self.validation > 0 else (episodes, None)

    def find_task(self) -> Task:
        """Return the task to evaluate in, which shows the agents the state they learned from."""
        task, data = self.named_task(), self.facts()
        task = replace(task, keys=self.keys or task.keys)
        if task.name in TASKS or data is None:
            return task
        return _scored_as(_fitted(self.folder, self.task or self.data, task, data), self.returns)

    def check_task(self, data: DataFacts) -> str:
        """Refuse a task that was named and does not fit the data; return why it cannot be checked here, or nothing."""
        if not self.task:
            return ""
        task = self.named_task()
        return check_fits(replace(task, keys=self.keys or task.keys), data)

    def task_or_none(self) -> Task | None:
        """Return the task to evaluate in; None where none is known that can be made here and fits."""
        try:
            return self.find_task()
        except VMGError:
            return None

    def chosen(self) -> Chosen | None:
        """Return what was chosen from the data, and why; None where nothing was, or not yet."""
        file = self.folder / "auto.json"
        return read_record(Chosen, read_json(file), place=str(file)) if file.exists() else None

    def scores(self) -> dict[str, Any] | None:
        """Return what the agents, and baselines, scored last; None before they are evaluated."""
        path = self.folder / "scores.json"
        if not path.exists():
            return None
        scores = read_entries(path, {"task": str, "protocol": str, "summary": Mapping, "scores": Mapping})
        for method in {"VMG", *scores["summary"], *scores["scores"]}:
            check_entries(scores["summary"].get(method), _OVERALL, place=path)
            check_entries(scores["scores"], {method: tuple[Any, ...]}, place=path)
            for model in scores["scores"][method] or [None]:
                check_entries(model, {"seed": int, **SCORED}, place=path)
        return scores

    def named_task(self) -> Task:
        """Return the task as it is named, whatever the agents learned from; never one whose code the folder brings."""
        if self.task and self.folder != Path() and comes_from(self.folder, self.task):
            raise VMGError(
                f"{self.folder / 'run.json'} names the task {self.task!r}, a file in the run's own folder: a folder "
                "that is handed on must not bring code. Move the file elsewhere, read it, and name it with --task."
            )
        return find_task(self.task) if self.task else task_of(self.data)

    def facts(self) -> DataFacts | None:
        """Return what the agents remember of their data; None before they are trained."""
        path = self.agent_folder(self.seeds[0]) / "config.json"
        if not path.exists():
            return None
        return read_record(DataFacts, read_entries(path, {"data": Mapping})["data"], place=f"{path}: data")

    def fields(self, task: Task | None) -> Fields:
        """Return the named parts of the state: as the data name them, and as the task does."""
        facts = self.facts()
        return {**(facts.fields if facts else {}), **(task.fields if task else {})}

    def _kept(self) -> Episodes | None:
        """What was made on the spot for this run, if it was this."""
        file = self.folder / "episodes.npz"
        kept = read_npz(file) if file.exists() else None
        return kept if kept and kept.source == self.data else None

    def _loaded(self) -> Episodes:
        """Load the data by their name; what is made on the spot is kept, so that it need not be made again."""
        episodes, reader = load(self.data, keys=self.keys), reader_of(self.data)
        if reader and reader.makes and self.folder != Path():
            episodes = replace(episodes, source=self.data)  # as it is read next time
            save(episodes, self.folder / "episodes.npz")
        return episodes


def _scored_as(task: Task, returns: tuple[float, float] | None) -> Task:
    """Scale the score of a task that knows nothing but its environment by the returns that were recorded."""
    if task.name != task.environment or returns is None:
        return task
    mean, best = returns
    scale = f"0 is the mean return of the recorded episodes ({mean:.3g}), 100 their best ({best:.3g})"
    return replace(
        task,
        score_range=(mean, best if best > mean else mean + 1),
        protocol=f"The environment {task.environment} as it is, scored by its rewards: {scale}.",
    )


_FITTED: dict[Any, Task] = {}


def _fitted(folder: Path, name: str, task: Task, data: DataFacts) -> Task:
    """Make a task fit, once in a process: it takes an environment."""
    known = (folder.resolve(), name, task.keys, data.digest)
    if known not in _FITTED:
        _FITTED[known] = fitting(task, data)
    return _FITTED[known]


def save_run(run: Run) -> None:
    """Write run.json."""
    content: dict[str, Any] = {name: value for name, value in vars(run).items() if name != "folder"}
    content["added"] = [asdict(each) for each in run.added]
    if not run.added:
        del content["added"]
    write_json(run.folder / "run.json", {"format": FORMAT, **content, "config": run.config.to_dict()})


def change_settings(run: Run, **stages: Any) -> Run:
    """Write run.json with other settings of these stages, and those of all others as they are there; return the run."""
    changed = replace(run, config=replace(load_run(run.folder).config, **stages))
    save_run(changed)
    return changed


def alone(stage: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Decorate what writes to the folders of runs: another process that does, too, is told so and stops."""

    @wraps(stage)
    def held_stage(*arguments: Arguments.args, **options: Arguments.kwargs) -> Result:
        with ExitStack() as stack:
            for run in arguments:
                if isinstance(run, Run):
                    stack.enter_context(held(run.folder))
            return stage(*arguments, **options)

    return held_stage


def load_run(folder: str | Path) -> Run:
    """Read run.json, or say that this is no run."""
    folder = Path(folder)
    path = folder / "run.json"
    if not is_file(path):
        raise VMGError(f"{folder} is not a run: there is no run.json in it. `vmg train DATA --out {folder}` makes one.")
    content = read_json(path)
    form = content.pop("format", None) if isinstance(content, dict) else None
    if form not in (1, FORMAT):
        raise VMGError(f"{path} is not of format {FORMAT}: another program or version wrote it.")
    if form == 1:
        content["config"] = renewed(content.get("config"))
    return replace(read_record(Run, content, place=str(path)), folder=folder)
