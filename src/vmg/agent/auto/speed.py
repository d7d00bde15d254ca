"""Whether to be faster than recorded, for demonstrations that are all different.

A recording shows how fast somebody went, not how fast it can be done. Where actions are places that the body comes to
some steps later, actions recorded later make it faster. Whatever is done faster may also fail, so it must pay.
"""

import numpy as np

from vmg.agent.auto.choice import Choice
from vmg.agent.auto.columns import ROWS, Columns
from vmg.base.types import Float32s, Float64s
from vmg.data.episodes import Episodes

LAGS = 20
"""The longest lag of a body behind its actions that is looked for, in steps."""
PLACES = 0.7
"""Actions are places if columns explain this share of their variance, one column for each number of an action."""
FASTER = 1.5
"""Times as fast as recorded."""
PAYS = 0.25
"""Share of all that recordings are paid by which they must be paid more when they are faster."""


def choose_lead(episodes: Episodes, columns: Columns) -> tuple[int, Choice]:
    """Choose how many steps later the actions are recorded that a low-level policy learns; 0: at its state."""
    lag, share = lag_behind(episodes, columns)
    more = paid_more(episodes)
    lead = int(lag * (FASTER - 1)) if share >= PLACES and more >= PAYS else 0
    why = (
        f"At its best, one column for each number explains {100 * share:.0f} % of the actions' variance, {lag} steps "
        f"later; {FASTER:g} times as fast, recordings would be paid {100 * more:.0f} % more"
    )
    end = (
        "to be faster is worth its risk; --learn.low-level.lead 0 keeps to the pace."
        if lead
        else "nothing says that being faster is possible and worth it."
    )
    return lead, Choice(setting="learn.low-level.lead", value=str(lead), why=f"{why}: {end}")


def lag_behind(episodes: Episodes, columns: Columns) -> tuple[int, float]:
    """Return how many steps later the body is where actions tell it to be, and how well these explain each other."""
    longest = min(LAGS, int(episodes.lengths.max()))
    steps = np.flatnonzero(episodes.steps_left >= longest)
    steps = np.sort(np.random.default_rng(0).permutation(steps)[:ROWS])
    actions, rows = episodes.actions[steps].astype(np.float64), episodes.step_observation[steps]
    variance = actions.var(0)
    if not variance.any() or not columns.positions:
        return 0, 0.0
    explained = [
        float(_explained(actions, episodes.observations[rows + lag][:, columns.positions]) @ variance / variance.sum())
        for lag in range(longest + 1)
    ]
    return int(np.argmax(explained)), max(explained)


def paid_more(episodes: Episodes) -> float:
    """Return what recordings would be paid more if they were faster and their end went on, as a share of all pay."""
    paid = more = 0.0
    for episode in episodes:
        rewards = np.asarray(episode.rewards, np.float64)
        n, end = int(len(rewards) / FASTER), rewards[-max(len(rewards) // 10, 1) :].mean()
        faster = rewards[(np.arange(n) * FASTER).astype(int)].sum() + (len(rewards) - n) * end
        more += faster - rewards.sum()
        paid += np.abs(rewards).sum()
    return float(more / paid) if paid else 0.0


def _explained(actions: Float64s, observations: Float32s) -> Float64s:
    """Squared correlation of each number of an action with the column that has the largest."""
    a, o = (each - each.mean(0, dtype=np.float64) for each in (actions, observations))
    a, o = (each / np.maximum(each.std(0), 1e-12) for each in (a, o))
    best: Float64s = np.square(a.T @ o / len(a)).max(1)
    return best
