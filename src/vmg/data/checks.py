"""What looks wrong in a set of episodes, each finding a whole sentence.

`Episodes` itself refuses what cannot be used (NaN, lengths that do not fit); these findings can be used and may even be
right, but a person should know them before training on them. Each check is one small function in `CHECKS`.
"""

import hashlib
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from vmg.base.arguments import checked
from vmg.base.types import Bools, Float32s
from vmg.data.angles import angles, round_the_turn
from vmg.data.columns import fixed_columns, keys_without, nearly_fixed_columns, shared_columns
from vmg.data.episodes import Episodes
from vmg.data.fields import column_names
from vmg.data.mapping import slices

HUGE = 1e6
EVEN = 1e-3  # share of a clock's step that its steps differ by
AT_THE_BOUND = 0.999
READING_LEAPS = 20.0  # times the 95th percentile of that reading
STEP_LEAPS = 3.0  # times the 99th percentile of all readings together


@checked
def check(episodes: Episodes) -> list[str]:
    """Return a sentence for everything suspicious; an empty list if nothing is."""
    with np.errstate(over="ignore", invalid="ignore"):  # numbers near float32's end; `huge_numbers` speaks of them
        return [sentence for each in CHECKS if (sentence := each(episodes))]


def constant_observations(episodes: Episodes) -> str | None:
    """Readings that never change tell nothing; whole zero blocks often mean a field that was not recorded."""
    return _never_changes("Observation", episodes.observations)


def fixed_observations(episodes: Episodes) -> str | None:
    """Readings that differ between episodes only are often the episode's goal, which is no part of the state."""
    fixed = np.flatnonzero(fixed_columns(episodes) & ~shared_columns(episodes))
    if len(fixed) == 0:
        return None
    return (
        f"{_fixed(fixed, episodes)}, as a goal does. A goal belongs in no state: where it is drawn anew in each "
        f"episode, hardly two recordings are alike and little can be stitched. "
        f"{_left_out(fixed, episodes)} and name goals when you plan, with vmg retask."
    )


def nearly_fixed_observations(episodes: Episodes) -> str | None:
    """Weather, or a battery: hardly two recordings are alike in it, and nothing that is done changes it."""
    found = np.flatnonzero(nearly_fixed_columns(episodes))
    if len(found) == 0:
        return None
    verb = "differs" if len(found) == 1 else "differ"
    return (
        f"{_columns('Observation', found)} {verb} between episodes and hardly within one, as the weather or a battery "
        f"does: it keeps recordings apart. If nothing that is right to do depends on it, "
        f"{_left_out(found, episodes, lower=True)}."
    )


def shared_observations(episodes: Episodes) -> str | None:
    """Readings that differ between episodes only, with few values, say what kind of episode it is."""
    shared = np.flatnonzero(shared_columns(episodes))
    if len(shared) == 0:
        return None
    return (
        f"{_fixed(shared, episodes)}, with few values, as a kind of part or of task does. Routes that look keep to "
        "recordings with the same values, so each kind needs recordings of its own. If they say nothing about what is "
        f"right to do: {_left_out(shared, episodes, lower=True)}."
    )


def constant_actions(episodes: Episodes) -> str | None:
    """An action nobody varied cannot be learned."""
    return _never_changes("Action", episodes.actions)


def clock_observations(episodes: Episodes) -> str | None:
    """A reading that grows by the same in every step tells the time, and no state is like one of another time."""
    rows, clocks = episodes.step_observation, np.zeros(episodes.observation_size, dtype=bool)
    for column, reading in enumerate(episodes.observations.T):
        steps = np.diff(reading)[rows]
        clocks[column] = steps[0] != 0 and np.ptp(steps) <= EVEN * abs(float(steps[0]))
    found = np.flatnonzero(clocks)
    if len(found) == 0 or (clocks | (np.ptp(episodes.observations, axis=0) == 0)).all():
        return None
    verb = "changes" if len(found) == 1 else "change"
    return (
        f"{_columns('Observation', found)} {verb} by the same in every step, as a clock or a counter does: with it, "
        f"states are alike only at about the same time. {_left_out(found, episodes)}."
    )


def angles_that_begin_again(episodes: Episodes) -> str | None:
    """An angle that leaps from one end of its range to the other looks like a long way."""
    found = angles(episodes.observations, episodes.lengths)
    if not found:
        return None
    column, turn = next(iter(found.items()))
    angle = f"o[:, {column}]" if turn < 10 else f"np.radians(o[:, {column}])"
    words = "is an angle that begins again" if len(found) == 1 else "are angles that begin again"
    turns = " or ".join(sorted({f"{each:.4g}" for each in found.values()}))
    return (
        f"{_columns('Observation', list(found))} {words} after a turn of {turns}. Where settings are chosen from the "
        "data, networks see sine and cosine instead; elsewhere --learn.angles "
        f"{' '.join(map(str, sorted(found)))} says so. Without, the ends of a turn look far apart. Other programs want "
        "sine and cosine recorded, o being the observations: "
        f"np.column_stack([np.delete(o, {column}, 1), np.sin({angle}), np.cos({angle})])."
    )


def repeated_observations(episodes: Episodes) -> str | None:
    """The same reading twice weighs double in every distance."""
    varying = np.flatnonzero(np.ptp(episodes.observations, axis=0) > 0)
    first: dict[bytes, int] = {}
    repeats = {}
    for column in varying.tolist():
        same_as = first.setdefault(_digest(episodes.observations[:, column]), column)
        if same_as != column:
            repeats[column] = same_as
    if not repeats:
        return None
    verb = "repeats" if len(repeats) == 1 else "repeat"
    return f"{_columns('Observation', list(repeats))} {verb} {_columns('', list(repeats.values()))} number for number."


def action_range(episodes: Episodes) -> str | None:
    """Policies here act in [-1, 1]."""
    share = _share(episodes.actions, lambda actions: np.abs(actions).max(axis=1) > 1 + 1e-5)
    if share == 0:
        return None
    low, high = episodes.actions.min(), episodes.actions.max()
    return f"{_percent(share)} of the actions lie outside [-1, 1]: they run from {low:.3g} to {high:.3g}."


def actions_at_the_bound(episodes: Episodes) -> str | None:
    """A controller that always pushes fully gives actions that are hard to regress."""
    if action_range(episodes):  # they have other units, of which the bound is not known
        return None
    share = _share(episodes.actions, lambda actions: np.abs(actions) >= AT_THE_BOUND)
    return f"{_percent(share)} of all action numbers are at the bound of 1." if share > 0.5 else None


def whole_number_actions(episodes: Episodes) -> str | None:
    """Whole numbers only are a hint of discrete actions stored as vectors."""
    whole = _share(episodes.actions, lambda actions: actions == np.round(actions)) == 1
    if whole and np.any(episodes.actions):
        return "All actions are whole numbers. Discrete actions are not supported; check that these are continuous."
    return None


def flat_rewards(episodes: Episodes) -> str | None:
    """Without differences in reward there is nothing to plan for."""
    if np.ptp(episodes.rewards) > 0:
        return None
    value = episodes.rewards[0]
    what = "Every reward is 0" if value == 0 else f"Every step pays the same reward, {value:g}"
    return f"{what}: relabel the episodes or solve for a goal."


def huge_numbers(episodes: Episodes) -> str | None:
    """Sensors out of range, or another unit."""
    large = []
    for name in ("observations", "actions", "rewards"):
        values = getattr(episodes, name)
        largest = max(float(values.max()), -float(values.min()))
        if largest > HUGE:
            large.append(f"{name} reach {largest:.2g}")
    return f"Some numbers are huge: {' and '.join(large)}." if large else None


def duplicate_episodes(episodes: Episodes) -> str | None:
    """The same episode twice leaks from training into validation."""
    seen: set[bytes] = set()
    copies = []
    for i, episode in enumerate(episodes):
        digest = _digest(episode.observations) + _digest(episode.actions)
        copies += [i] if digest in seen else []
        seen.add(digest)
    if not copies:
        return None
    verb = "is an exact copy of an earlier one" if len(copies) == 1 else "are exact copies of earlier ones"
    return f"{_listed('Episode', copies)} {verb}."


def single_steps(episodes: Episodes) -> str | None:
    """Mostly leftovers of a wrong cut."""
    short = np.flatnonzero(episodes.lengths == 1)
    if len(short) == 0 or (episodes.lengths == 1).all():
        return "Every episode is a single step, so nothing can be joined into paths." if len(short) else None
    return f"{_listed('Episode', short)} {'has' if len(short) == 1 else 'have'} only a single step."


def endless_episodes(episodes: Episodes) -> str | None:
    """Neither flag: a recorder that forgot one."""
    endless = np.flatnonzero(~episodes.terminated & ~episodes.truncated)
    if len(endless) == 0:
        return None
    verb = "ends" if len(endless) == 1 else "end"
    return f"{_listed('Episode', endless)} {verb} neither terminated nor truncated."


def one_long_episode(episodes: Episodes) -> str | None:
    """A log whose end marks were lost is one endless episode."""
    if len(episodes) > 1 or episodes.n_steps < 5000:
        return None
    return f"All {episodes.n_steps:,} steps are one episode: check that the ends of episodes are marked."


def jumps(episodes: Episodes) -> str | None:
    """A reading that leaps across its range, and elsewhere creeps, is a hint of two episodes joined into one."""
    far = np.flatnonzero(_leaps(episodes))
    if len(far) == 0:
        return None
    episode = int(episodes.step_episode[far[0]])
    where = f"step {far[0] - episodes.first_step[episode]} of episode {episode}"
    many = f"At {where}" if len(far) == 1 else f"At {len(far):,} steps, the first of them {where},"
    return f"{many} the observation jumps far more than usual, as if two episodes were joined there."


CHECKS: Sequence[Callable[[Episodes], str | None]] = (
    constant_observations,
    fixed_observations,
    shared_observations,
    nearly_fixed_observations,
    angles_that_begin_again,
    clock_observations,
    repeated_observations,
    constant_actions,
    action_range,
    actions_at_the_bound,
    whole_number_actions,
    flat_rewards,
    huge_numbers,
    duplicate_episodes,
    single_steps,
    endless_episodes,
    one_long_episode,
    jumps,
)


def _fixed(columns: NDArray[np.integer], episodes: Episodes) -> str:
    one = len(columns) == 1
    known = column_names(episodes.fields, episodes.observation_size)
    names = [known[column] for column in columns if known[column] != str(column)]
    called = f" ({_some(names)})" if names else ""
    verbs = "differs between episodes and never changes" if one else "differ between episodes and never change"
    return f"{_columns('Observation', columns)}{called} {verbs} within one"


def _left_out(columns: NDArray[np.integer], episodes: Episodes, *, lower: bool = False) -> str:
    """Say how columns are left out; where the observation has named parts, with the names of the others."""
    words = f"eave {'it' if len(columns) == 1 else 'them'} out ({keys_without(columns, episodes.observation_size)}; "
    return f"{'l' if lower else 'L'}{words}of observations with named parts, the names of the others)"


def _share(values: Float32s, holds: Callable[[Float32s], Bools]) -> float:
    """Return for how much of an array something holds, looked at in pieces."""
    n_held = n_all = 0
    for rows in slices(values):
        held = holds(values[rows])
        n_held, n_all = n_held + int(np.count_nonzero(held)), n_all + held.size
    return n_held / n_all


def _never_changes(kind: str, values: Float32s) -> str | None:
    constant = np.flatnonzero(np.ptp(values, axis=0) == 0)
    if len(constant) == 0:
        return None
    return f"{_columns(kind, constant)} never {'changes' if len(constant) == 1 else 'change'}."


def _leaps(episodes: Episodes) -> Bools:
    """Steps that are long as a whole and on which some reading crosses half its spread, many times the usual.

    Both are needed: velocities leap at a contact, and objects that rest most of the time leap when touched.
    """
    found, squared = np.zeros(episodes.n_steps, dtype=bool), np.zeros(episodes.n_steps)
    turns = angles(episodes.observations, episodes.lengths)
    for column, reading in enumerate(episodes.observations.T):
        spread = reading.std(dtype=np.float64) or 1.0
        changes = np.diff(reading)[episodes.step_observation]
        if column in turns:
            changes = round_the_turn(changes[:, None].astype(np.float64), {0: turns[column]})[:, 0]
        moved = np.abs(changes) / spread
        usual = np.quantile(moved, 0.95)
        found |= (moved > READING_LEAPS * usual) & (moved > 0.5) & (usual > 0)
        squared += np.minimum(moved, 1e9) ** 2
    return found & (squared > STEP_LEAPS**2 * np.quantile(squared, 0.99))


def _digest(values: NDArray[np.generic]) -> bytes:
    return hashlib.blake2b(np.ascontiguousarray(values).data, digest_size=16).digest()


def _columns(kind: str, columns: Sequence[int] | NDArray[np.integer]) -> str:
    return _listed(f"{kind} column".strip(), columns)


def _listed(kind: str, numbers: Sequence[int] | NDArray[np.integer]) -> str:
    """Say "Episode 3" or "Episodes 3, 5 and 9", at most a few by number."""
    return f"{kind}{'s' * (len(numbers) > 1)} {_some([str(number) for number in numbers])}"


def _some(words: Sequence[str], most: int = 8) -> str:
    """List a few words, and how many more there are."""
    named = [*words[:most], *([f"{len(words) - most:,} more"] if len(words) > most else [])]
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 else "Less than 1%"
