"""The command line: every command a few lines over the public functions.

Results go to standard output, progress and remarks to standard error. Exit codes: 0 done; 1 a bug; 2 something the user
can mend, said in a sentence; 130 interrupted.
"""

import json as jsonlib
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import tyro
from tyro.conf import OmitArgPrefixes, Positional, arg

from vmg import runs
from vmg.act.tasks import Task, find_task, task_of
from vmg.config import ActConfig, AgentConfig, GraphConfig, SolveConfig
from vmg.console import say, show
from vmg.data.loading import SOURCES
from vmg.demo import Demo, run_demo
from vmg.errors import VMGError
from vmg.learn.config import LearnConfig
from vmg.overview import answered
from vmg.retasking import Request
from vmg.retasking import retask as retask_run
from vmg.runs import Run, Trial, load_run
from vmg.studies import Study, StudyName
from vmg.studies import reproduce as reproduce_study
from vmg.tables import agent_table, run_table, scores_table

Options = TypeVar("Options")

_DataId = Annotated[Positional[str], arg(metavar="DATA")]
_RunFolder = Annotated[Positional[Path], arg(metavar="RUN")]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if answered(given):
        return 0
    name = " ".join(given[:2]) if given[0] == "data" else given[0]
    if name not in COMMANDS:
        say(f"There is no command `vmg {name}`. There are: {', '.join(COMMANDS)}. `vmg --help` says what each does.")
        return 0 if name in ("data --help", "data -h") else 2
    try:
        COMMANDS[name](given[len(name.split()) :])
    except VMGError as error:
        say(f"Error: {error}")
        return 2
    except BrokenPipeError:  # whoever read the output has heard enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        say("Interrupted. Call the same command again to go on.")
        return 130
    return 0


# --- data -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DataInfo:
    """Show what a data set holds: episodes, steps, sizes, returns, how episodes end, and anything suspicious.

    Data sets are called source:name. pointmaze:medium is made on the spot; minari:D4RL/door/human-v2 is a Minari set on
    this machine; d4rl:file.hdf5, ogbench:file.npz, npz:file.npz and hdf5:file.hdf5 are files.
    """

    id: _DataId
    """The data set, source:name."""
    keys: tuple[str, ...] = ()
    """Leaves of a dict observation that make the state; none: the task's choice, or else the reader's."""
    json: bool = False
    """Print JSON."""


def data_info(arguments: list[str]) -> None:
    """`vmg data info`."""
    from vmg.data import load, render, summarise

    options = _parsed(DataInfo, "data info", arguments)
    summary = summarise(load(options.id, keys=_keys(options.keys, options.id, _task_of(None, options.id))))
    show(_json(summary.to_dict()) if options.json else render(summary))


@dataclass(frozen=True)
class DataSave:
    """Write a data set to one .npz file, which `npz:FILE` reads on any machine, without Minari or a simulator."""

    id: _DataId
    """The data set, source:name."""
    file: Annotated[Positional[Path], arg(metavar="FILE")]
    """The file to write."""
    json: bool = False
    """Print JSON."""
    keys: tuple[str, ...] = ()
    """Leaves of a dict observation that make the state; none: the task's choice, or else the reader's."""


def data_save(arguments: list[str]) -> None:
    """`vmg data save`."""
    from vmg.data import load, save

    options = _parsed(DataSave, "data save", arguments)
    episodes = load(options.id, keys=_keys(options.keys, options.id, _task_of(None, options.id)))
    save(episodes, options.file)
    if options.json:
        show(_json({"file": str(options.file), "episodes": len(episodes), "steps": episodes.n_steps}))
    say(f"Wrote {options.file}: read it anywhere as npz:{options.file}")


# --- the walk ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Train:
    """Learn the networks of one or more agents from a data set; a killed run goes on where it was.

    The defaults shown belong to the data's task and the preset: `vmg train DATA --help` shows those of that data.
    """

    data: _DataId
    """The data set, source:name; `vmg data info --help` lists the sources."""
    out: Path
    """Folder of the run."""
    task: str | None = None
    """The task, where the data's name does not tell it."""
    preset: str = "ours"
    """Settings to start from: `ours`, or `paper` (its table, to the letter)."""
    seeds: tuple[int, ...] = (0,)
    """One agent for each, side by side."""
    keys: tuple[str, ...] = ()
    """Leaves of a dict observation that make the state; none: the task's choice, or else the reader's."""
    validation: float = 0.0
    """Share of the episodes to hold out, for validation losses and the coverage of the graph."""
    learn: LearnConfig = field(default_factory=LearnConfig)
    json: bool = False
    """Print JSON."""


def train(arguments: list[str]) -> None:
    """`vmg train`."""
    data = next((a for a in arguments if a.partition(":")[0] in SOURCES), "")
    task = _task_of(_peek(arguments, "--task"), data)
    config = task.preset(_peek(arguments, "--preset") or "ours") if task else AgentConfig()
    options = _parsed(Train, "train", arguments, data=tyro.MISSING, out=tyro.MISSING, learn=config.learn)
    run = Run(
        data=options.data,
        config=replace(config, learn=options.learn),
        seeds=options.seeds,
        task=options.task,
        keys=_keys(options.keys, options.data, task),
        validation=options.validation,
        folder=options.out,
    )
    runs.train(run)
    _end(options.json, run.folder, f"Next: vmg build {run.folder}")


@dataclass(frozen=True)
class Build:
    """Merge the states of a run into the vertices of a graph, and join them by the recorded steps."""

    run: _RunFolder
    """The run's folder."""
    graph: GraphConfig = field(default_factory=GraphConfig)
    json: bool = False
    """Print JSON."""


def build(arguments: list[str]) -> None:
    """`vmg build`."""
    run = _run_named(arguments)
    options = _parsed(Build, "build", arguments, run=tyro.MISSING, graph=run.config.graph if run else GraphConfig())
    runs.build(run or load_run(options.run), options.graph)
    _end(options.json, options.run, f"Next: vmg solve {options.run}")


@dataclass(frozen=True)
class Solve:
    """Reward the graph's edges with the data's rewards and solve it: values, targets and paths for every vertex.

    Where the environment names the goal of each episode, evaluation solves for it again, and this is only a start.
    """

    run: _RunFolder
    """The run's folder."""
    solve: SolveConfig = field(default_factory=SolveConfig)
    json: bool = False
    """Print JSON."""


def solve(arguments: list[str]) -> None:
    """`vmg solve`."""
    run = _run_named(arguments)
    options = _parsed(Solve, "solve", arguments, run=tyro.MISSING, solve=run.config.solve if run else SolveConfig())
    runs.solve(run or load_run(options.run), options.solve)
    _end(options.json, options.run, f"Next: vmg evaluate {options.run}")


@dataclass(frozen=True)
class Evaluate:
    """Act in the task's environment and score it: last checkpoint, fixed seeds, every episode noted as it ends."""

    run: _RunFolder
    """The run's folder."""
    trial: OmitArgPrefixes[Trial] = field(default_factory=Trial)
    act: ActConfig = field(default_factory=ActConfig)
    json: bool = False
    """Print JSON."""


def evaluate(arguments: list[str]) -> None:
    """`vmg evaluate`."""
    run = _run_named(arguments)
    options = _parsed(Evaluate, "evaluate", arguments, run=tyro.MISSING, act=run.config.act if run else ActConfig())
    run = run or load_run(options.run)
    found = runs.evaluate_run(run, options.act, options.trial)
    content = {method: [each.to_dict() for each in scores] for method, scores in found.items()}
    show(_json(content) if options.json else scores_table(found))
    say(f"Every episode is in {run.folder / 'evaluations'}, the summary in {run.folder / 'scores.json'}.")


@dataclass(frozen=True)
class Info:
    """Show what a run or a single agent is: data, settings, graph, scores."""

    folder: Annotated[Positional[Path], arg(metavar="FOLDER")]
    """A run's folder, or one agent's."""
    json: bool = False
    """Print JSON."""


def info(arguments: list[str]) -> None:
    """`vmg info`."""
    options = _parsed(Info, "info", arguments)
    is_run = (options.folder / "run.json").exists()
    content, table = (run_table if is_run else agent_table)(options.folder)
    show(_json(content) if options.json else table)


@dataclass(frozen=True)
class Draw:
    """Draw a run: the graph, an episode on it, losses, distributions, the radius, a change of values. Needs `view`."""

    run: _RunFolder
    """The run's folder."""
    out: Path | None = None
    """Folder of the pictures; None: `figures` in the run's."""
    themes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    """Colours: light for print, dark for screens."""
    formats: tuple[Literal["png", "svg"], ...] = ("png", "svg")
    """Kinds of picture files."""
    films: tuple[int, ...] = ()
    """Seeds of episodes to film, as .mp4 and .gif."""
    radii: tuple[float, ...] = ()
    """Radii to build and score the first agent at; kept in radii.json."""
    radius_episodes: int = 20
    """Episodes to score each radius with."""
    workers: int | None = None
    """Processes that score; None: one a core."""
    seed: int = 0
    """Seed of the layout."""
    json: bool = False
    """Print JSON."""


def draw(arguments: list[str]) -> None:
    """`vmg draw`."""
    from vmg.view.draw import draw_run, measure_radii

    options = _parsed(Draw, "draw", arguments)
    run = load_run(options.run)
    measure_radii(run, options.radii, n_episodes=options.radius_episodes, workers=options.workers)
    files = draw_run(
        run, options.out, themes=options.themes, formats=options.formats, films=options.films, seed=options.seed
    )
    if options.json:
        show(_json([str(file) for file in files]))
    say(f"Wrote {len(files)} files: {files[0].parent}" if files else "There is nothing to draw yet.")


@dataclass(frozen=True)
class Report:
    """Write one page about a run that needs no network: data, training, graph, scores, failures, films, commands."""

    run: _RunFolder
    """The run's folder."""
    out: Path | None = None
    """The file to write; None: report.html in the run's folder."""
    films: int = 2
    """Episodes to film: a good one, then failed ones."""
    replays: int = 8
    """Failed episodes to run again and look at step by step."""
    json: bool = False
    """Print JSON."""


def report(arguments: list[str]) -> None:
    """`vmg report`."""
    from vmg.view.report import write_report

    options = _parsed(Report, "report", arguments)
    file = write_report(load_run(options.run), options.out, films=options.films, replays=options.replays)
    if options.json:
        show(_json({"report": str(file), "bytes": file.stat().st_size}))
    say(f"Wrote {file}: open it in a browser.")


@dataclass(frozen=True)
class Reproduce:
    """Measure a table of the paper: train, evaluate, compare; called again, it goes on where it was.

    `main`: the kitchen, AntMaze and Adroit. `locomotion`: the nine Gym tasks. `skills`: new rewards in the kitchen,
    without training. One thing changed in the preset `paper`: `rewards`, `losses`, `search`, `threshold`, `margin`,
    `discount`, `dimension`, `horizon`, `merging`, and `choices` the paper leaves open. `ratio`: environment steps per
    graph step. `curves`: losses while learning. `ablations`: all of these but the first three. A task without its data
    becomes a row that says how to get them.
    """

    name: Annotated[Positional[StudyName], arg(metavar="STUDY")]
    """What to measure."""
    study: OmitArgPrefixes[Study] = field(default_factory=Study)
    json: bool = False
    """Print the rows as JSON."""


def reproduce(arguments: list[str]) -> None:
    """`vmg reproduce`."""
    options = _parsed(Reproduce, "reproduce", arguments)
    table = reproduce_study(options.name, options.study)
    if options.study.only == "train":
        _end(options.json, table, f"Next, where the simulator is: vmg reproduce {options.name} --only evaluate")
        return
    show(table.with_suffix(".json").read_text() if options.json else table.read_text())
    say(f"The table is in {table}, every row with its settings in {table.with_suffix('.json')}.")


@dataclass(frozen=True)
class Retask:
    """Give a run's agents a new task, without training: a reward, a goal, several in turn, or a skill by its name.

    Says before acting what is wanted, how much of the graph can do it, and how it can be done from a start: stitched
    from which recorded episodes. Then tries it. What nothing leads to is said, with the nearest that can be reached.
    """

    run: _RunFolder
    """The run's folder; its graph must be built."""
    request: OmitArgPrefixes[Request] = field(default_factory=Request)
    json: bool = False
    """Print JSON."""


def retask(arguments: list[str]) -> None:
    """`vmg retask`."""
    options = _parsed(Retask, "retask", arguments)
    done = retask_run(load_run(options.run), options.request, say if options.json else show)
    if options.json:
        show(_json(done.content))
    elif done.scores:
        show(scores_table({"VMG": done.scores}))
    say(f"All of it is in {done.file}.")


def demo(arguments: list[str]) -> None:
    """`vmg demo`."""
    run_demo(_parsed(Demo, "demo", arguments))


COMMANDS: dict[str, Callable[[list[str]], None]] = {
    "demo": demo,
    "data info": data_info,
    "data save": data_save,
    "train": train,
    "build": build,
    "solve": solve,
    "evaluate": evaluate,
    "info": info,
    "retask": retask,
    "reproduce": reproduce,
    "draw": draw,
    "report": report,
}


# --- helpers ----------------------------------------------------------------------------------------------------------


def _parsed(kind: type[Options], name: str, arguments: list[str], **defaults: Any) -> Options:
    """Turn arguments into options; `--help` and mistakes in them end the program here."""
    default = kind(**defaults) if defaults else tyro.MISSING_NONPROP
    return tyro.cli(kind, prog=f"vmg {name}", args=arguments, default=default)


def _peek(arguments: list[str], flag: str) -> str | None:
    """Return a flag's value before the arguments are parsed, since the defaults of others depend on it."""
    joined = next((a.partition("=")[2] for a in arguments if a.startswith(f"{flag}=")), None)
    return next((following for here, following in pairwise(arguments) if here == flag), joined)


def _task_of(name: str | None, data: str) -> Task | None:
    if name:
        return find_task(name)
    try:
        return task_of(data)
    except VMGError:
        return None  # any data can be learned from; only evaluation needs a task


def _run_named(arguments: list[str]) -> Run | None:
    """Return the run that the arguments name, whose settings are the defaults."""
    folder = next((Path(a) for a in arguments if (Path(a) / "run.json").exists()), None)
    return load_run(folder) if folder else None


def _keys(given: tuple[str, ...], data: str, task: Task | None) -> tuple[str, ...] | None:
    """Return the keys asked for or, for a Minari set, the task's; None leaves it to the reader."""
    return given or (task.keys if task and data.startswith("minari:") else None)


def _end(json: bool, folder: Path, following: str) -> None:
    if json:
        show(_json({"run": str(folder)}))
    say(following)


def _json(content: Any) -> str:
    return jsonlib.dumps(content, indent=2)


if __name__ == "__main__":
    sys.exit(main())
