"""What is worth saying about a run, in sentences: a graph in pieces, options that do nothing, a world that has changed.

Each function returns the sentences that apply; the stages say them.
"""

from pathlib import Path

import numpy as np

from vmg.act.likeness import spread_of_starts
from vmg.act.plan import Plan
from vmg.agent.settings import AgentConfig
from vmg.data.checks import (
    angles_that_begin_again,
    clock_observations,
    constant_actions,
    fixed_observations,
    nearly_fixed_observations,
    shared_observations,
)
from vmg.data.counting import counted
from vmg.data.episodes import Episodes
from vmg.data.facts import DataFacts
from vmg.envs import Task
from vmg.evaluation import Scores
from vmg.graph import GraphConfig, MemoryGraph, SolveConfig, summarise
from vmg.graph.evidence import reachable_from
from vmg.runs.notes import Trial

STARTS = 20
"""Recorded starts from which is looked how much of a graph can be reached."""
UNPRICED = "does nothing in a greedy search, or along the paths of the published program"
SLACK = 0.25
"""Radii that a start may be off recorded ones that are all alike; the kitchen's joints 0.1 rad off make 0.4 to 1.7."""
WHOLE = 0.9
"""Share of the vertices from which on a graph counts as one piece, or as keeping every state."""


def on_data(episodes: Episodes, angles: tuple[int, ...] | None = None) -> list[str]:
    """Say what `vmg data info` would have said of recordings that nothing good can be learned from as they are.

    `angles`: columns that networks see as such: nothing more is to be said of them then.
    """
    turning = () if angles else (angles_that_begin_again,)
    fixed = (fixed_observations, shared_observations, nearly_fixed_observations)
    checks = (*fixed, *turning, clock_observations, constant_actions)
    return [sentence for check in checks if (sentence := check(episodes))]


def on_other_data(learned_from: DataFacts, episodes: Episodes) -> list[str]:
    """Say that a graph is built from other episodes than were learned from, and how they differ."""
    if episodes.digest == learned_from.digest:
        return []
    now, then = (
        f"{counted(episodes, 'episode')} with {counted(steps, 'step')}"
        for episodes, steps in ((len(episodes), episodes.n_steps), (learned_from.episodes, learned_from.steps))
    )
    differs = f"as many, {now}, but with other numbers in them" if now == then else f"{now}, and had {then}"
    return [
        f"{episodes.source} is not what the agent learned from: it has {differs}. The networks are of what it had, the "
        "graph is of what it has now. To learn from it: vmg train, with another --out."
    ]


def on_graph(graph: MemoryGraph, folder: Path, why: str = "") -> list[str]:
    """Say what the radius has made of the states, and how much of the graph can be reached.

    `why`: for what the radius was chosen from the data, if it was; said wherever another one is named.
    """
    states, radius = len(graph.labels), graph.radius
    wider, narrower = (f"vmg build {folder} --graph.radius {factor * radius:.3g}" for factor in (2, 0.5))
    reason = f". The radius {radius:.3g} was chosen from the data, and another one gives that up: {why}" if why else ""
    said = []
    if graph.n_vertices >= WHOLE * states:
        said.append(
            f"The radius {radius:g} keeps {graph.n_vertices:,} of {states:,} states as vertices of their own: episodes "
            f"hardly meet, so little can be stitched. Try a larger one: {wider}{reason}"
        )
    if graph.n_vertices <= max(2, min(10, states // 100)):
        said.append(
            f"The radius {radius:g} merges {states:,} states into "
            f"{counted(graph.n_vertices, 'vertex', 'vertices')}, too few to plan on. Try a smaller one: "
            f"{narrower}{reason}"
        )
    if graph.unrecorded:
        kinds = ", ".join(graph.unrecorded.sources)
        said.append(
            f"{len(graph.unrecorded.edges):,} of its {counted(graph.n_edges, 'edge')} nobody recorded ({kinds})."
        )
    summary = summarise(graph)
    if summary.largest_component < WHOLE:
        said.append(
            f"The graph is in {summary.components:,} pieces that no recorded step joins; the largest has "
            f"{100 * summary.largest_component:.0f} % of the vertices, and no way leads from one to another. A larger "
            f"radius joins more: {wider}{reason}"
        )
    return said


def reach_of_starts(graph: MemoryGraph) -> float:
    """Return which share of the vertices can be reached from a recorded start: the median of some of them."""
    firsts = np.cumsum(graph.lengths + 1) - (graph.lengths + 1)
    chosen = np.unique(np.linspace(0, len(firsts) - 1, STARTS).astype(int))
    return float(np.median([reachable_from(graph, int(graph.labels[row])).mean() for row in firsts[chosen]]))


def on_falls(graph: MemoryGraph, solve: SolveConfig) -> list[str]:
    """Say which falls a price on them is for."""
    if not solve.fall_cost:
        return []
    if not len(graph.falls):
        return ["The option --solve.fall-cost does nothing: no recorded fall is known in this graph."]
    ends = np.cumsum(graph.lengths + 1)
    fell = len(np.unique(np.searchsorted(ends, graph.falls, side="right")))
    return [f"{fell:,} of {counted(len(ends), 'recording')} fell."]


def on_plan(plan: Plan) -> list[str]:
    """Say from how much of the graph the recorded rewards can be had."""
    if plan.charged_steps and not plan.rewarded_steps:
        return [plan.in_words()]
    if not plan.rewarded_steps:
        return ["No recorded step is rewarded, so these values lead nowhere: name a goal, or a reward of your own."]
    share = float(plan.can_reach.mean())
    text = f"From {100 * share:.0f} % of the vertices a rewarded step can be reached"
    return [f"{text}." if share >= WHOLE else f"{text}: from the others, no recorded way leads to one."]


def pays_nothing(plan: Plan) -> bool:
    """Say whether no recorded step is worth more or less than another, so that no way there is to be explained."""
    return not (plan.has_goal or plan.rewarded_steps or plan.charged_steps)


def on_likeness(scores: Scores, graph: MemoryGraph) -> list[str]:
    """Say how far the evaluation was like the recordings, and of starts that are not."""
    found = scores.likeness
    if not found:
        return []
    said = [f"{100 * found['off_graph']:.1f} % of the steps were off the graph, farther than its radius from it."]
    if any("avoided_steps" in each.report for each in scores.episodes):  # starts may lie in what is left out of it
        return [f"{said[0][:-1]}, with what is to be avoided left out."]
    if found["start"] > 1:
        said.append(
            f"Starts are {found['start']:.1f} radii from anything recorded: the environment begins unlike the data, "
            "and scores may say more about that than about the agent."
        )
    elif found["from_starts"] > _slack(graph) + 1.5 * (spread := spread_of_starts(graph)):
        said.append(
            f"Starts are {found['from_starts']:.1f} radii from the nearest recorded start, and those are at most "
            f"{spread:.1f} from the next one: the environment is reset elsewhere than when it was recorded, and scores "
            "may say more about that than about the agent."
        )
    return said


def on_avoided(scores: Scores) -> list[str]:
    """Say in how many episodes a body was in what is to be avoided, and of how many it began there."""
    noted = [each.report for each in scores.episodes if "avoided_steps" in each.report]
    if not noted:
        return []
    begun = [each["avoided_steps"] for each in noted if each.get("began_avoided")]
    entered = [each["avoided_steps"] for each in noted if each["avoided_steps"] and not each.get("began_avoided")]
    said, others = [], "other " if begun else ""
    if begun:
        said.append(
            f"{len(begun):,} of {counted(len(noted), 'episode')} began in what is to be avoided, and spent "
            f"{counted(round(sum(begun) / len(begun)), 'step')} there in the mean."
        )
    if len(begun) == len(noted):
        return said
    if not entered:
        return [*said, f"No {others}episode entered what is to be avoided."]
    return [
        *said,
        f"{len(entered):,} of {counted(len(noted) - len(begun), f'{others}episode')} entered what is to be avoided, "
        f"for {counted(round(sum(entered) / len(entered)), 'step')} in the mean: no plan leads through it, but a body "
        "strays from its plan. Name a wider region to keep it farther off.",
    ]


def on_endings(scores: Scores, task: Task) -> list[str]:
    """Say how many episodes the environment itself ended before a goal of the user's own was reached, and the cure."""
    ended = sum(each.ended == "terminated" and each.failed for each in scores.episodes)
    if not ended or task.endless:
        return []
    return [
        f"{ended:,} of {counted(len(scores.episodes), 'episode')} the environment ended itself, with what is wanted "
        "here not reached. Where it ends at a goal of its own and an argument keeps it going, name that in the task: "
        'vmg.Task(..., endless={"ARGUMENT": VALUE}).'
    ]


def on_penalty(scores: Scores) -> list[str]:
    """Say what a penalty came to."""
    charged = [each.report["penalty"] for each in scores.episodes if "penalty" in each.report]
    if not charged:
        return []
    return [f"The penalty added up to {np.mean(charged):.4g} per episode in the mean, before its weight."]


def _slack(graph: MemoryGraph) -> float:
    """Radii that a start may be off; where only vertices are known, a recorded one can be a radius off its own."""
    return SLACK if graph.recordings else 1.0


def idle_options(config: AgentConfig, stage: str) -> list[str]:
    """Say which settings of a stage were changed and do nothing beside the others."""
    graph, solve, act = config.graph, config.solve, config.act
    usual, defaults = GraphConfig(), SolveConfig()
    kmeans, edges, greedy = graph.merging == "kmeans", solve.paths == "edges", solve.search == "greedy"
    unpriced = greedy or solve.paths == "program"
    idle = {
        "solve.switch-cost does nothing along edges: it is for --solve.paths recordings": edges
        and solve.switch_cost != defaults.switch_cost,
        "solve.search-steps does nothing in a greedy search": greedy and solve.search_steps is not None,
        "solve.path-weights does nothing in a greedy search": greedy and solve.path_weights != defaults.path_weights,
        "solve.ties does nothing in a greedy search": greedy and solve.ties != defaults.ties,
        f"solve.fall-cost {UNPRICED}": unpriced and solve.fall_cost > 0,
        f"solve.slow-cost {UNPRICED}": unpriced and solve.slow_cost > 0,
        "graph.labelling does nothing with k-means, which labels by the nearest centroid": kmeans
        and graph.labelling != usual.labelling,
        "graph.radius does nothing with k-means and --graph.clusters": kmeans
        and graph.clusters is not None
        and graph.radius != usual.radius,
        "act.noise-when does nothing without --act.noise": act.noise == 0 and act.noise_when != "always",
        "act.noise does nothing with --act.noise-when stuck unless the path is kept, --act.keep-path": act.noise > 0
        and act.noise_when == "stuck"
        and not act.keep_path,
    }
    return [f"The option --{words}." for words, applies in idle.items() if applies and words.startswith(f"{stage}.")]


def idle_workers(trial: Trial) -> list[str]:
    """Say that a number of workers does nothing where there are none."""
    if trial.executor == "here" and trial.workers not in (None, 1):
        return ["The option --workers does nothing with --on here, which is one process."]
    return []
