"""Whether goals are things to be placed: what is wanted lies still until it is handled, over and over again.

Play moves things from rest to rest many times in a recording, each time from another place to another. A goal is then
no recording's end, and the whole state of one such piece is hardly ever like that of another. But how to place things
can be learned from all of them.
"""

from dataclasses import fields, replace

import numpy as np

from vmg.agent.auto.choice import Choice, as_value
from vmg.base.errors import VMGError
from vmg.data.episodes import Episodes
from vmg.data.rests import find_pieces, moves
from vmg.learn.config import LearnConfig
from vmg.networks.lowlevel import Placer, Translator

PLAY = 3
"""Pieces of the middle recording from which on recordings are play."""
LIES = 0.3
"""Share of the steps in which things lie still, at least: a robot that stops at times is no thing."""
LEAST = 100_000
"""Updates: a placer has longer ways to learn than a translator."""
BATCH = 256
"""Steps per update: half of them are the placer's."""


def choose_objects(episodes: Episodes, wanted: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[Choice, ...]]:
    """Return the columns of things to be placed, none where goals are something else; and why."""
    if not wanted:
        return (), ()
    if missing := [column for column in wanted if not 0 <= column < episodes.observation_size]:
        raise VMGError(
            f"{episodes.source}: goals are named in column {missing[0]}, but an observation has the columns 0 to "
            f"{episodes.observation_size - 1}."
        )
    pieces = find_pieces(episodes.observations, episodes.lengths, wanted)
    many = float(np.median(np.diff(np.searchsorted(pieces.first, episodes.first_observation))))
    still = 1 - float(moves(episodes.observations, episodes.lengths, wanted).mean())
    if many < PLAY or still < LIES:
        return (), ()
    why = (
        f"What goals name lies still in {100 * still:.0f} % of the steps and is moved from rest to rest {many:g} times "
        "in the middle recording: how to place it is learned, from all recordings."
    )
    return wanted, (Choice(setting="learn.low-level.objects", value=as_value(wanted), why=why),)


def placing(learn: LearnConfig, objects: tuple[int, ...], *, steps: int | None = None) -> LearnConfig:
    """Return how to learn a placer, besides what was chosen for the translator; `steps`: updates, if not chosen."""
    steps = steps or max(learn.steps, LEAST)
    translator = learn.low_level
    assert isinstance(translator, Translator)
    chosen = {each.name: getattr(translator, each.name) for each in fields(translator)}
    placer = Placer(**chosen | {"lead": 0, "memory": max(steps // 8, 1)}, objects=objects)
    return replace(learn, low_level=placer, batch_size=BATCH, steps=steps, checkpoint_every=max(steps // 4, 1))


def instead(choices: tuple[Choice, ...], learn: LearnConfig) -> tuple[Choice, ...]:
    """Return what was chosen for the translator, with what a placer learns otherwise."""
    why = f"A placer has longer ways to learn than a translator: at least {LEAST:,} updates, of {BATCH} steps each."
    kept = tuple(each for each in choices if each.setting not in ("learn.steps", "learn.low-level.lead"))
    return (*kept, Choice(setting="learn.steps", value=f"{learn.steps:,}", why=why))
