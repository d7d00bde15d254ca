"""`vmg solve`: reward the edges and solve the graph."""

from dataclasses import dataclass, field

import tyro

from vmg.cli.options import RunFolder, end, named_run, parsed
from vmg.graph.settings import SolveConfig
from vmg.runs import load_run, stages
from vmg.runs.commands import after_solving


@dataclass(frozen=True)
class Solve:
    """Reward the graph's edges with the data's rewards and solve it: values, targets and routes for every vertex.

    Where the environment names the goal of each episode, evaluation plans for that goal, and this is only a start.
    """

    run: RunFolder
    """The run's folder."""
    solve: SolveConfig = field(default_factory=SolveConfig)
    json: bool = False
    """Print JSON."""


def run(arguments: list[str]) -> None:
    """Solve the graph of every agent."""
    named = named_run(arguments)
    options = parsed(Solve, "solve", arguments, run=tyro.MISSING, solve=named.config.solve if named else SolveConfig())
    stages.solve(named or load_run(options.run), options.solve)
    end(options.json, options.run, f"Next: {after_solving(load_run(options.run))}")
