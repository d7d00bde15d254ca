"""The demo: the whole walk on a small maze, in minutes, on any machine."""

import time
from dataclasses import dataclass
from json import dumps
from pathlib import Path

import numpy as np

from vmg import runs
from vmg.act.tasks import find_task
from vmg.agent import Agent
from vmg.console import say, show
from vmg.runs import Run, Trial, load_run
from vmg.tables import scores_table
from vmg.view.maze import draw_maze_story
from vmg.view.report import write_report


@dataclass(frozen=True)
class Demo:
    """Do the whole walk in PointMaze: make the data, train, build the graph, solve it, act, and compare with cloning.

    Takes a few minutes on two cores. Interrupted, it goes on when called again.
    """

    out: Path = Path("runs/demo")
    """Folder of the run."""
    maze: str = "medium"
    """The maze: umaze, medium or large."""
    episodes: int = 100
    """Episodes to evaluate, for each method."""
    json: bool = False
    """Print the scores as JSON."""


def run_demo(options: Demo) -> None:
    """Run the demo and say what it wrote and what to try next."""
    started = time.perf_counter()
    task = find_task(f"pointmaze-{options.maze}")
    run = Run(data=task.data, config=task.preset("ours"), folder=options.out)
    say(f"1  Data: a point pushed through the {options.maze} maze by a noisy controller, recorded on the spot.")
    say(f"2  Training: {run.config.learn.steps:,} steps of the metric space and the action translator.")
    runs.train(run)
    say("3  Graph: states closer than the radius become one vertex, recorded steps become edges.")
    runs.build(run, run.config.graph)
    say("4  Solving: values for every vertex, and the way to the best one.")
    runs.solve(run, run.config.solve)
    _show_a_new_goal(Agent.load(run.agent_folder(0)))
    say("5  Acting: each episode names a goal, the graph is solved for it, the policy follows the path.")
    trial = Trial(episodes=options.episodes, baselines=True)
    found = runs.evaluate_run(load_run(options.out), run.config.act, trial)
    draw_maze_story(Agent.load(run.agent_folder(0)), task, options.out / "maze.png")
    say("6  Looking at it: figures, a film, and one page that shows everything.")
    write_report(load_run(options.out))
    content = {method: [each.to_dict() for each in scores] for method, scores in found.items()}
    show(dumps(content, indent=2) if options.json else scores_table(found))
    say(f"Done in {time.perf_counter() - started:.0f} s. In {options.out}:")
    say("  report.html    open this in a browser first: data, training, graph, scores, failures, films, commands")
    say("  maze.png       what was logged, what the graph knows, what the policy does, in one picture")
    say(f"  seed_0/        the agent: load it with vmg.Agent.load('{options.out}/seed_0'); README.md is its card")
    say("  training/      losses (metrics.csv), checkpoints")
    say("  evaluations/   every episode of every method; scores.json is the summary")
    say("Try next:")
    say(f"  vmg info {options.out}")
    say(f"  vmg evaluate {options.out} --act.subgoal-steps 1      a subgoal nearer by: watch the mean steps grow")
    say("  vmg train minari:D4RL/kitchen/partial-v2 --out runs/kitchen      other data, the same three commands after")


def _show_a_new_goal(agent: Agent) -> None:
    """Solve for a goal nobody asked for before, and time it."""
    assert agent.places is not None
    place = agent.places[len(agent.places) // 2]
    agent.goal(place)  # compiles, the first time on a machine
    begun = time.perf_counter()
    solution, found = agent.goal(place)
    milliseconds = 1000 * (time.perf_counter() - begun)
    reaching = np.isin(solution.targets, np.flatnonzero(found.vertices)).mean()
    say(f"   A new goal is solved in {milliseconds:.0f} ms; {100 * reaching:.0f} % of the vertices can reach it.")
