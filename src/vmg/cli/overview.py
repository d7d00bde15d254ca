"""What `vmg` answers without loading anything: which commands there are, and its version."""

import sys
from collections.abc import Sequence
from importlib import import_module

INTERRUPTED = 130
"""The exit code of a command that was interrupted, as shells have it."""

OVERVIEW = """vmg: from logged episodes to a graph you can see, question and re-task, and a policy that follows it.

usage: vmg COMMAND [OPTIONS]

  demo        the whole walk on a small maze, in minutes: data, training, graph, policy, scores
  data info   what a data set holds, and anything suspicious              vmg data info pointmaze:medium
  data save   write a data set to one file, for another machine           vmg data save pointmaze:medium maze.npz
  train       learn the networks from a data set                          vmg train pointmaze:medium --out runs/maze
  build       merge the states of a run into a graph                      vmg build runs/maze
  solve       reward the graph's edges and solve it                       vmg solve runs/maze
  grow        add episodes that came later, without training again        vmg grow runs/maze npz:monday.npz
  evaluate    act in the environment and score it                         vmg evaluate runs/maze --baselines
  info        what a run or an agent is, and what it scored               vmg info runs/maze
  retask      give it a new task, without training                        vmg retask runs/maze --goal position=1,1
  reproduce   measure a table of the paper, or its ablations              vmg reproduce main --tasks kitchen-partial
  sweep       try settings on held-out data or by score, keep the best    vmg sweep pointmaze:umaze --out runs/sweep ...
  draw        figures and films of a run, as files                        vmg draw runs/maze --films 0
  report      one page to read in a browser: all of the above             vmg report runs/maze
  explore     see, ask and re-task a run's graph with the mouse           vmg explore runs/maze

`vmg COMMAND --help` explains a command and lists its options; `--extension FILE` runs a file that adds to them.
A stage that is interrupted goes on when called again.
"""


def answered(given: Sequence[str]) -> bool:
    """Write the overview or the version, if that is all that is asked for."""
    if not given or given[0] in ("--help", "-h", "help"):
        sys.stdout.write(OVERVIEW)
    elif given[0] == "--version":
        sys.stdout.write(import_module("vmg.base.versions").package_version() + "\n")
    else:
        return False
    return True


def interrupted() -> int:
    """Say that a command was interrupted and how it goes on; return its exit code."""
    sys.stderr.write("Interrupted. Call the same command again to go on.\n")
    return INTERRUPTED
