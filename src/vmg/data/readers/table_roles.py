"""What each column of a table is: named by the user, or guessed from its name.

episode       episode, episode_id, trajectory, demo, run, ...
step          step, t, frame, time, timestamp, ...
action        action, action_*, a0, u0, cmd_*, ...
reward        reward, rewards, r
terminated    terminated, terminal, done, ...
truncated     truncated, timeout, ...
state         obs_*, observation_*, state_*, s0, o0; where there are none of these, every other column of numbers but
              goals, times, counters and next_*
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from numpy.typing import NDArray

from vmg.base.errors import VMGError
from vmg.data.keys import is_goal

GUESSES = {
    "episode": r"(episode|ep|traj|trajectory|demo|run|rollout)([_. ]?(index|idx|id|nr|no|number))?",
    "step": r"t|step|frame|time|timestamp|(step|frame|time)[_. ]?(index|idx|id|nr|no|number|step|stamp)",
    "action": r"(actions?|act|cmd|command|control)([_. \[].*|\d+)?|[au]([_.\[]?\d+\]?|[_.][a-z0-9]+)",
    "reward": r"rewards?|r|next\.reward",
    "terminated": r"terminated|terminals?|terminations?|dones?|next\.done",
    "truncated": r"truncated|truncations?|timeouts?",
    "state": r"(obs|observations?|states?)([_. \[].*|\d+)?|[os]_?\d+",
}
SINGLE = ("reward", "terminated", "truncated", "step")
NO_STATE = r"index|task_index|seed|success|is_success|unnamed: \d+|__index_level_\d+__||(next|info)[_.].*"


@dataclass(frozen=True)
class Roles:
    """The columns that play each part; empty where none does."""

    episode: tuple[str, ...]
    state: tuple[str, ...]
    action: tuple[str, ...]
    reward: str = ""
    terminated: str = ""
    truncated: str = ""
    step: str = ""

    @property
    def used(self) -> set[str]:
        """All columns that play a part."""
        single = (self.reward, self.terminated, self.truncated, self.step)
        return {name for name in (*self.episode, *self.state, *self.action, *single) if name}


def assign(columns: Mapping[str, NDArray[Any]], named: Mapping[str, str | None], source: str) -> Roles:
    """Give every part its columns: those the user named (texts with patterns), or else the guess."""
    given = {part: _matching(columns, part, told, source) for part, told in named.items() if told is not None}
    parts: dict[str, tuple[str, ...]] = {}
    for part in ("episode", "reward", "terminated", "truncated", "step", "action"):
        taken = {name for names in (*given.values(), *parts.values()) for name in names}
        parts[part] = given[part] if part in given else _guess(columns, part, taken)
    taken = {name for names in (*given.values(), *parts.values()) for name in names}
    state = given.get("state") or _guess_state(columns, taken)
    _refuse_gaps(columns, parts, state, source)
    single = {part: next(iter(parts[part]), "") for part in SINGLE}
    return Roles(episode=parts["episode"], state=state, action=parts["action"], **single)


def _matching(columns: Mapping[str, Any], part: str, told: str, source: str) -> tuple[str, ...]:
    """Return the columns that comma-separated names and patterns mean, in that order."""
    found: list[str] = []
    for wanted in filter(None, told.split(",")):
        matches = [wanted] if wanted in columns else [name for name in columns if fnmatchcase(name, wanted)]
        if not matches:
            raise VMGError(f"{source}: no column matches {part}={wanted}. Its columns: {', '.join(columns)}.")
        found += [name for name in matches if name not in found]
    if part in SINGLE and len(found) > 1:
        raise VMGError(f"{source}: {part} must be one column, but {told!r} means {', '.join(found)}.")
    return tuple(found)


def _guess(columns: Mapping[str, NDArray[Any]], part: str, taken: set[str]) -> tuple[str, ...]:
    fitting = [name for name in columns if name not in taken and re.fullmatch(GUESSES[part], name.lower())]
    if part != "episode":
        fitting = [name for name in fitting if _is_numbers(columns[name])]
    return tuple(fitting[:1] if part in SINGLE else fitting)


def _guess_state(columns: Mapping[str, NDArray[Any]], taken: set[str]) -> tuple[str, ...]:
    free = [name for name, cells in columns.items() if name not in taken and _is_numbers(cells) and not is_goal(name)]
    plain = [name for name in free if re.fullmatch(GUESSES["state"], name.lower())]
    other = (NO_STATE, *(GUESSES[part] for part in GUESSES if part != "state"))
    return tuple(plain or [name for name in free if not any(re.fullmatch(each, name.lower()) for each in other)])


def _refuse_gaps(
    columns: Mapping[str, NDArray[Any]], parts: Mapping[str, Sequence[str]], state: Sequence[str], source: str
) -> None:
    listed = f"Its columns: {', '.join(columns)}."
    if not parts["episode"] and not parts["terminated"] and not parts["truncated"]:
        raise VMGError(
            f"{source}: no column says which episode a row belongs to. Name it: '{source}?episode=COLUMN'. {listed}"
        )
    for part, names in (("action", parts["action"]), ("state", state)):
        if not names:
            raise VMGError(
                f"{source}: no column looks like {'an action' if part == 'action' else 'a state'}. Name columns or "
                f"patterns: '{source}?{part}=NAME,NAME_*'. {listed}"
            )
    for name in {*parts["action"], *state, *(name for part in SINGLE for name in parts[part])}:
        if not _is_numbers(columns[name]):
            raise VMGError(f"{source}: the column {name!r} holds {columns[name].ravel()[0]!r}, which is no number.")


def _is_numbers(cells: NDArray[Any]) -> bool:
    return cells.dtype.kind in "biuf"
