"""Whether goals are things to be placed, from the recordings alone; and what is then learned."""

import numpy as np
import pytest

from vmg.agent.auto.objects import LEAST, choose_objects, placing
from vmg.data.episodes import Episodes
from vmg.learn import LearnConfig
from vmg.networks import Critic, Placer, Translator
from vmg.runs.auto import _changed

REST = 15


def recordings(n_moves: int, n_episodes: int = 5) -> Episodes:
    """A hand in column 0 that never rests, and a thing in column 1 that is moved so many times."""
    rng, episodes = np.random.default_rng(0), []
    for _ in range(n_episodes):
        steps = np.concatenate([np.zeros(REST), *[[*rng.uniform(0.1, 1, 5), *np.zeros(REST)] for _ in range(n_moves)]])
        thing = np.concatenate([[0.0], steps]).cumsum()
        hand = np.sin(np.arange(len(thing))) + 0.1 * np.arange(len(thing))
        actions = np.zeros((len(steps), 1))
        episodes.append((np.stack([hand, thing], 1), actions, np.zeros(len(steps)), False, True))
    return Episodes.from_list(episodes, source="hand")


@pytest.mark.parametrize(("n_moves", "found"), [(1, ()), (2, ()), (3, (1,)), (8, (1,))])
def test_play_has_things_to_be_placed(n_moves, found):
    """A thing that every recording brings to one place, or two, is better followed."""
    objects, choices = choose_objects(recordings(n_moves), (1,))
    assert objects == found
    assert [choice.setting for choice in choices] == ["learn.low-level.objects"] * bool(found)


def test_what_moves_by_itself_is_no_thing():
    assert choose_objects(recordings(8), (0,)) == ((), ())
    assert choose_objects(recordings(8), (0, 1)) == ((), ())


def test_without_goals_nothing_is_placed():
    assert choose_objects(recordings(8), ()) == ((), ())


def test_what_was_chosen_for_the_translator_stays():
    chosen = LearnConfig(low_level=Translator(columns=(0,), inputs="relative", decay_rate=0.1, lead=3), steps=16_000)
    learn = placing(chosen, (1,))
    kept = learn.low_level
    assert isinstance(kept, Placer)
    assert (kept.columns, kept.inputs, kept.decay_rate, kept.lead, kept.objects) == ((0,), "relative", 0.1, 0, (1,))
    assert learn.steps == LEAST
    assert placing(chosen, (1,), steps=70).steps == 70


def test_what_is_asked_for_changes_no_more_than_that():
    """One option of the translator's leaves the placer; another kind takes over what both know."""
    chosen = placing(LearnConfig(low_level=Translator(columns=(0,), inputs="relative")), (1,))
    usual = LearnConfig()
    nearer = _changed(chosen, LearnConfig(low_level=Translator(goal_horizon=5)), usual).low_level
    assert (nearer.kind, nearer.objects, nearer.goal_horizon, nearer.columns) == ("placer", (1,), 5, (0,))
    critic = _changed(chosen, LearnConfig(low_level=Critic(expectile=0.9)), usual).low_level
    assert (critic.kind, critic.columns, critic.inputs, critic.expectile) == ("critic", (0,), "relative", 0.9)
    hasty = _changed(chosen, LearnConfig(low_level=Placer(haste=1.0)), usual).low_level
    assert (hasty.kind, hasty.objects, hasty.haste, hasty.columns) == ("placer", (1,), 1.0, (0,))
