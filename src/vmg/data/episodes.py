"""Episodes: the one container every stage reads.

    episode of T steps   o_0 --a_0,r_0--> o_1 --a_1,r_1--> o_2 ... --a_{T-1},r_{T-1}--> o_T

All episodes lie end to end in flat arrays, so an episode of T steps owns T+1 rows of `observations` and T rows of
`actions` and `rewards`:

    episode         |     0     |   1   |        lengths        2, 1
    observations    | o0 o1 o2  | o0 o1 |        n_steps + n_episodes rows
    actions         | a0 a1     | a0    |        n_steps rows
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vmg.base.arguments import checked, numbers_of
from vmg.base.errors import VMGError
from vmg.base.settings import Bounds, problem_of
from vmg.base.types import Bools, Float32s, Float64s, Int64s
from vmg.data.counting import counted
from vmg.data.fields import Fields, checked_fields, column_names, common_fields
from vmg.data.mapping import as_type, first_not_finite, joined, taken
from vmg.data.own import REWARD, numbers_from

RewardFunction = Callable[[Float32s, Float32s, Float32s], ArrayLike]


@dataclass(frozen=True)
class Episode:
    """One episode: views into the arrays of the `Episodes` it belongs to."""

    observations: Float32s
    actions: Float32s
    rewards: Float64s
    terminated: bool
    truncated: bool

    def __len__(self) -> int:
        return len(self.actions)


@dataclass(frozen=True, eq=False)
class Episodes:
    """Logged episodes as flat, checked, read-only arrays; anything array-like goes in."""

    observations: Float32s
    actions: Float32s
    rewards: Float64s
    lengths: Int64s
    """Steps of each episode."""
    terminated: Bools
    """Per episode: the environment itself ended it (goal, fall)."""
    truncated: Bools
    """Per episode: it was cut from outside (time limit, end of the log)."""
    source: str = "episodes"
    """Where the data came from; the first words of every error message."""
    fields: Fields = field(default_factory=dict)
    """Names for columns of the observation, where the data has any: {"hand": (4, 5)}. No part of the content."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """What the data set holds beside, and why it is no part of the state: {"desired_goal": "a goal, 2 numbers"}."""

    def __post_init__(self) -> None:
        if not isinstance(self.source, str) or problem_of(dict[str, str], self.left_out):
            raise VMGError("Episodes: the source is a text, and what is left out is named in texts.")
        for name, dtype in _DTYPES.items():
            object.__setattr__(self, name, _frozen_array(self, name, dtype))
        _check_shapes(self)
        object.__setattr__(self, "fields", checked_fields(self.fields, self.observation_size, self.source))
        for name in ("observations", "actions", "rewards"):
            _check_finite(self, name)

    @classmethod
    def from_list(
        cls, episodes: Sequence[tuple[ArrayLike, ArrayLike, ArrayLike, bool, bool]], *, source: str = "episodes",
        fields: Fields | None = None,
    ) -> "Episodes":  # fmt: skip
        """Join (observations T+1, actions T, rewards T, terminated, truncated) tuples."""
        if not isinstance(episodes, Sequence) or not episodes:
            raise VMGError(f"{source}: there is not a single episode in it: give a list of them.")
        try:
            observations, actions, rewards = ([np.asarray(e[k]) for e in episodes] for k in range(3))
            flags = [(bool(e[3]), bool(e[4])) for e in episodes]
        except Exception as error:  # whatever stands for an array or a flag has errors of its own
            raise VMGError(
                f"{source}: an episode is (observations, actions, rewards, terminated, truncated), each array of one "
                f"shape: {error}."
            ) from error
        for i, (o, a, r) in enumerate(zip(observations, actions, rewards, strict=True)):
            _check_episode(source, i, o, a, r, observations[0], actions[0])
        return cls(
            observations=np.concatenate(observations),
            actions=np.concatenate(actions),
            rewards=np.concatenate(rewards),
            lengths=np.array([len(a) for a in actions]),
            terminated=np.array([terminated for terminated, _ in flags]),
            truncated=np.array([truncated for _, truncated in flags]),
            source=source,
            fields={} if fields is None else fields,
        )

    # --- sizes and indices -------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def n_steps(self) -> int:
        """Steps of all episodes together."""
        return len(self.actions)

    @property
    def observation_size(self) -> int:
        """Numbers in one observation."""
        return int(self.observations.shape[1])

    @property
    def action_size(self) -> int:
        """Numbers in one action."""
        return int(self.actions.shape[1])

    @cached_property
    def first_step(self) -> Int64s:
        """Row of each episode's first action; one more entry than episodes, so `first_step[i+1]` ends episode i."""
        return np.concatenate([[0], np.cumsum(self.lengths)])

    @cached_property
    def first_observation(self) -> Int64s:
        """Row of each episode's first observation; one more entry than episodes."""
        return self.first_step + np.arange(len(self) + 1)

    @cached_property
    def step_episode(self) -> Int64s:
        """The episode each step belongs to."""
        return np.repeat(np.arange(len(self)), self.lengths)

    @cached_property
    def step_observation(self) -> Int64s:
        """Row of o_t for each step t; o_{t+1} is the row after it."""
        return np.arange(self.n_steps) + self.step_episode

    @cached_property
    def steps_left(self) -> Int64s:
        """How many observations of the same episode follow o_t (at least 1)."""
        return self.first_step[1:][self.step_episode] - np.arange(self.n_steps)

    @cached_property
    def returns(self) -> Float64s:
        """Undiscounted return of each episode."""
        return np.add.reduceat(self.rewards, self.first_step[:-1])

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content, so that a model can name the data it was made from."""
        state = hashlib.sha256()
        for name in _DTYPES:
            state.update(np.ascontiguousarray(getattr(self, name)).data)
        return state.hexdigest()

    @overload
    def __getitem__(self, index: int) -> Episode: ...

    @overload
    def __getitem__(self, index: slice) -> "Episodes": ...

    def __getitem__(self, index: int | slice) -> "Episode | Episodes":
        if isinstance(index, slice):
            return self.subset(range(len(self))[index])
        index = range(len(self))[index]
        steps = slice(self.first_step[index], self.first_step[index + 1])
        rows = slice(self.first_observation[index], self.first_observation[index + 1])
        return Episode(
            observations=self.observations[rows],
            actions=self.actions[steps],
            rewards=self.rewards[steps],
            terminated=bool(self.terminated[index]),
            truncated=bool(self.truncated[index]),
        )

    def __repr__(self) -> str:
        size = f"{counted(len(self), 'episode')}, {counted(self.n_steps, 'step')}"
        return f"<{self.source}: {size}, observations of {self.observation_size}, actions of {self.action_size}>"

    def __iter__(self) -> Iterator[Episode]:
        return (self[i] for i in range(len(self)))

    # --- new episodes from old ---------------------------------------------------------------------------------------

    def subset(self, indices: Sequence[int] | NDArray[np.integer]) -> "Episodes":
        """Return the episodes at these indices, in this order."""
        numbers = numbers_of(indices, f"{self.source}: the episodes asked for", None)
        if numbers.size == 0:
            raise VMGError(f"{self.source}: the subset asked for holds no episode.")
        whole = numbers.ndim == 1 and numbers.dtype.kind in "iu"
        if not whole or numbers.min() < -len(self) or numbers.max() >= len(self):
            raise VMGError(f"{self.source}: there are the episodes 0 to {len(self) - 1}, and none of other numbers.")
        chosen = np.arange(len(self))[numbers]
        steps = np.concatenate([np.arange(self.first_step[i], self.first_step[i + 1]) for i in chosen])
        rows = np.concatenate([np.arange(self.first_observation[i], self.first_observation[i + 1]) for i in chosen])
        return replace(
            self,
            observations=taken(self.observations, rows),
            actions=taken(self.actions, steps),
            rewards=taken(self.rewards, steps),
            lengths=self.lengths[chosen],
            terminated=self.terminated[chosen],
            truncated=self.truncated[chosen],
        )

    @checked
    def filter(self, keep: Callable[[Episode], bool]) -> "Episodes":
        """Return the episodes for which `keep` is true, in their order."""
        kept = [i for i, episode in enumerate(self) if keep(episode)]
        if not kept:
            raise VMGError(f"{self.source}: the filter keeps none of the {len(self)} episodes.")
        return self.subset(kept)

    @checked
    def split(self, validation: float, *, seed: Annotated[int, Bounds(0)]) -> tuple["Episodes", "Episodes"]:
        """Split whole episodes at random into (training, validation); both keep data order, neither is empty."""
        if not 0 < validation < 1:
            raise VMGError(f"The validation fraction must lie between 0 and 1, not {validation}.")
        if len(self) < 2:
            raise VMGError(f"{self.source}: one episode cannot be split into training and validation.")
        n_held = min(max(round(validation * len(self)), 1), len(self) - 1)
        held = np.zeros(len(self), dtype=bool)
        held[np.random.default_rng(seed).permutation(len(self))[:n_held]] = True
        return self.subset(np.flatnonzero(~held)), self.subset(np.flatnonzero(held))

    def relabel(self, rewards: ArrayLike | RewardFunction) -> "Episodes":
        """Return the same episodes with other rewards: one per step, or a vectorised f(o_t, a_t, o_{t+1})."""
        if callable(rewards):
            o_t, o_tp1 = (taken(self.observations, self.step_observation + ahead) for ahead in (0, 1))
            rewards = numbers_from(rewards, (o_t, self.actions, o_tp1), self.n_steps, REWARD)
        return replace(self, rewards=numbers_of(rewards, f"{self.source}: rewards"))


@checked
def concatenate(parts: Sequence[Episodes], *, source: str | None = None) -> Episodes:
    """Join several sets of episodes, in order."""
    if not parts:
        raise VMGError("There is nothing to concatenate: the list of episode sets is empty.")
    for part in parts[1:]:
        for name in ("observation_size", "action_size"):
            if getattr(part, name) != getattr(parts[0], name):
                raise VMGError(
                    f"{parts[0].source} and {part.source} do not fit together: {name} is "
                    f"{getattr(parts[0], name)} in the first and {getattr(part, name)} in the second."
                )
    content = {name: joined([getattr(part, name) for part in parts]) for name in _DTYPES}
    named = source or " + ".join(part.source for part in parts)
    fields = common_fields([part.fields for part in parts], named)
    left_out = {name: what for part in parts for name, what in part.left_out.items()}
    return Episodes(**content, source=named, fields=fields, left_out=left_out)


_DTYPES = {
    "observations": np.float32,
    "actions": np.float32,
    "rewards": np.float64,
    "lengths": np.int64,
    "terminated": np.bool_,
    "truncated": np.bool_,
}


def _frozen_array(episodes: Episodes, name: str, dtype: type) -> NDArray[np.generic]:
    given = np.asarray(numbers_of(getattr(episodes, name), f"{episodes.source}: {name}", None))
    whole = {np.int64: "iu", np.bool_: "biuf"}.get(dtype, "biuf")
    if (given.dtype.kind not in whole and given.size) or (dtype == np.bool_ and not np.isin(given, (0, 1)).all()):
        wanted = "whole numbers" if dtype == np.int64 else "true or false"
        raise VMGError(f"{episodes.source}: {name} must be {wanted}, one per episode.")
    with np.errstate(over="ignore"):  # too large for float32 becomes infinite and is reported as such
        array: NDArray[np.generic] = as_type(given, dtype).view()
    array.flags.writeable = False
    return array


def _check_shapes(episodes: Episodes) -> None:
    source, observations, actions = episodes.source, episodes.observations, episodes.actions
    if episodes.lengths.ndim != 1 or len(episodes.lengths) == 0:
        raise VMGError(f"{source}: there is not a single episode in it.")
    if observations.ndim != 2:
        raise VMGError(
            f"{source}: observations must be one vector per row, but have the shape {observations.shape}. "
            "Images and other arrays are not supported: encode them into vectors first."
        )
    if actions.ndim != 2:
        raise VMGError(
            f"{source}: actions must be one vector per row, but have the shape {actions.shape}. "
            "Discrete actions are not supported; a single continuous number per step needs the shape (n, 1)."
        )
    if observations.shape[1] == 0 or actions.shape[1] == 0:
        raise VMGError(f"{source}: observations and actions need at least one number each.")
    if (episodes.lengths < 1).any():
        empty = int(np.argmax(episodes.lengths < 1))
        raise VMGError(f"{source}: episode {empty} has no step. Leave empty episodes out.")
    if (episodes.lengths > len(actions)).any():  # their sum could overflow
        raise VMGError(f"{source}: there are {len(actions)} actions, but an episode of {episodes.lengths.max()} steps.")
    n_steps, n_episodes = int(episodes.lengths.sum()), len(episodes.lengths)
    per_step, per_episode = dict.fromkeys(("actions", "rewards"), n_steps), ("terminated", "truncated")
    expected = {"observations": n_steps + n_episodes, **per_step, **dict.fromkeys(per_episode, n_episodes)}
    for name, rows in expected.items():
        shape = getattr(episodes, name).shape
        if shape[0:1] != (rows,) or (name not in ("observations", "actions") and len(shape) != 1):
            raise VMGError(
                f"{source}: {name} has the shape {shape}, but {n_episodes} episodes of {n_steps} steps in all need "
                f"{rows} rows (an episode of T steps has T+1 observations, T actions and T rewards)."
            )


def _check_finite(episodes: Episodes, name: str) -> None:
    array = getattr(episodes, name)
    place = first_not_finite(array)
    if place is None:
        return
    starts = episodes.first_observation if name == "observations" else episodes.first_step
    episode = int(np.searchsorted(starts, place[0], side="right")) - 1
    column = f", column {place[1]}" if len(place) > 1 else ""
    if name == "observations" and episodes.fields:
        column += f" ({column_names(episodes.fields, episodes.observation_size)[place[1]]})"
    raise VMGError(
        f"{episodes.source}: {name} of episode {episode}, row {place[0] - starts[episode]}{column}, is "
        f"{array[tuple(place)]}. Every number must be finite (in float32, for observations and actions): "
        "repair or drop that episode."
    )


def _check_episode(
    source: str, i: int, o: NDArray[np.generic], a: NDArray[np.generic], r: NDArray[np.generic],
    first_o: NDArray[np.generic], first_a: NDArray[np.generic],
) -> None:  # fmt: skip
    if o.ndim == 0 or a.ndim == 0 or r.ndim != 1 or len(a) != len(r) or len(o) != len(a) + 1:
        raise VMGError(
            f"{source}: the lengths of episode {i} do not fit: observations {o.shape}, actions {a.shape}, "
            f"rewards {r.shape}. An episode of T steps has T+1 observations, T actions and T rewards."
        )
    if o.shape[1:] != first_o.shape[1:] or a.shape[1:] != first_a.shape[1:]:
        raise VMGError(
            f"{source}: episode {i} has observations of shape {o.shape[1:]} and actions of shape {a.shape[1:]}, "
            f"but episode 0 has {first_o.shape[1:]} and {first_a.shape[1:]}. All episodes must have the same sizes."
        )
