"""Commands, written from what a run or a request remembers: only what differs from the defaults is named."""

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from shlex import join
from typing import Any

from vmg.agent.settings import AgentConfig
from vmg.base.errors import VMGError
from vmg.data import takes_keys
from vmg.envs import Task
from vmg.runs.additions import file_of
from vmg.runs.notes import Trial
from vmg.runs.run import Run

_SHORT = {
    "n_episodes": "episodes",
    "executor": "on",
    "agents": "seeds",
    "any_goal": "any",
    "all_goals": "all",
}  # as the options themselves name their flags
STAGES = (("build", "graph"), ("solve", "solve"), ("evaluate", "act"))
DEFAULT_PRESET = "auto"
SHORT = 3
"""Numbers of a field that an example of a goal may have."""


def run_commands(run: Run, trial: Trial | None) -> list[str]:
    """Return the commands that make a run, in order; evaluation only where there was a trial."""
    task = _named_task(run)
    preset, start = _nearest_preset(run, task)
    train = ["vmg", "train", run.data, "--out", str(run.folder), "--seeds", *map(str, run.seeds)]
    train += ["--task", run.task] if run.task else []
    train += ["--preset", preset] if preset not in ("", DEFAULT_PRESET) else []
    if run.keys and run.keys != (task.keys if task and takes_keys(run.data) else None):
        train += ["--keys", *run.keys]
    train += ["--validation", f"{run.validation:g}"] if run.validation else []
    train += flags(run.config.learn, start.learn, "learn.")
    later = [
        ["vmg", name, str(run.folder), *flags(getattr(run.config, stage), getattr(start, stage), f"{stage}.")]
        for name, stage in STAGES
    ]
    later[1:1] = _growing(run)
    if trial is None:
        later.pop()
    else:
        later[-1] += flags(trial, type(trial)())
    return [join(words) for words in [train, *later]]


def _growing(run: Run) -> list[list[str]]:
    """The commands that added episodes; those that were recorded online are read from where they are kept."""
    return [
        ["vmg", "grow", str(run.folder), f"npz:{file_of(run.folder, number)}" if each.online else each.source]
        for number, each in enumerate(run.added)
    ]


def evaluate_command(run: Run, trial: Trial) -> str:
    """Return the command that evaluates a run so; who runs the episodes changes no score and is left out."""
    usual = type(trial)()
    return run_commands(run, replace(trial, executor=usual.executor, workers=usual.workers))[-1]


def after_training(run: Run) -> str:
    """Return the command to go on with once a run is trained: for its graph, values, scores or report, as it lacks."""
    try:
        agents = [agent for _, agent in run.agents()]
    except VMGError:  # a graph that was left half grown says so itself
        agents = []
    if not agents or any(agent.graph is None for agent in agents):
        return join(["vmg", "grow" if run.added else "build", str(run.folder)])
    if any(agent.routes is None for agent in agents):
        return join(["vmg", "solve", str(run.folder)])
    scored = all((run.agent_folder(seed) / "scores.json").exists() for seed in run.seeds)  # gone if they hold no more
    return join(["vmg", "report", str(run.folder)]) if scored else after_solving(run)


def after_solving(run: Run) -> str:
    """Return the command to go on with once a graph is solved: to score it, or to name a goal where that is to do."""
    task = run.task_or_none()
    if task and (task.goal or run.returns not in (None, (0.0, 0.0))):
        return join(["vmg", "evaluate", str(run.folder)])
    only_asked = [] if task else ["--episodes", "0"]
    return join(["vmg", "retask", str(run.folder), "--goal", _some_goal(run), *only_asked])


def _some_goal(run: Run) -> str:
    """A goal that was recorded: where the first episode ended, in a field of few numbers or in the first columns."""
    agent = run.agent(run.seeds[0])
    graph = agent.built
    small = [(name, columns) for name, columns in agent.data.fields.items() if len(columns) <= SHORT]
    first = tuple(range(min(2, agent.data.observation_size)))
    name, columns = small[0] if small else (",".join(map(str, first)), first)
    end = graph.states[graph.labels[graph.lengths[0]]]
    return f"{name}={','.join(f'{end[column]:.3g}' for column in columns)}"


def command(name: Sequence[str], options: Any, prefix: str = "") -> str:
    """Return a command with the flags of its options that differ from their defaults."""
    return join(["vmg", *name, *flags(options, type(options)(), prefix)])


def flags(now: Any, start: Any, prefix: str = "") -> list[str]:
    """Return the flags that turn the options `start` into `now`."""
    found: list[str] = []
    if type(now) is not type(start):
        found += [f"--{prefix.removesuffix('.').rpartition('.')[2]}", now.kind]
        start = type(now)()
    for each in fields(now):
        value, before = getattr(now, each.name), getattr(start, each.name)
        name = _SHORT.get(each.name, each.name).replace("_", "-")
        if is_dataclass(value):
            found += flags(value, before, f"{prefix}{name}.")
        elif value != before:
            found += _flag(f"{prefix}{name}", value)
    return found


def _named_task(run: Run) -> Task | None:
    try:
        return run.named_task()
    except VMGError:
        return None


def _flag(name: str, value: Any) -> list[str]:
    if isinstance(value, bool):
        stage, dot, option = name.rpartition(".")
        return [f"--{name}" if value else f"--{stage}{dot}no-{option}"]
    values = value if isinstance(value, tuple) else (value,)
    return [f"--{name}", *map(str, values)]


def _nearest_preset(run: Run, task: Task | None) -> tuple[str, AgentConfig]:
    """Return the preset that needs the fewest changes to become the run's settings, and its name."""
    if chosen := run.chosen():
        return DEFAULT_PRESET, chosen.config
    found: dict[str, AgentConfig] = {name: task.preset(name) for name in task.presets} if task else {}
    found = found or {"": AgentConfig()}
    return min(found.items(), key=lambda item: len(flags(run.config.learn, item[1].learn)))
