"""Training from batches that are sent to the device, beside data that lie there: the price of data that do not fit."""

from collections.abc import Iterator

import jax
import numpy as np

from benchmarks.generators import kitchen_like
from benchmarks.our_training import OurTraining
from benchmarks.rows import Level, Row, check
from benchmarks.timing import compare
from benchmarks.training import SIZES
from vmg.base.types import Float32s
from vmg.data.episodes import Episodes
from vmg.learn.loop import run_drawn
from vmg.learn.streaming import Stream


class SentTraining(OurTraining):
    """Our training as `fit` runs it where the data do not fit on the device."""

    def __init__(self, episodes: Episodes) -> None:
        super().__init__(episodes)
        self.stream = Stream([episodes])

    def run(self, n_steps: int) -> dict[str, Float32s]:
        """Take this many steps while the next ones are looked up, wait for them, and return their losses."""
        group = self.group
        samples, batches = self.stream.take(group.own, self.done, n_steps, group.model)
        self.done += n_steps
        self.stream.prepare(group.own, self.done, n_steps, group.model)
        self.state, losses = run_drawn(self.state, group.own, group.inputs, samples, batches, model=group.model)
        fetched: dict[str, Float32s] = jax.device_get(losses)
        return fetched


def measure(level: Level) -> Iterator[Row]:
    """Steps/s of one model at the paper's settings."""
    size = SIZES[level]
    episodes = kitchen_like(size.n_steps, seed=0)
    ours, peer = SentTraining(episodes), OurTraining(episodes)
    losses, expected = ours.run(size.chunk), peer.run(size.chunk)
    same = all(np.array_equal(losses[name], expected[name]) for name in expected)
    found = compare(lambda: ours.run(size.chunk), lambda: peer.run(size.chunk), size.rounds)
    ours.stream.close()
    yield Row(
        family="stream",
        name="training, batches sent",
        size=f"batch {ours.learner.model.config.batch_size}, 256 units, 59/9",
        unit="steps/s",
        ours=size.chunk / found.ours,
        peer_name="data on the device",
        peer=size.chunk / found.peer,
        checked=check(same, "the same losses, to the bit"),
        note=f"{size.chunk} steps per call; their batches are looked up while the steps before are taken",
    )
