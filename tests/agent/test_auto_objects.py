"""Whether goals are things to be placed, from the recordings alone; and what is then learned."""

import numpy as np
import pytest

from vmg.agent.auto.objects import LEAST, Things, choose_objects, other_things, placing
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
    things = choose_objects(recordings(n_moves), (1,))
    assert things.columns == found
    assert [choice.setting for choice in things.choices] == ["learn.low-level.objects"] * bool(found)


def gantry(noise: float, *, anywhere: bool = True, weather: bool = False, apart: bool = True, n_episodes: int = 60):
    """A hand, two blocks that it carries one after the other from where they lie, and where they lie from the hand.

    Not `anywhere`: the second block begins in one place. `weather`: it moves by itself. Not `apart`: it is a copy of
    the first. What is wanted is in column 1.
    """
    rng, episodes = np.random.default_rng(1), []
    for _ in range(n_episodes):
        hand, blocks, rows = rng.uniform(0, 1), rng.uniform(0, 1, 2) * [1, anywhere], []
        for block in rng.permutation(2):
            for carried, place in ((False, blocks[block]), (True, rng.uniform(0, 1))):
                for x in np.linspace(hand, place, 12):
                    hand = x
                    blocks[block] = hand if carried and not (weather and block) else blocks[block]
                    blocks[1] += weather * (rng.random() < 0.1) * rng.normal(0, 0.3)
                    second = blocks[1] if apart else 2 * blocks[0] + 3
                    rows.append([hand, blocks[0], second, blocks[0] - hand, second - hand])
            rows += [rows[-1]] * 10
        seen = np.array(rows) + rng.normal(0, noise, (len(rows), 5)) * [1, 1, apart, 1, 1]
        seen[:, 2] += 0 if apart else 2 * (seen[:, 1] - np.array(rows)[:, 1])
        actions = np.diff(seen[:, :1], axis=0)
        episodes.append((seen, actions, np.zeros(len(actions)), False, True))
    return Episodes.from_list(episodes, source="gantry")


@pytest.mark.parametrize("noise", [0.0, 0.001, 0.003])
def test_what_lies_anywhere_among_other_things_is_placed(noise):
    """However noisy its sensors are: no recording has both blocks where they lie now."""
    episodes = gantry(noise)
    things = choose_objects(episodes, (1,))
    assert (things.columns, things.least, other_things(episodes, (1,))) == ((1,), 1, (2,))
    assert "(column 2)" in things.choices[0].why


@pytest.mark.parametrize("otherwise", [{"anywhere": False}, {"weather": True}, {"apart": False}])
@pytest.mark.parametrize("noise", [0.0, 0.001])
def test_recordings_are_followed_where_nothing_else_lies_anywhere(noise, otherwise):
    """Neither a block that begins in one place is another thing, nor the weather, nor a camera that sees the same."""
    assert choose_objects(gantry(noise, **otherwise), (1,)) == Things()


def test_what_moves_by_itself_is_no_thing():
    assert choose_objects(recordings(8), (0,)) == Things()
    assert choose_objects(recordings(8), (0, 1)) == Things()


def test_without_goals_nothing_is_placed():
    assert choose_objects(recordings(8), ()) == Things()


def test_what_was_chosen_for_the_translator_stays():
    chosen = LearnConfig(low_level=Translator(columns=(0,), inputs="relative", decay_rate=0.1, lead=3), steps=16_000)
    play = Things((1,), least=LEAST)
    learn = placing(chosen, play)
    kept = learn.low_level
    assert isinstance(kept, Placer)
    assert (kept.columns, kept.inputs, kept.decay_rate, kept.lead, kept.objects) == ((0,), "relative", 0.1, 0, (1,))
    assert learn.steps == LEAST
    assert placing(chosen, play, steps=70).steps == 70
    assert placing(chosen, Things((1,))).steps == 16_000


def test_what_is_asked_for_changes_no_more_than_that():
    """One option of the translator's leaves the placer; another kind takes over what both know."""
    chosen = placing(LearnConfig(low_level=Translator(columns=(0,), inputs="relative")), Things((1,)))
    usual = LearnConfig()
    nearer = _changed(chosen, LearnConfig(low_level=Translator(goal_horizon=5)), usual).low_level
    assert (nearer.kind, nearer.objects, nearer.goal_horizon, nearer.columns) == ("placer", (1,), 5, (0,))
    critic = _changed(chosen, LearnConfig(low_level=Critic(expectile=0.9)), usual).low_level
    assert (critic.kind, critic.columns, critic.inputs, critic.expectile) == ("critic", (0,), "relative", 0.9)
    hasty = _changed(chosen, LearnConfig(low_level=Placer(haste=1.0)), usual).low_level
    assert (hasty.kind, hasty.objects, hasty.haste, hasty.columns) == ("placer", (1,), 1.0, (0,))
