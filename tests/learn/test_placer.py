"""A translator that also learns to place things: its goals, its losses, what acts, and that it places."""

from dataclasses import replace

import jax
import numpy as np
import pytest
from learning_cases import SMALL, untrained, walk

from vmg.agent.agent import Agent
from vmg.agent.settings import AgentConfig
from vmg.base.errors import VMGError
from vmg.data.episodes import Episodes
from vmg.data.rests import steps_to_rest
from vmg.goals import near
from vmg.graph import GraphConfig
from vmg.learn.models import AgentModel, on_device
from vmg.networks import Placer, Translator, translate
from vmg.networks.lowlevel import Batch
from vmg.networks.lowlevel.placer import seen
from vmg.networks.mlp import mlp

STRIDE, REACH, TOLERANCE = 0.1, 0.08, 0.12
PLACER = replace(SMALL, low_level=Placer(inputs="raw relative", objects=(2,)))


class Line:
    """A hand and a thing on a line: (hand, closed, thing). A closed hand takes along the thing that it closed on."""

    def __init__(self, hand: float, thing: float) -> None:
        self.state, self.holds = np.array([hand, 0.0, thing], np.float32), False

    def step(self, action: np.ndarray) -> np.ndarray:
        move, closed = float(np.clip(action[0], -STRIDE, STRIDE)), float(action[1] > 0.5)
        near_it = abs(self.state[0] - self.state[2]) < REACH
        self.holds = bool(closed) and (self.holds or (near_it and not self.state[1]))
        self.state = self.state + np.array([move, closed - self.state[1], move * self.holds], np.float32)
        return self.state


def play(seed: int, n_episodes: int = 40, length: int = 120) -> Episodes:
    """A hand that puts the thing here and there, wandering about in between."""
    rng, episodes = np.random.default_rng(seed), []
    for _ in range(n_episodes):
        world = Line(*rng.uniform(-1, 1, 2))
        observations, actions, hands = [world.state], [], operator(world, rng)
        for _, action in zip(range(length), hands, strict=False):
            actions.append(action)
            observations.append(world.step(action))
        episodes.append((np.stack(observations), np.stack(actions), np.zeros(length), False, True))
    return Episodes.from_list(episodes, source="line")


def operator(world, rng):
    """Put the thing somewhere, let go, and wander; again and again."""
    while True:
        thing, place, away = world.state[2], *rng.uniform(-1, 1, 2)
        yield from moved(world, thing, closed=0)
        yield np.float32([0, 1])
        yield from moved(world, place, closed=1)
        yield from moved(world, away, closed=0)
        for _ in range(12):
            yield np.float32([0, 0])


def moved(world, place, closed):
    """Move the hand to a place."""
    while abs(place - world.state[0]) > 0.03:
        yield np.float32([np.clip(place - world.state[0], -STRIDE, STRIDE), closed])


def test_half_of_the_goals_are_where_things_come_to_rest():
    episodes, model = play(0, 6), AgentModel(replace(PLACER, batch_size=64))
    steps = on_device(episodes, model=model)
    sample = jax.device_get(model.sample(jax.random.key(0), steps, model.numbers()))
    ahead, to_rest = sample.row_goal - sample.row_t, steps_to_rest(episodes, (2,))[sample.step]
    assert (ahead[32:] == to_rest[32:]).all()
    assert len(set(to_rest[32:].tolist())) > 10


def test_the_other_half_are_the_translators():
    """Goals up to the horizon, past a rest as well as before it: the very ones that a translator draws."""
    episodes, key = play(0, 6), jax.random.key(3)
    plain, placer = Translator(), PLACER.low_level
    step = np.random.default_rng(0).integers(0, episodes.n_steps, 64)
    rows = [
        np.asarray(
            each.goal_rows(key, episodes.step_observation[step], each.steps_left(episodes)[step], each.numbers())
        )
        for each in (plain, placer)
    ]
    assert (rows[0][:32] == rows[1][:32]).all()


def twin(weights, batch, placer):
    """The placer's loss as it is written down, one row after another."""
    placed, n = 0.0, len(batch.o_t) // 2
    for o, a, goal, t in zip(*(each[n:] for each in (batch.o_t, batch.a_t, batch.goal, batch.goal_steps)), strict=True):
        if t == 0:
            continue
        shown = seen(weights, o, goal)
        late = mlp(weights["pace"], shown)[0] - t / weights["placer_input"]["steps"]
        heavier = min(np.exp(placer.haste * late), 20)
        placed += heavier * np.sum((mlp(weights["placer"], shown) - a) ** 2) + late**2
    near_by = np.sum((translate(weights, batch.o_t[:n], batch.goal[:n]) - batch.a_t[:n]) ** 2, axis=1).mean()
    return near_by + placed / n


def test_the_loss_equals_a_twin_in_numpy():
    episodes, rng = play(0, 6), np.random.default_rng(1)
    weights, placer = untrained(episodes, PLACER), PLACER.low_level
    step = rng.integers(0, episodes.n_steps, 40)
    row, ahead = episodes.step_observation[step], steps_to_rest(episodes, (2,))[step]
    observations = episodes.observations
    batch = Batch(observations[row], episodes.actions[step], None, None, observations[row + ahead], ahead, None)
    loss, terms = placer.loss(weights, batch, placer.numbers())
    assert float(loss) == pytest.approx(twin(weights, batch, placer), rel=1e-4)
    assert set(placer.losses) <= set(terms)


def test_without_things_it_is_a_translator():
    episodes, key = walk(0), jax.random.key(0)
    plain, placer = Translator(), Placer()
    assert plain.parts(3, 2) == placer.parts(3, 2)
    weights, row, left = untrained(episodes, SMALL), episodes.step_observation, episodes.steps_left
    rows = [np.asarray(each.goal_rows(key, row, each.steps_left(episodes), each.numbers())) for each in (plain, placer)]
    assert (rows[0] == rows[1]).all()
    o = episodes.observations
    batch = Batch(o[row], episodes.actions, None, o[row + 1], o[rows[0]], np.minimum(left, 1), None)
    losses = [each.loss(weights, batch, each.numbers())[0] for each in (plain, placer)]
    assert losses[0] == losses[1]
    assert (plain.actor(weights)(o[:5], o[5:10]) == placer.actor(weights)(o[:5], o[5:10])).all()


def test_a_goal_that_leaves_columns_open_is_the_placers():
    """Row by row: the translator's action for whole states, the placer's for others, whatever is left open."""
    episodes = play(0, 6)
    weights, placer = untrained(episodes, PLACER), PLACER.low_level
    act, here = placer.actor(weights), episodes.observations[:4]
    whole = episodes.observations[10:14].copy()
    mixed = whole.copy()
    mixed[1:3, :2] = np.nan
    actions = act(here, mixed)
    assert actions[[0, 3]] == pytest.approx(translate(weights, here, whole)[[0, 3]], rel=1e-4)
    assert actions[1:3] == pytest.approx(mlp(weights["placer"], seen(weights, here, whole))[1:3], rel=1e-4)


def test_it_places_a_thing_where_it_is_wanted():
    """From play alone, and wherever hand and thing are: it reaches, closes, carries and stops."""
    episodes = play(1)
    learn = replace(
        PLACER, hidden_units=64, batch_size=128, steps=1500, checkpoint_every=1500, encoder_inputs="normalised",
        low_level=Placer(inputs="raw relative", objects=(2,), memory=200),
    )  # fmt: skip
    (agent,) = Agent.fit(episodes, AgentConfig(learn=learn, graph=GraphConfig(radius=0.5, goal_columns=(2,))))
    agent, rng, reached = agent.build(episodes), np.random.default_rng(2), 0
    for _ in range(15):
        hand, thing, place = rng.uniform(-0.8, 0.8, 3)
        goal, world = near([place], columns=(2,), tolerance=TOLERANCE), Line(hand, thing)
        policy = agent.plan(goal).policy()
        reached += any(goal.reached(world.step(policy.act(world.state))[None])[0] for _ in range(80))
    assert reached >= 12


def test_what_cannot_be_learned_is_said():
    with pytest.raises(VMGError, match="nothing in the columns \\[2\\] is moved"):
        Placer(objects=(2,)).scalings(walk(0))
    with pytest.raises(VMGError, match="names every column of the observations"):
        Placer(objects=(0, 1, 2)).scalings(play(0, 6))
    with pytest.raises(VMGError, match="lead must be 0 with a placer"):
        Placer(objects=(2,), lead=3)
