"""A point robot in a room with levers, and agents for it whose networks are written by hand: nothing is learned.

The state is (x, y, lever 0, lever 1, ...); a lever is pulled, from 0 to 1, by coming near its place.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from vmg.act.settings import ActConfig
from vmg.agent.agent import Agent
from vmg.agent.settings import AgentConfig
from vmg.data.episodes import Episodes
from vmg.data.facts import DataFacts
from vmg.goals import near
from vmg.graph import GraphConfig, SolveConfig
from vmg.learn import LearnConfig
from vmg.networks import Translator

STEP = 0.25
PLACES = [(2.0, 0.0), (2.0, 2.0), (0.0, 2.0)]
FOUR_PLACES = [*PLACES, (0.0, -2.0)]
NAMES = "ABCD"


@dataclass
class Room:
    places: Sequence[tuple[float, float]] = tuple(PLACES)
    jammed: set[int] = field(default_factory=set)
    """Levers that do not move."""
    state: np.ndarray = field(init=False)

    def __post_init__(self):
        self.state = np.zeros(2 + len(self.places), np.float32)

    def step(self, action):
        self.state = self.state.copy()
        self.state[:2] += np.clip(action, -STEP, STEP)
        for i, place in enumerate(self.places):
            if i not in self.jammed and np.linalg.norm(self.state[:2] - place) < 0.2:
                self.state[2 + i] = 1
        return self.state


def walk(way, rng, room=None):
    """One recorded episode: straight from place to place, with a rest at each."""
    room = room or Room()
    observations, actions = [room.state], []

    def move(action):
        actions.append(action.astype(np.float32))
        observations.append(room.step(actions[-1]))

    for place in way:
        while np.linalg.norm(place - room.state[:2]) > 0.05:
            to_go = np.asarray(place) - room.state[:2]
            noise = rng.normal(0, 0.01, 2) * (np.abs(to_go).max() > 0.3)
            move(to_go * min(1, STEP / np.abs(to_go).max()) + noise)
        for _ in range(2):
            move(np.zeros(2))
    return np.stack(observations), np.stack(actions), np.zeros(len(actions)), False, True


def pulled_in(*orders, copies=3, places=PLACES):
    """Episodes in which levers are pulled in these orders, "AB" first A and then B."""
    rng = np.random.default_rng(0)
    ways = [[places[NAMES.index(name)] for name in order] for order in orders for _ in range(copies)]
    return Episodes.from_list([walk(way, rng, Room(places)) for way in ways], source="levers")


def lever(name):
    return near([1.0], columns=(2 + NAMES.index(name),), tolerance=0.1, name=name)


def place(x, y, tolerance=0.2, name=None):
    return near([x, y], columns=(0, 1), tolerance=tolerance, name=name)


def written_agent(episodes, paths="recordings", radius=0.2):
    """An agent for which the metric space is the room itself, and an action the way to the subgoal."""
    size = episodes.observation_size
    translator = Translator(inputs="raw relative", columns=(0, 1))
    config = AgentConfig(
        learn=LearnConfig(low_level=translator, metric_dimension=size),
        graph=GraphConfig(radius=radius, recordings=paths != "edges"),
        solve=SolveConfig(paths=paths, ties="nearest"),
        act=ActConfig(subgoal_steps=2, keep_path=True) if paths != "edges" else ActConfig(subgoal_steps=1),
    )
    unit = {"mean": np.zeros(size, np.float32), "std": np.ones(size, np.float32)}
    goals = {"spread": unit["std"], "relative": np.float32(1), "columns": np.array([0, 1], np.int32)}
    weights = {
        "encoder_input": unit,
        "state_encoder": linear(np.eye(size)),
        "translator_input": unit | goals,
        "translator": linear(np.vstack([np.zeros((2, 2)), np.eye(2)])),
    }
    agent = Agent(config, DataFacts.of(episodes), 0, weights)
    return agent.build(episodes)


def linear(matrix):
    """A network with two hidden layers that multiplies by a matrix: each number and its opposite pass the ReLUs."""
    _, n_out = matrix.shape
    split = np.hstack([matrix, -matrix]).astype(np.float32)
    joined = np.vstack([np.eye(n_out), -np.eye(n_out)]).astype(np.float32)
    hidden = np.zeros(2 * n_out, np.float32)
    layers = {"w0": split, "b0": hidden, "w1": np.eye(2 * n_out, dtype=np.float32), "b1": hidden}
    return layers | {"w2": joined, "b2": np.zeros(n_out, np.float32)}


def follow(policy, room, steps, until=None):
    """The states that a policy goes through in a room."""
    policy.begin()
    states = [room.state]
    for _ in range(steps):
        if until is not None and until.reached(room.state[None])[0]:
            break
        states.append(room.step(policy.act(room.state)))
    return np.stack(states)
