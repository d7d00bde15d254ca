"""Rows of the paper's table of settings, and what the families of tasks share."""

from dataclasses import replace

from vmg.act.settings import ActConfig
from vmg.agent.settings import AgentConfig
from vmg.envs.task import TASKS, Task
from vmg.graph.settings import GraphConfig, SolveConfig
from vmg.learn.config import LearnConfig
from vmg.networks.lowlevel import Translator


def paper_settings(radius: float, discount: float, subgoal_steps: int, search_steps: int | None) -> AgentConfig:
    """A row of the paper's table of settings (App. D)."""
    return AgentConfig(
        graph=GraphConfig(radius=radius),
        solve=SolveConfig(discount=discount, search_steps=search_steps),
        act=ActConfig(subgoal_steps=subgoal_steps, paid_states=False),
    )


def program_settings(paper: AgentConfig) -> AgentConfig:
    """The same row as the published program reads it: its losses, networks, labels, values, paths and stuck logic."""
    translator = Translator(squashed=True, past_end="around")
    learn = LearnConfig(margins="program", decoder_output="sampled", action_errors="averaged", low_level=translator)
    return replace(
        paper,
        learn=learn,
        graph=replace(paper.graph, labelling="online"),
        solve=replace(paper.solve, paths="program"),
        act=replace(paper.act, keep_path=True),
    )


def add_tasks(*tasks: Task) -> None:
    """Register tasks by their own names."""
    for task in tasks:
        TASKS.add(task.name, task)


def d4rl_files(*names: str) -> tuple[str, ...]:
    """Patterns of D4RL's files of these names, wherever they lie."""
    return tuple(f"d4rl:{folder}{name}.hdf5" for name in names for folder in ("", "*/"))


def get_d4rl(name: str) -> str:
    """Say how to get one of D4RL's files."""
    return f"download {name}.hdf5 from D4RL's published files and pass d4rl:PATH"
