"""`vmg build`: merge states into a graph."""

from dataclasses import dataclass, field
from shlex import join

import tyro

from vmg.cli.options import RunFolder, end, named_run, parsed
from vmg.graph.settings import GraphConfig
from vmg.runs import load_run, stages


@dataclass(frozen=True)
class Build:
    """Merge the states of a run into the vertices of a graph, and join them by the recorded steps."""

    run: RunFolder
    """The run's folder."""
    graph: GraphConfig = field(default_factory=GraphConfig)
    json: bool = False
    """Print JSON."""


def run(arguments: list[str]) -> None:
    """Build the graph of every agent."""
    named = named_run(arguments)
    options = parsed(Build, "build", arguments, run=tyro.MISSING, graph=named.config.graph if named else GraphConfig())
    stages.build(named or load_run(options.run), options.graph)
    end(options.json, options.run, f"Next: {join(['vmg', 'solve', str(options.run)])}")
