"""`vmg demo`: the whole walk on a small maze, in minutes, on any machine."""

import time
from dataclasses import dataclass
from pathlib import Path

from vmg.act.settings import ActConfig
from vmg.agent.agent import Agent
from vmg.agent.settings import AgentConfig
from vmg.base.console import say, show
from vmg.cli.options import as_text, parsed
from vmg.envs import TaskGoal, find_task
from vmg.goals import near
from vmg.graph import GraphConfig, SolveConfig
from vmg.learn.config import LearnConfig
from vmg.networks.lowlevel import Translator
from vmg.runs import Run, load_run, stages
from vmg.runs.stages import EvaluateTrial
from vmg.view.maze import draw_maze_story
from vmg.view.report import write_report
from vmg.view.tables import scores_table

# Choosing settings from the data would take longer than all the rest, so they are named here. The radius is the
# smallest of seven that covers 97 % of another recording of the medium maze, and a subgoal lies as many edges ahead as
# fit into the translator's horizon.
SETTINGS = AgentConfig(
    learn=LearnConfig(
        margins="program",
        encoder_inputs="normalised",
        low_level=Translator(inputs="relative", goal_horizon=30),
        steps=20_000,
        checkpoint_every=10_000,
    ),
    graph=GraphConfig(radius=2.0),
    solve=SolveConfig(discount=0.95, ties="nearest"),
    act=ActConfig(subgoal_steps=4),
)


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


def run(arguments: list[str]) -> None:
    """Do the walk and say what it wrote and what to try next."""
    options = parsed(Demo, "demo", arguments)
    started = time.perf_counter()
    task = find_task(f"pointmaze-{options.maze}")
    walk = Run(data=task.data, config=task.with_goal_columns(SETTINGS), folder=options.out)
    say(f"1  Data: a point pushed through the {options.maze} maze by a noisy controller, recorded on the spot.")
    say(f"2  Training: {walk.config.learn.steps:,} steps of the metric space and the action translator.")
    stages.train(walk)
    say("3  Graph: states closer than the radius become one vertex, recorded steps become edges.")
    stages.build(walk, walk.config.graph)
    say("4  Solving: values for every vertex, and the way to the best one.")
    stages.solve(walk, walk.config.solve)
    assert task.goal is not None
    _show_a_new_goal(walk.agent(0), task.goal)
    say("5  Acting: each episode names a goal, the graph is solved for it, the policy follows the path.")
    trial = EvaluateTrial(n_episodes=options.episodes, baselines=True)
    found = stages.evaluate_run(load_run(options.out), walk.config.act, trial)
    draw_maze_story(walk.agent(0), task, options.out / "maze.png")
    say("6  Looking at it: figures, a film, and one page that shows everything.")
    write_report(load_run(options.out))
    content = {method: [each.to_dict() for each in scores] for method, scores in found.items()}
    show(as_text(content) if options.json else scores_table(found))
    say(f"Done in {time.perf_counter() - started:.0f} s. In {options.out}:")
    say("  report.html    open this in a browser first: data, training, graph, scores, failures, films, commands")
    say("  maze.png       what was logged, what the graph knows, what the policy does, in one picture")
    say(f"  seed_0/        the agent: load it with vmg.Agent.load('{options.out}/seed_0'); README.md is its card")
    say("  training/      losses (metrics.csv), checkpoints")
    say("  evaluations/   every episode of every method; scores.json is the summary")
    say("Try next:")
    say(f"  vmg explore {options.out}      # the graph in your browser: ask it, paint a goal, watch it done")
    say(f"  vmg info {options.out}")
    say(f"  vmg retask {options.out} --goal position=1,1 --episodes 5      # a new task, without training")
    say(f"  vmg evaluate {options.out} --act.subgoal-steps 1      # a subgoal nearer by: watch the mean steps grow")


def _show_a_new_goal(agent: Agent, named: TaskGoal) -> None:
    """Plan for a goal nobody asked for before, and time it."""
    places = agent.built.places
    assert places is not None
    objective = near(places[len(places) // 2], columns=named.columns, tolerance=named.tolerance)
    agent.plan(objective)  # compiles, the first time on a machine
    begun = time.perf_counter()
    plan = agent.plan(objective)
    milliseconds = 1000 * (time.perf_counter() - begun)
    share = 100 * plan.can_reach.mean()
    say(f"   A new goal is solved in {milliseconds:.0f} ms; {share:.0f} % of the vertices can reach it.")
