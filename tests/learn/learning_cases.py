"""Small learning problems the tests share; run as a script, it trains one in a given folder, to be killed there."""

import csv
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from vmg.data.episodes import Episodes
from vmg.learn import LearnConfig, fit
from vmg.learn.models import AgentModel
from vmg.learn.stacking import initial_models, separate
from vmg.networks import Translator, Weights
from vmg.networks.mlp import layer_sizes

SMALL = LearnConfig(hidden_units=16, batch_size=10, metric_dimension=3, steps=120, checkpoint_every=40)
KILLED = LearnConfig(
    hidden_units=16,
    batch_size=10,
    metric_dimension=3,
    low_level=Translator(memory=50),
    steps=4_000,
    checkpoint_every=200,
)
KILLED_SEEDS = (3, 5)


def walk(seed: int, n_episodes: int = 8, length: int = 12) -> Episodes:
    """A point in the plane that moves by exactly its action, and one reading that never changes."""
    rng = np.random.default_rng(seed)
    episodes = []
    for _ in range(n_episodes):
        actions = rng.uniform(-1, 1, (length, 2))
        places = np.concatenate([rng.normal(size=(1, 2)), actions]).cumsum(0)
        observations = np.concatenate([places, np.full((length + 1, 1), 7.0)], axis=1)
        episodes.append((observations, actions, np.zeros(length), False, True))
    return Episodes.from_list(episodes, source="walk")


def untrained(episodes: Episodes, config: LearnConfig, seed: int = 0) -> Weights:
    """The model training begins with."""
    model = AgentModel(config)
    sizes = layer_sizes(model.parts(episodes), config.hidden_units)
    return separate(initial_models(sizes, [seed]), model.scalings(episodes))[0]


def with_translator(config: LearnConfig, **settings: Any) -> LearnConfig:
    """The configuration with some settings changed, the translator's among them."""
    own = {each.name: settings.pop(each.name) for each in fields(Translator) if each.name in settings}
    return replace(config, low_level=replace(config.low_level, **own), **settings)


def rows_of(folder: Path) -> list[dict[str, str]]:
    with open(folder / "metrics.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def train_killed(folder: Path) -> list:
    return fit(walk(0), KILLED, KILLED_SEEDS, validation=walk(1), folder=folder)


def assert_same_weights(left: list, right: list, *, parts: tuple[str, ...] = (), **tolerance: float) -> None:
    assert len(left) == len(right)
    for one, other in zip(left, right, strict=True):
        assert one.keys() == other.keys()
        for part in parts or one:
            assert one[part].keys() == other[part].keys()
            for name in one[part]:
                np.testing.assert_allclose(
                    one[part][name], other[part][name], **{"rtol": 0, "atol": 0} | tolerance, err_msg=f"{part}.{name}"
                )


if __name__ == "__main__":
    train_killed(Path(sys.argv[1]))
