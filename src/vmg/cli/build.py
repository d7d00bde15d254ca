"""`vmg build`: merge states into a graph."""

from dataclasses import dataclass, field
from shlex import join

import tyro

from vmg.base.errors import VMGError
from vmg.cli.options import RunFolder, end, named_run, parsed, peek
from vmg.graph.settings import GraphConfig
from vmg.runs import load_run, stages
from vmg.runs.notes import On


@dataclass(frozen=True)
class Build:
    """Merge the states of a run into the vertices of a graph, and join them by the recorded steps."""

    run: RunFolder
    """The run's folder."""
    on: On = "processes"
    workers: int | None = None
    """Workers of a cluster, or cores of this machine; None: all. They change the time, not the graph."""
    graph: GraphConfig = field(default_factory=GraphConfig)
    json: bool = False
    """Print JSON."""


def run(arguments: list[str]) -> None:
    """Build the graph of every agent."""
    named = named_run(arguments)
    if (other := peek(arguments, "--data")) is not None:
        raise VMGError(
            f"A run keeps to its data, so vmg build takes no --data. vmg grow RUN {other} adds episodes to the graph; "
            f"vmg train {other} --out OTHER learns from them."
        )
    options = parsed(Build, "build", arguments, run=tyro.MISSING, graph=named.config.graph if named else GraphConfig())
    stages.build(named or load_run(options.run), options.graph, on=options.on, workers=options.workers)
    end(options.json, options.run, f"Next: {join(['vmg', 'solve', str(options.run)])}")
