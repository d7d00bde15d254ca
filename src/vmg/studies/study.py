"""What all studies share: what is asked for, where the data are, which runs there are, and how a row is described."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from tyro.conf import arg

from vmg.agent.settings import AgentConfig
from vmg.base.errors import VMGError
from vmg.base.versions import versions
from vmg.data import brings_environment, load, takes_keys
from vmg.data.episodes import Episodes
from vmg.envs import TASKS, Task, find_task
from vmg.runs import Run, auto, load_run
from vmg.runs.commands import command
from vmg.runs.notes import On, Trial

EPISODES = 100
Results = list[dict[str, Any]]
Result = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Study:
    """What is measured."""

    tasks: tuple[str, ...] = ()
    """Tasks, in the study ogbench its data sets; none: all of the table."""
    presets: tuple[str, ...] = ()
    """Settings: `auto`, or a preset of the tasks. None: `paper`, `program` and `auto` in the tables main, auto and
    locomotion, `auto` alone in others. Ablations change one thing of `paper`, or of `program` if asked."""
    variants: tuple[str, ...] = ()
    """Variants of the study `fidelity`; none: all. Of `robustness`: `as chosen`, `recordings`, `observed`, `noise`,
    `noise on the state`, `flow`, `ensemble`, `critic`, `safe ways`, `generated edges`, `together`; none: as chosen."""
    seeds: tuple[int, ...] = ()
    """One model per seed, none dropped; none: 0 to 4, in ablations 0 to 2."""
    n_episodes: Annotated[int | None, arg(name="episodes")] = None
    """Episodes for each model, with the seeds 0, 1, 2, ...; None: 100, in the study ogbench 250."""
    disturb: tuple[str, ...] = ()
    """Disturbances of the study `robustness`, as `vmg evaluate --disturb` takes them; none: all that a task has, each
    at amounts usual for it."""
    share: float = 0.05
    """Share of the data that the study `grow` begins with."""
    online: tuple[int, ...] = (20, 50, 100)
    """Episodes recorded online after which the study `grow` measures."""
    steps: int | None = None
    """Updates of every model; None: the preset's. Ablations read a longer run's checkpoint at this step."""
    data: tuple[str, ...] = ()
    """Where a task's data are, TASK=SOURCE:NAME (kitchen-partial=npz:kitchen.npz); others as the task names them. In
    the study ogbench: the folders of its files."""
    choose: tuple[str, ...] = ("kitchen-partial",)
    """Tasks for which the best checkpoint of 500,000 to 800,000 updates is reported too, as the paper does for all."""
    baselines: bool = True
    """Train and score behaviour cloning, plain and goal-conditioned, beside it."""
    only: Literal["train", "evaluate"] | None = None
    """Do one half: train where a GPU is, evaluate where the simulator is."""
    device: Literal["auto", "cpu", "gpu"] = "auto"
    """Where to train."""
    executor: On = "processes"
    workers: int | None = None
    """Processes that evaluate; None: one per core."""
    out: Path = Path("runs/study")
    """Folder of the study."""

    @property
    def trial(self) -> Trial:
        """How every model is evaluated."""
        return Trial(n_episodes=self.n_episodes or EPISODES, executor=self.executor, workers=self.workers)


def tasks_of(name: str, study: Study, known: Sequence[str], *, any_task: bool = False) -> list[Task]:
    """Return the tasks asked for, or all the study has; `any_task`: it can be asked for others too."""
    if unknown := [task for task in study.tasks if task not in known and not any_task]:
        raise VMGError(f"The study {name} has no task {unknown[0]!r}. It has: {', '.join(known)}.")
    return [find_task(task) for task in study.tasks or known]


def settings_of(task: Task, preset: str) -> AgentConfig:
    """Return the settings to train with; those that are chosen from the data begin as the defaults."""
    return AgentConfig() if preset == auto.AUTO else task.preset(preset)


def with_choices(run: Run, preset: str) -> Run:
    """Return a run with the settings that were chosen from its data, which its folder alone knows."""
    if preset != auto.AUTO or run.chosen() is None:
        return run
    return replace(load_run(run.folder), data=run.data, task=run.task, keys=run.keys)


def run_of(study: Study, task: Task, config: AgentConfig, seeds: tuple[int, ...], folder: str) -> Run:
    """Return the run of these settings in the study's folder, learned for as many updates as the study asks."""
    if study.steps:
        learn = config.learn
        every = min(learn.checkpoint_every, study.steps)
        config = replace(config, learn=replace(learn, steps=study.steps, checkpoint_every=every))
    data = sources(study).get(task.name, task.data)
    keys = task.keys if takes_keys(data) else None
    run = Run(data, config, seeds, task.name, keys, folder=study.out / task.name / folder)
    return replace(run, task=None) if brings_environment(data) and data != task.data else run


def sources(study: Study) -> dict[str, str]:
    """Return where the data of tasks are, as the study was told."""
    return dict(_source(each) for each in study.data)


def _source(given: str) -> tuple[str, str]:
    task, equals, data = given.partition("=")
    if not equals or task not in TASKS:
        raise VMGError(
            f"{given!r} does not say whose data it is: write TASK=SOURCE:NAME, with one of the tasks' names."
        )
    return task, data


def missing_data(name: str, task: Task, run: Run) -> str:
    """Say why the data cannot be read and how to get them; nothing where they can."""
    try:
        load(run.data, keys=run.keys)
    except VMGError as error:
        cure = f"Get it ({task.get}), then: vmg reproduce {name} --tasks {task.name}"
        return f"no data ({str(error).splitlines()[0].rstrip('.')}). {cure}"
    return ""


def row_command(name: str, study: Study, task: str, **changes: Any) -> str:
    """Return the command that makes the rows of one task again, wherever it is called."""
    data = tuple(each for each in study.data if each.startswith(f"{task}="))
    only = replace(study, tasks=(task,), data=data, only=None, device="auto", executor="processes", workers=None)
    usual = Study()
    choose = tuple(each for each in study.choose if each == task)
    if (task in study.choose) == (task in usual.choose):
        choose = usual.choose
    return command(["reproduce", name], replace(only, choose=choose, out=usual.out, **changes))


def markdown(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    rows = [header, ["---"] * len(header), *lines]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


def described(run: Run, episodes: Episodes, task: Task, made_by: str) -> dict[str, Any]:
    """Return what a row says of itself besides its scores; `made_by` is the command that makes it."""
    chosen = run.chosen()
    return {
        "task": task.name,
        "protocol": task.protocol,
        "data": {
            "id": run.data,
            "digest": episodes.digest,
            "source": episodes.source,
            "episodes": len(episodes),
            "steps": episodes.n_steps,
        },
        "seeds": list(run.seeds),
        "command": made_by,
        "versions": versions(),
    } | ({"choices": chosen.to_dict()["choices"]} if chosen else {})
