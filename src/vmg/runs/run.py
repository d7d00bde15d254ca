"""A run: what the commands make, a folder with one agent per seed.

run.json                 data, task, seeds and settings        training/      losses, checkpoints, state to resume from
seed_0/, seed_1/, ...    one agent each                        evaluations/   every episode, as it ended
scores.json              what was measured last                baselines/     behaviour cloning, where asked for
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from vmg.agent.agent import Agent
from vmg.agent.folder import renewed
from vmg.agent.settings import AgentConfig
from vmg.base.errors import VMGError
from vmg.base.files import read_json, write_json
from vmg.base.settings import read_record
from vmg.data import load
from vmg.data.episodes import Episodes
from vmg.envs import Task, find_task, task_of

FORMAT = 2


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
    folder: Path = field(default=Path(), compare=False)

    def agent_folder(self, seed: int) -> Path:
        return self.folder / f"seed_{seed}"

    def agent(self, seed: int) -> Agent:
        """Load the agent of a seed."""
        folder = self.agent_folder(seed)
        if not (folder / "config.json").exists():
            raise VMGError(f"{folder} holds no agent yet: call `vmg train` again, it goes on where it was.")
        return Agent.load(folder)

    def agents(self) -> Iterator[tuple[Path, Agent]]:
        """Yield each seed's folder and agent."""
        for seed in self.seeds:
            yield self.agent_folder(seed), self.agent(seed)

    def episodes(self) -> tuple[Episodes, Episodes | None]:
        """Load the data: (what is learned from, what is held out)."""
        episodes = load(self.data, keys=self.keys)
        return episodes.split(self.validation, seed=0) if self.validation > 0 else (episodes, None)

    def find_task(self) -> Task:
        """Return the task to evaluate in, with this run's keys."""
        task = find_task(self.task) if self.task else task_of(self.data)
        return replace(task, keys=self.keys or task.keys)

    def task_or_none(self) -> Task | None:
        """Return the task to evaluate in; None where the data belongs to none that is known."""
        try:
            return self.find_task()
        except VMGError:
            return None


def save_run(run: Run) -> None:
    """Write run.json."""
    content: dict[str, Any] = {name: value for name, value in vars(run).items() if name != "folder"}
    write_json(run.folder / "run.json", {"format": FORMAT, **content, "config": run.config.to_dict()})


def load_run(folder: Path) -> Run:
    """Read run.json, or say that this is no run."""
    path = folder / "run.json"
    if not path.is_file():
        raise VMGError(f"{folder} is not a run: there is no run.json in it. `vmg train DATA --out {folder}` makes one.")
    content = read_json(path)
    form = content.pop("format", None) if isinstance(content, dict) else None
    if form not in (1, FORMAT):
        raise VMGError(f"{path} is not of format {FORMAT}: another program or version wrote it.")
    if form == 1:
        content["config"] = renewed(content.get("config"))
    return replace(read_record(Run, content, place=str(path)), folder=folder)
