"""Low-level policies of other kinds beside the paper's translator: an update of all networks, and an action."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.generators import kitchen_like
from benchmarks.our_training import OurTraining
from benchmarks.rows import Level, Row, check
from benchmarks.timing import Comparison, compare
from vmg.base.types import Float32s
from vmg.data.episodes import Episodes
from vmg.learn import LearnConfig
from vmg.learn.stacking import separate
from vmg.networks.lowlevel import Act, Critic, Ensemble, Flow, LowLevel
from vmg.networks.lowlevel.translator import Translator

KINDS: dict[str, LowLevel] = {
    "with noise": Translator(noise=1.0),
    "critic": Critic(),
    "flow": Flow(),
    "ensemble of five": Ensemble(),
}


@dataclass(frozen=True)
class Size:
    """Steps in the data, updates and decisions timed at once, and how often."""

    n_steps: int
    chunk: int
    decisions: int
    rounds: int


SIZES: dict[Level, Size] = {
    "full": Size(120_000, 1000, 2000, 5),
    "quick": Size(20_000, 200, 500, 3),
    "tiny": Size(400, 5, 5, 1),
}


def measure(level: Level) -> Iterator[Row]:
    """Each kind and the translator in turn, on one model at the paper's settings."""
    size = SIZES[level]
    episodes, translator = kitchen_like(size.n_steps, seed=0), Translator()
    for name, kind in KINDS.items():
        yield _learning(name, episodes, size, kind, translator)
    for name, kind in KINDS.items():
        yield _acting(name, episodes, size, kind, translator)


def _learning(name: str, episodes: Episodes, size: Size, kind: LowLevel, translator: LowLevel) -> Row:
    ours, peer = (OurTraining(episodes, config=LearnConfig(low_level=each)) for each in (kind, translator))
    first, peers_first = (each.run(size.chunk)["contrastive"] for each in (ours, peer))
    same = np.allclose(first, peers_first, rtol=1e-2, atol=1e-4)
    checked = check(same, "the metric space beside it learns the same")
    found = compare(lambda: ours.run(size.chunk), lambda: peer.run(size.chunk), size.rounds)
    return _row("update by kind", name, "steps/s", found, size.chunk, checked)


def _acting(name: str, episodes: Episodes, size: Size, kind: LowLevel, translator: LowLevel) -> Row:
    rows = np.random.default_rng(0).integers(0, len(episodes.observations), (size.decisions, 2, 1))
    ours, peer = (partial(_decide, _actor(episodes, each), episodes.observations, rows) for each in (kind, translator))
    found = compare(ours, peer, size.rounds)
    same = found.our_result.shape == found.peer_result.shape and bool(np.isfinite(found.our_result).all())
    checked = check(same, "as many finite numbers in an action")
    return _row("action by kind", name, "s", found, 1 / size.decisions, checked)


def _actor(episodes: Episodes, low_level: LowLevel) -> Act:
    training = OurTraining(episodes, config=LearnConfig(low_level=low_level))
    (weights,) = separate(training.initial, training.learner.inputs)
    return low_level.actor(low_level.measured(weights, episodes))


def _decide(act: Act, observations: Float32s, rows: np.ndarray) -> Float32s:
    return np.concatenate([act(observations[here], observations[there]) for here, there in rows])


def _row(name: str, size: str, unit: str, found: Comparison, amount: float, checked: str) -> Row:
    """A row: `amount` updates in the seconds found or, as a share of them, the seconds of an action."""
    ours, peer = (
        (amount / found.ours, amount / found.peer) if unit == "steps/s" else (amount * found.ours, amount * found.peer)
    )
    return Row(
        family="kinds",
        name=name,
        size=size,
        unit=unit,
        ours=ours,
        peer_name="the translator",
        peer=peer,
        checked=checked,
        note="one model, batch 100, 256 units, 59/9",
    )
