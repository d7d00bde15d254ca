"""Settings of the graph, chosen from where a learned model puts the recorded observations.

The radius is the smallest at which the graph knows nearly all observations of episodes held out, and from where
episodes begin leads nearly everywhere that it ever will; but none at which doors that are open and shut are one.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from vmg.agent.auto.choice import Choice, as_value
from vmg.agent.auto.unhandled import unhandled_columns
from vmg.base.types import Float32s
from vmg.data.episodes import Episodes
from vmg.graph import MemoryGraph, build, summarise
from vmg.graph.evidence import reachable_from
from vmg.graph.sight import APART, Sight

RADII = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
"""Radii tried, in recorded steps of mean length."""
UNLIKE = 2.0
"""The least radius, in steps, where none covers enough of the episodes held out."""
COVERED = 0.9
REACHED = 0.8
"""Share of what any of the radii reaches."""
FEW = 5
"""Episodes held out below which coverage says little: two of twenty may be unlike the rest by chance."""
MIXED, AWAY = 0.06, 0.25
"""In so many observations an object may be elsewhere than in their vertex, by this share of all the way it moves."""
BESIDE = APART / 2
"""Or by so many of its own steps, if it began that far from where it did in the vertex's recording: two of a vertex are
then no farther apart than what lies elsewhere. What begins in one place differs in how far along its way it is; what
begins anywhere lies where a recording finds it or not."""
LEFT = 1 / 3
"""Share of what the radius would cover and reach, were it not for objects, that is left to it where these are told
apart: less is no graph to plan on, whatever it tells apart; with half of it blocks were still carried better."""
ENOUGH = "The smallest that covers and reaches enough."
STARTS = 30
"""Episodes from whose beginnings it is asked what can be reached."""


class Tried(NamedTuple):
    """What a radius does."""

    radius: float
    covered: float
    """Share of the observations held out that lie within it."""
    reached: float
    """Share of the vertices that can be reached from where an episode begins."""
    steps_per_edge: float
    mixed: float
    """Share of the observations in which an object is elsewhere than in their vertex, for the object where most are."""


@dataclass(frozen=True)
class GraphChosen:
    """The radius and the discount, which columns nobody handles, and why."""

    radius: float
    discount: float
    unhandled: tuple[int, ...]
    choices: tuple[Choice, ...]


def choose_graph(
    known: Episodes, features: Float32s, held_out: Episodes, held: Float32s, *, alike: bool = True
) -> GraphChosen:
    """Try radii on the graph of some episodes and their features, with others held out.

    `alike`: whether recordings come near one another at all; if not, each is to stay by itself.
    """
    step = step_length(known, features)
    sight = _built(features, known, UNLIKE * step, recordings=True).sight
    tried = [_tried(known, features, held_out, held, times * step, sight) for times in RADII]
    wanted, why = _choose(tried, judged=len(held_out) >= FEW, alike=alike)
    alone: Mapping[int, float] = {}
    if why == ENOUGH and wanted.mixed > MIXED:
        mixed = _mixed_objects(_built(features, known, wanted.radius), known, sight)
        alone = unhandled_columns(known, sight, [column for column, share in mixed.items() if share > MIXED])
    if alone:
        handled = replace(sight, objects=sight.objects & ~np.isin(np.arange(len(sight.objects)), list(alone)))
        tried = [_tried(known, features, held_out, held, times * step, handled) for times in RADII]
        wanted, why = _choose(tried, judged=True, alike=True)
    chosen, why = _told_apart(tried, wanted) if why == ENOUGH else (wanted, why)
    choices = (*_choices(tried, chosen, why, known), *_left_alone(alone))
    return GraphChosen(chosen.radius, _discount(known, chosen), tuple(alone), choices)


def _choose(tried: list[Tried], *, judged: bool, alike: bool) -> tuple[Tried, str]:
    """The smallest that reaches and covers enough, or else reaches enough and is not too small; and why."""
    least = tried[RADII.index(UNLIKE)]
    if not alike:
        return least, "Episodes are unlike one another: two recorded steps, so that each stays by itself."
    everywhere = max(each.reached for each in tried)
    reaching = [each for each in tried if each.reached >= REACHED * everywhere]
    enough = [each for each in reaching if judged and each.covered >= COVERED]
    wide = [each for each in reaching if each.radius >= least.radius]
    if enough:
        return enough[0], ENOUGH
    why = "None covers enough of what was held out" if judged else "Too little was held out to judge coverage by"
    return (wide or [least])[0], f"{why}: the smallest from two recorded steps on that reaches enough."


def _told_apart(tried: list[Tried], chosen: Tried) -> tuple[Tried, str]:
    """The radius chosen or, where it merges states with an object elsewhere, the largest that does not; and why.

    It leaves a share of what is covered and reached; where none that tells apart does, the smallest that leaves it.
    """
    if chosen.mixed <= MIXED:
        return chosen, ENOUGH
    smaller = [each for each in tried if each.radius < chosen.radius]
    apart = [each for each in smaller if each.mixed <= MIXED]
    if not apart:
        return chosen, "The smallest that covers and reaches enough; all merge states in which objects are elsewhere."
    would = f"To cover and reach enough would take {chosen.radius:.3g}."
    left = [each for each in smaller if each.covered >= LEFT * chosen.covered and each.reached >= LEFT * chosen.reached]
    if apart[-1] in left:
        why = f"The largest that tells apart where objects are, in all but {100 * MIXED:.0f} % of the observations."
        return apart[-1], f"{why} {would}"
    between = (left or [chosen])[0]
    why = (
        f"To tell apart where objects are would take {apart[-1].radius:.3g}, which covers "
        f"{100 * apart[-1].covered:.0f} % and reaches {100 * apart[-1].reached:.0f} %: too little to plan on. The "
        f"smallest that leaves at least a third of what {chosen.radius:.3g} covers and reaches."
    )
    return between, why


def _left_alone(columns: Mapping[int, float]) -> tuple[Choice, ...]:
    """Say which columns count as no object."""
    if not columns:
        return ()
    most = 100 * max(columns.values())
    why = (
        "Most of the time these columns stand still, as objects do, but they begin to change wherever the robot is and "
        f"whatever it does ({most:.0f} % of the beginnings at most are nearer to another than to a step at rest, 50 % "
        "are by chance): nobody handles them, and no radius tells them apart. If somebody does: vmg build RUN "
        "--graph.unhandled, without a number."
    )
    return (Choice(setting="graph.unhandled", value=as_value(tuple(columns)), why=why),)


def step_length(episodes: Episodes, features: Float32s) -> float:
    """Mean length of a recorded step in the metric space; 1 where nothing moves."""
    rows = episodes.step_observation
    length = float(np.linalg.norm(features[rows + 1] - features[rows], axis=1).mean(dtype=np.float64))
    return length or 1.0


def _tried(
    known: Episodes, features: Float32s, held_out: Episodes, held: Float32s, radius: float, sight: Sight
) -> Tried:
    graph = _built(features, known, radius)
    summary = summarise(graph, held_out=held_out, held_out_features=held)
    mixed = _mixed(graph, known, sight)
    return Tried(radius, summary.covered_observations or 0.0, _reached(graph, known), summary.steps_per_edge, mixed)


def _built(features: Float32s, episodes: Episodes, radius: float, *, recordings: bool = False) -> MemoryGraph:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of radii that are too small or too large: they are only tried
        return build(features, episodes, radius, recordings=recordings)


def _mixed(graph: MemoryGraph, episodes: Episodes, sight: Sight) -> float:
    return max(_mixed_objects(graph, episodes, sight).values(), default=0.0)


def _mixed_objects(graph: MemoryGraph, episodes: Episodes, sight: Sight) -> dict[int, float]:
    """Return for every object's column in how many observations it is elsewhere than in their vertex."""
    shares: dict[int, float] = {}
    vertex_rows = graph.rows[graph.labels]
    begun = np.repeat(episodes.first_observation[:-1], episodes.lengths + 1)
    for column in np.flatnonzero(sight.objects):
        now, first = episodes.observations[:, column], episodes.observations[begun, column]
        apart, began = np.abs(now - now[vertex_rows]), np.abs(first - first[vertex_rows])
        beside = BESIDE * sight.steps[column]
        elsewhere = (apart > AWAY * sight.widths[column]) | ((apart > beside) & (began > beside))
        shares[int(column)] = float(elsewhere.mean())
    return shares


def _reached(graph: MemoryGraph, episodes: Episodes) -> float:
    every = max(len(episodes) // STARTS, 1)
    starts = np.unique(graph.labels[episodes.first_observation[:-1:every]])
    return float(np.mean([reachable_from(graph, int(start)).mean() for start in starts]))


def _discount(episodes: Episodes, chosen: Tried) -> float:
    """So that a reward counts about as many edges ahead as a recorded episode has."""
    edges = float(np.median(episodes.lengths)) / chosen.steps_per_edge
    return round(float(np.clip(1 - 1 / max(edges, 1.0), 0.95, 0.99)), 3)


def _choices(tried: list[Tried], chosen: Tried, why: str, episodes: Episodes) -> tuple[Choice, ...]:
    facts = (
        f"It covers {100 * chosen.covered:.0f} % of the observations held out; from where episodes begin "
        f"{100 * chosen.reached:.0f} % of the vertices can be reached; an edge takes {chosen.steps_per_edge:.1f} steps."
    )
    radius = Choice(
        setting="graph.radius",
        value=f"{chosen.radius:.3g}",
        why=f"{why} {facts}",
        tried=tuple((f"{each.radius:.3g}", 1 - each.covered) for each in tried),
        judged_by="share of held-out observations it does not cover",
    )
    discount = Choice(
        setting="solve.discount",
        value=f"{_discount(episodes, chosen):g}",
        why="A reward counts about as many edges ahead as a recorded episode has, from 20 to 100.",
    )
    return radius, discount
