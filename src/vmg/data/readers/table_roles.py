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
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from vmg.base.errors import VMGError
from vmg.data.keys import is_goal
from vmg.data.readers.base import with_options
from vmg.data.readers.table_files import is_number, place_of

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
        parts[part] = given[part] if part in given else _guess(columns, part, taken, source)
    taken = {name for names in (*given.values(), *parts.values()) for name in names}
    state = given.get("state") or _guess_state(columns, taken, source)
    _refuse_gaps(columns, parts, state, named, source)
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


def _guess(columns: Mapping[str, NDArray[Any]], part: str, taken: set[str], source: str) -> tuple[str, ...]:
    fitting = [name for name in columns if name not in taken and re.fullmatch(GUESSES[part], name.lower())]
    if part != "episode":
        fitting = _numbers(columns, fitting, source)
    return tuple(fitting[:1] if part in SINGLE else fitting)


def _guess_state(columns: Mapping[str, NDArray[Any]], taken: set[str], source: str) -> tuple[str, ...]:
    free = [name for name in columns if name not in taken and not is_goal(name)]
    plain = _numbers(columns, [name for name in free if re.fullmatch(GUESSES["state"], name.lower())], source)
    other = (NO_STATE, *(GUESSES[part] for part in GUESSES if part != "state"))
    rest = [name for name in free if not any(re.fullmatch(each, name.lower()) for each in other)]
    return tuple(plain or _numbers(columns, rest, source))


def _numbers(columns: Mapping[str, NDArray[Any]], names: Sequence[str], source: str) -> list[str]:
    """Return the columns of numbers; refuse one of numbers but for some cells, which would be missed without a word."""
    for name in names:
        cells = columns[name]
        given = [] if _is_numbers(cells) or cells.ndim > 1 else [cell for cell in cells if not _is_empty(cell)]
        if 2 * sum(_is_meant_as_number(cell) for cell in given) > len(given):
            raise VMGError(
                f"{_not_a_number(columns, name, source)}, but most of that column is. Repair it, or name what to read "
                "without it, for example state=NAME,NAME_*."
            )
    return [name for name in names if _is_numbers(columns[name])]


def _refuse_gaps(
    columns: Mapping[str, NDArray[Any]], parts: Mapping[str, Sequence[str]], state: Sequence[str],
    named: Mapping[str, str | None], source: str,
) -> None:  # fmt: skip
    listed = f"Its columns: {', '.join(columns)}."
    if not parts["episode"] and not parts["terminated"] and not parts["truncated"]:
        example = with_options(source, {**named, "episode": "COLUMN"})
        raise VMGError(f"{source}: no column says which episode a row belongs to. Name it: '{example}'. {listed}")
    for part, names in (("action", parts["action"]), ("state", state)):
        if not names:
            raise VMGError(
                f"{source}: no column looks like {'an action' if part == 'action' else 'a state'}. Name columns or "
                f"patterns: '{with_options(source, {**named, part: 'NAME,NAME_*'})}'. {listed}"
            )
    for name in (*parts["action"], *state, *(name for part in SINGLE for name in parts[part])):
        if not _is_numbers(columns[name]):
            cure = " Rows that stand in the order of time need no step." if name in parts["step"] else ""
            raise VMGError(f"{_not_a_number(columns, name, source)}.{cure}")


def _not_a_number(columns: Mapping[str, NDArray[Any]], name: str, source: str) -> str:
    cells = columns[name].ravel()
    row = next((i for i, cell in enumerate(cells) if not _is_empty(cell) and not is_number(str(cell))), 0)
    comma = " (decimals need a point)" if _is_meant_as_number(cells[row]) else ""
    place = place_of(Path(source.removeprefix("table:")), row // (columns[name].size // len(columns[name])))
    return f"{source}: the column {name!r} holds {cells[row]!r} in {place}, which is no number{comma}"


def _is_empty(cell: Any) -> bool:
    return cell is None or str(cell).strip().lower() in ("", "nan")


def _is_meant_as_number(cell: Any) -> bool:
    return is_number(str(cell)) or bool(re.fullmatch(r"[-+]?\d*,\d+", str(cell).strip()))


def _is_numbers(cells: NDArray[Any]) -> bool:
    return cells.dtype.kind in "biuf"
