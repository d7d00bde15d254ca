"""The two stages of choosing: before anything is learned, and after."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from vmg.act.settings import ActConfig
from vmg.agent.auto.choice import Chosen
from vmg.agent.auto.graphs import choose_graph
from vmg.agent.auto.learning import Learned, choose_learning, held_out_of
from vmg.agent.auto.objects import choose_objects, instead, placing
from vmg.agent.settings import AgentConfig
from vmg.base.arguments import checked
from vmg.base.settings import Bounds
from vmg.data.episodes import Episodes
from vmg.graph.settings import GraphConfig, SolveConfig
from vmg.networks.encoder import embed
from vmg.networks.weights import Weights

SWITCH = 10.0
"""What a switch costs for each recorded step that observations differ by: a body comes over by itself, but it takes
time, and may fail."""


@checked
def choose(
    episodes: Episodes, folder: Path | None = None, *, steps: Annotated[int, Bounds(1)] | None = None,
    goal_columns: Sequence[int] = (), angles: Sequence[int] | None = None, show_progress: bool | None = None,
) -> Chosen:  # fmt: skip
    """Choose how to learn. A `folder` keeps what was learned to find out, so that a killed choice goes on.

    `steps`: updates to learn for, where that is not to be chosen. `goal_columns`: those of the observation in which
    goals will be named, where that is known; what they name may be things to be placed. `angles`: columns that
    are, where that is known.
    """
    things = choose_objects(episodes, tuple(goal_columns))
    learned = choose_learning(episodes, folder, steps=steps, angles=angles, show_progress=show_progress)
    learn = placing(learned.config, things, steps=steps) if things.columns else learned.config
    config = AgentConfig(
        learn=learn,
        graph=GraphConfig(recordings=learned.paths != "edges", goal_columns=tuple(goal_columns)),
        solve=_solving(learned.paths),
        act=_acting(learned),
    )
    choices = instead(learned.choices, learn, things) if things.columns else learned.choices
    return Chosen(config=config, choices=choices)


def _solving(paths: str) -> SolveConfig:
    if paths == "edges":
        return SolveConfig(paths=paths)
    return SolveConfig(paths=paths, ties="nearest", switch_cost=SWITCH)


def _acting(learned: Learned) -> ActConfig:
    act = ActConfig(subgoal_steps=learned.subgoal_steps)
    if learned.paths == "edges":
        return act
    return replace(act, keep_path=True, noise=learned.noise, noise_when="stuck")


def complete(chosen: Chosen, models: Sequence[Weights], episodes: Episodes) -> Chosen:
    """Choose the graph's settings, with the first of the models: others put the data elsewhere, but as far apart."""
    config = chosen.config
    known, held_out = held_out_of(episodes)
    features, held = (embed(models[0], each.observations) for each in (known, held_out))
    found = choose_graph(known, features, held_out, held, alike=config.graph.recordings)
    graph = replace(config.graph, radius=found.radius, unhandled=found.unhandled)
    solve = replace(config.solve, discount=found.discount)
    return Chosen(config=replace(config, graph=graph, solve=solve), choices=(*chosen.choices, *found.choices))
