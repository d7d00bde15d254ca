"""Whether goals are things to be placed: what is wanted lies still until it is handled, and no recording is like that.

Play moves things from rest to rest many times in a recording, each time from another place to another. A goal is then
no recording's end, and the whole state of one such piece is hardly ever like that of another. Nor is it where what is
wanted begins anywhere and other things lie anywhere about it. But how to place things can be learned from all of them.
"""

from dataclasses import fields, replace
from typing import NamedTuple

import numpy as np

from vmg.agent.auto.choice import Choice, as_value
from vmg.base.errors import VMGError
from vmg.base.types import Bools, Float64s
from vmg.data.episodes import Episodes
from vmg.data.rests import PLAY, find_pieces, moves
from vmg.learn.config import LearnConfig
from vmg.networks.lowlevel import Placer, Translator

LIES = 0.3
"""Share of the steps in which things lie still, at least: a robot that stops at times is no thing."""
ANYWHERE = 0.5
"""A number begins anywhere where it is spread among beginnings by this share of how it is spread among all."""
MOVES, MOVED, ALONG = 1 / 3, 0.1, 0.7
"""Another thing moves in no more than the first share of the steps in which what is wanted lies still, but does so in
more than the second share of the recordings, and then along with one of the robot's numbers, by this correlation."""
LEAST = 100_000
"""Updates on play: a placer has longer ways to learn than a translator."""
BATCH = 256
"""Steps per update: half of them are the placer's."""


class Things(NamedTuple):
    """What is to be placed."""

    columns: tuple[int, ...] = ()
    """None: goals are something else."""
    choices: tuple[Choice, ...] = ()
    least: int = 1
    """Updates to learn it, at least."""


def choose_objects(episodes: Episodes, wanted: tuple[int, ...]) -> Things:
    """Return the columns of things to be placed, none where goals are something else; and why."""
    if not wanted:
        return Things()
    if missing := [column for column in wanted if not 0 <= column < episodes.observation_size]:
        raise VMGError(
            f"{episodes.source}: goals are named in column {missing[0]}, but an observation has the columns 0 to "
            f"{episodes.observation_size - 1}."
        )
    many = find_pieces(episodes.observations, episodes.lengths, wanted).of_the_middle(episodes.lengths)
    still = 1 - float(moves(episodes.observations, episodes.lengths, wanted).mean())
    lies = f"What goals name lies still in {100 * still:.0f} % of the steps and"
    if many < 1 or still < LIES:
        return Things()
    if many >= PLAY:
        found = f"is moved from rest to rest {many:g} times in the middle recording"
        return _placed(wanted, f"{lies} {found}: how to place it is learned, from all recordings.", LEAST)
    others = other_things(episodes, wanted) if begins_anywhere(episodes)[list(wanted)].any() else ()
    if not others:
        return Things()
    found = f"begins anywhere, as other things do (column {as_value(others)}): no recording is like the world."
    return _placed(wanted, f"{lies} {found} How to place it is learned, from all of them.", 1)


def _placed(columns: tuple[int, ...], why: str, least: int) -> Things:
    return Things(columns, (Choice(setting="learn.low-level.objects", value=as_value(columns), why=why),), least)


def begins_anywhere(episodes: Episodes) -> Bools:
    """Say which numbers differ about as much where recordings begin as they ever do."""
    everywhere = episodes.observations.std(0, dtype=np.float64)
    begun = episodes.observations[episodes.first_observation[:-1]].std(0, dtype=np.float64)
    return np.asarray((begun > ANYWHERE * everywhere) & (everywhere > 0))


def other_things(episodes: Episodes, wanted: tuple[int, ...]) -> tuple[int, ...]:
    """Return the columns of things that begin anywhere beside those wanted, and that the robot moves, too.

    What the weather does goes along with no number of the robot's; where a wanted thing lies from the gripper changes
    whenever the gripper moves; and a copy of its column changes only with it.
    """
    rows, columns = episodes.step_observation, range(episodes.observation_size)
    calm = ~moves(episodes.observations, episodes.lengths, wanted)[rows]
    moved = {each: calm & moves(episodes.observations, episodes.lengths, (each,))[rows] for each in columns}
    still = [each for each in columns if each in wanted or moved[each].sum() <= MOVES * calm.sum()]
    robot, begun = [each for each in columns if each not in still], begins_anywhere(episodes)
    return tuple(
        each
        for each in still
        if each not in wanted
        and begun[each]
        and len(np.unique(episodes.step_episode[moved[each]])) > MOVED * len(episodes)
        and _goes_along(episodes, each, robot, moved[each]) > ALONG
    )


def _goes_along(episodes: Episodes, column: int, robot: list[int], steps: Bools) -> float:
    """How much the changes of a column in these steps go along with those of one of the robot's numbers."""
    rows = episodes.step_observation[steps]
    changes: Float64s = episodes.observations[rows + 1].astype(np.float64) - episodes.observations[rows]
    own, others = changes[:, column], changes[:, robot]
    size = np.sqrt((own**2).sum() * (others**2).sum(0))
    found = np.abs(own @ others) / np.where(size > 0, size, 1)
    return float(found.max(initial=0.0))


def placing(learn: LearnConfig, things: Things, *, steps: int | None = None) -> LearnConfig:
    """Return how to learn a placer, besides what was chosen for the translator; `steps`: updates, if not chosen."""
    steps = steps or max(learn.steps, things.least)
    translator = learn.low_level
    assert isinstance(translator, Translator)
    chosen = {each.name: getattr(translator, each.name) for each in fields(translator)}
    placer = Placer(**chosen | {"lead": 0, "memory": max(steps // 8, 1)}, objects=things.columns)
    return replace(learn, low_level=placer, batch_size=BATCH, steps=steps, checkpoint_every=max(steps // 4, 1))


def instead(choices: tuple[Choice, ...], learn: LearnConfig, things: Things) -> tuple[Choice, ...]:
    """Return what was chosen for the translator, with what a placer learns otherwise."""
    kept = tuple(each for each in choices if each.setting != "learn.low-level.lead")
    if things.least == 1:
        return (*kept, *things.choices)
    kept = tuple(each for each in kept if each.setting != "learn.steps")
    why = f"A placer has longer ways to learn than a translator: at least {LEAST:,} updates, of {BATCH} steps each."
    return (*kept, Choice(setting="learn.steps", value=f"{learn.steps:,}", why=why), *things.choices)
