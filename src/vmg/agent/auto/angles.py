"""Angles that begin again: networks see their sine and cosine, and all else keeps the numbers that were recorded."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from vmg.agent.auto.choice import Choice, as_value
from vmg.data.angles import angles, turns_of
from vmg.data.episodes import Episodes
from vmg.data.fields import column_names
from vmg.learn.config import LearnConfig
from vmg.networks.angles import angles_part, own_columns, turned_episodes
from vmg.networks.lowlevel.translator import Translator


def choose_angles(
    episodes: Episodes, named: Sequence[int] | None = None
) -> tuple[Episodes, tuple[int, ...], tuple[Choice, ...]]:
    """Return episodes as networks see them, the columns that are angles, those named if any are, and why."""
    found = angles(episodes.observations, episodes.lengths) if named is None else turns_of(episodes, named)
    seen, columns = turned_episodes(episodes, angles_part(found)), tuple(sorted(found))
    return seen, columns, () if named is not None or not found else (_why(episodes, found),)


def in_own_columns(config: LearnConfig, angles: Sequence[int], episodes: Episodes) -> LearnConfig:
    """Return settings that were chosen for what networks see of episodes as they are for these themselves."""
    translator = config.low_level
    if not angles or not isinstance(translator, Translator):
        return config
    size = episodes.observation_size
    own = own_columns(translator.columns, angles, size)
    return replace(config, angles=tuple(angles), low_level=replace(translator, columns=own if len(own) < size else ()))


def _why(episodes: Episodes, found: Mapping[int, float]) -> Choice:
    names = column_names(episodes.fields, episodes.observation_size)
    each = ", ".join(f"{names[column]} after {turn:.4g}" for column, turn in sorted(found.items()))
    why = f"They begin again, {each}: networks see sine and cosine instead, in which no two angles are a turn apart."
    return Choice(setting="learn.angles", value=as_value(tuple(sorted(found))), why=why)
